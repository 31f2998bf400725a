// RUN: cwm-opt %s -cwm-decompose-tensor-ops -split-input-file | FileCheck %s

// CHECK-LABEL: @pack
// CHECK: tensor.pad
// CHECK: linalg.transpose
// CHECK-NOT: linalg.pack
func.func @pack(%x: tensor<3x5xf32>, %p: f32, %e: tensor<2x2x2x4xf32>) -> tensor<2x2x2x4xf32> {
  %0 = linalg.pack %x padding_value(%p : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %e : tensor<3x5xf32> -> tensor<2x2x2x4xf32>
  return %0 : tensor<2x2x2x4xf32>
}

// -----

// CHECK-LABEL: @softmax
// CHECK-NOT: linalg.softmax
// CHECK-COUNT-2: linalg.generic
func.func @softmax(%x: tensor<3x5xf32>, %e: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = linalg.softmax dimension(1) ins(%x : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// -----

// Scalars, vectors and bodies of linalg ops are left as they are.
// CHECK-LABEL: @elementwise
// CHECK: linalg.generic
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.addf {{.*}} : vector<4xf32>
// CHECK-NOT: linalg.generic
func.func @elementwise(%x: tensor<3xf32>, %s: f32, %v: vector<4xf32>) -> (tensor<3xf32>, f32, vector<4xf32>) {
  %0 = arith.addf %x, %x : tensor<3xf32>
  %1 = arith.addf %s, %s : f32
  %2 = arith.addf %v, %v : vector<4xf32>
  return %0, %1, %2 : tensor<3xf32>, f32, vector<4xf32>
}

// -----

// Every other element is the initial value's.
// CHECK-LABEL: @strided
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<16xf32>
// CHECK: %[[R:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} iter_args(%[[T:.*]] = %[[Y]])
// CHECK: %[[V:.*]] = tensor.extract %[[X]][%[[I]]]
// CHECK: %[[S:.*]] = arith.negf %[[V]]
// CHECK: %[[J:.*]] = affine.apply #{{.*}}(%[[I]])
// CHECK: %[[W:.*]] = tensor.insert %[[S]] into %[[T]][%[[J]]]
// CHECK: scf.yield %[[W]]
// CHECK: return %[[R]]
func.func @strided(%x: tensor<8xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i * 2)>], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%y : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// CHECK-LABEL: @row
// CHECK: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: tensor.insert %{{.*}} into %{{.*}}[%[[TWO]], %{{.*}}] : tensor<5x8xf32>
func.func @row(%x: tensor<8xf32>, %y: tensor<5x8xf32>) -> tensor<5x8xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (2, i)>], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%y : tensor<5x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<5x8xf32>
  return %0 : tensor<5x8xf32>
}

// -----

// The index is that of the loop; the other result's old values are used.
// CHECK-LABEL: @diagonal
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[T:.*]] = %{{.*}}, %[[U:.*]] = %{{.*}})
// CHECK: %[[OLD:.*]] = tensor.extract %[[U]][%[[I]]]
// CHECK: arith.index_cast %[[I]]
// CHECK: arith.addi %{{.*}}, %[[OLD]]
// CHECK: tensor.insert %{{.*}} into %[[T]][%[[I]], %[[I]]]
// CHECK: tensor.insert %{{.*}} into %[[U]][%[[I]]]
func.func @diagonal(%x: tensor<8xi32>, %y: tensor<8x8xi32>, %z: tensor<8xi32>) -> (tensor<8x8xi32>, tensor<8xi32>) {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<8xi32>) outs(%y, %z : tensor<8x8xi32>, tensor<8xi32>) {
  ^bb0(%a: i32, %o: i32, %p: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %s = arith.addi %n, %p : i32
    linalg.yield %a, %s : i32, i32
  } -> (tensor<8x8xi32>, tensor<8xi32>)
  return %0#0, %0#1 : tensor<8x8xi32>, tensor<8xi32>
}

// -----

// Sums of nothing write nothing.
// CHECK-LABEL: @nothing
// CHECK: tensor.insert
func.func @nothing(%x: tensor<8x0xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x0xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Two loops that reach every element between them, a dimension of one element,
// and an initial value that is used.
// CHECK-LABEL: @whole
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT: tensor.insert
func.func @whole(%x: tensor<8x2xf32>, %y: tensor<1x16xf32>, %z: tensor<16x2xf32>, %t: tensor<2x8xf32>) -> (tensor<1x16xf32>, tensor<16x2xf32>, tensor<2x8xf32>) {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (0, i * 2 + j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x2xf32>) outs(%y : tensor<1x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1x16xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i * 2, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x2xf32>) outs(%z : tensor<16x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<16x2xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x2xf32>) outs(%t : tensor<2x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<2x8xf32>
  return %0, %1, %2 : tensor<1x16xf32>, tensor<16x2xf32>, tensor<2x8xf32>
}
