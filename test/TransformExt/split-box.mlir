// RUN: cwm-opt %s --transform-interpreter --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// A padded pool: rows 1 and 2 of the result need no padding and read the source;
// above and below are padded on one side each.
#in = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#window = affine_map<(d0, d1, d2) -> (d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @pool(
// CHECK-SAME: %[[X:.*]]: tensor<4x5xf32>
// CHECK-NOT: tensor<6x5xf32>
// CHECK-DAG: %[[INIT:.*]] = linalg.fill {{.*}} outs({{.*}} : tensor<2x5xf32>)
// CHECK-DAG: %[[WHOLE:.*]] = tensor.empty() : tensor<4x5xf32>
// CHECK: %[[INSIDE:.*]] = linalg.generic {{.*}} ins(%[[X]], {{.*}} outs(%[[INIT]] : tensor<2x5xf32>)
// CHECK: %[[R0:.*]] = tensor.insert_slice %[[INSIDE]] into %[[WHOLE]][1, 0] [2, 5] [1, 1]
// CHECK: %[[ABOVE:.*]] = tensor.extract_slice %[[X]][0, 0] [2, 5] [1, 1]
// CHECK: tensor.pad %[[ABOVE]] low[1, 0] high[0, 0]
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<1x5xf32>)
// CHECK: %[[R1:.*]] = tensor.insert_slice {{.*}} into %[[R0]][0, 0] [1, 5] [1, 1]
// CHECK: %[[BELOW:.*]] = tensor.extract_slice %[[X]][2, 0] [2, 5] [1, 1]
// CHECK: tensor.pad %[[BELOW]] low[0, 0] high[1, 0]
// CHECK: %[[R2:.*]] = tensor.insert_slice {{.*}} into %[[R1]][3, 0] [1, 5] [1, 1]
// CHECK-NOT: tensor.insert_slice
// CHECK: return %[[R2]]
func.func @pool(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x5xf32> to tensor<6x5xf32>
  %e = tensor.empty() : tensor<4x5xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %k = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#in, #window, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %k : tensor<6x5xf32>, tensor<3xf32>) outs(%i : tensor<4x5xf32>) {
  ^bb0(%a: f32, %unused: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    linalg.yield %s : f32
  } -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %pool = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    %parts = transform.cwm.split_box %pool offsets = [1, 0] sizes = [2, 5] : (!transform.any_op) -> !transform.any_op
    %inside, %above, %below = transform.split_handle %parts : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A corner of two dimensions leaves one slab for each; the elementwise op takes
// its producer along.
// CHECK-LABEL: func.func @corner(
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<2x3xf32>)
// CHECK: arith.negf
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<2x3xf32>)
// CHECK: math.sqrt
// CHECK: tensor.insert_slice {{.*}}[0, 0] [2, 3] [1, 1]
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<6x8xf32>)
// CHECK: tensor.insert_slice {{.*}}[2, 0] [6, 8] [1, 1]
// CHECK: linalg.generic {{.*}} outs({{.*}} : tensor<2x5xf32>)
// CHECK: tensor.insert_slice {{.*}}[0, 3] [2, 5] [1, 1]
// CHECK-NOT: tensor.insert_slice
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @corner(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) attrs = {last} {
  ^bb0(%a: f32, %o: f32):
    %s = math.sqrt %a : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %last = transform.structured.match ops{["linalg.generic"]} attributes {last} in %root : (!transform.any_op) -> !transform.any_op
    %parts = transform.cwm.split_box %last offsets = [0, 0] sizes = [2, 3] : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

func.func @outside(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-note @+1 {{target op}}
  %r = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{expected a box within the result, which is not empty}}
    %parts = transform.cwm.split_box %op offsets = [3] sizes = [6] : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

func.func @rank(%x: tensor<8x2xf32>) -> tensor<8x2xf32> {
  // expected-note @+1 {{target op}}
  %r = linalg.exp ins(%x : tensor<8x2xf32>) outs(%x : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %r : tensor<8x2xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{expected an offset and a size for each of the 2 dimensions of the result}}
    %parts = transform.cwm.split_box %op offsets = [3] sizes = [5] : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-note @+1 {{target op}}
  %r = linalg.exp ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{expected an op that can be tiled, with one result of static shape}}
    %parts = transform.cwm.split_box %op offsets = [3] sizes = [5] : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
