// RUN: cwm-opt %s -cwm-vectorize-linalg -canonicalize | FileCheck %s

// The rows are one, in wide steps, then single vectors, then the rest; what does
// not vary stays scalar.
// CHECK-LABEL: @elementwise
// CHECK: scf.for {{.*}} to %c192 step %c64
// CHECK: vector.load {{.*}} vector<64xf32>
// CHECK: memref.load
// CHECK: arith.negf {{.*}} : f32
// CHECK: arith.addf {{.*}} : vector<64xf32>
// CHECK: vector.store {{.*}} vector<64xf32>
// CHECK: vector.store {{.*}} vector<16xf32>
// CHECK: vector.store {{.*}} vector<1xf32>
// CHECK-NOT: linalg
#id = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>
func.func @elementwise(%x: memref<11x19xf32>, %s: memref<f32>, %r: memref<11x19xf32>) {
  linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : memref<11x19xf32>, memref<f32>) outs(%r : memref<11x19xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %n = arith.negf %b : f32
    %c = arith.addf %a, %n : f32
    linalg.yield %c : f32
  }
  return
}

// Accumulators in registers, over both reductions.
// CHECK-LABEL: @columns
// CHECK: %[[INIT:.*]] = vector.load %{{.*}} : memref<64xf32>, vector<64xf32>
// CHECK: %[[ACC:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[INIT]]) -> (vector<64xf32>)
// CHECK: scf.for {{.*}} -> (vector<64xf32>)
// CHECK: vector.store %[[ACC]]
func.func @columns(%x: memref<5x6x64xf32>, %r: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(k, j, l) -> (k, l, j)>, affine_map<(k, j, l) -> (j)>], iterator_types = ["reduction", "parallel", "reduction"]} ins(%x : memref<5x6x64xf32>) outs(%r : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.addf %a, %o : f32
    linalg.yield %c : f32
  }
  return
}

// Partial results in lanes; both results of one op.
// CHECK-LABEL: @rows
// CHECK: scf.for {{.*}} -> (vector<64xf32>, vector<64xf32>)
// CHECK: arith.addf {{.*}} : vector<64xf32>
// CHECK: arith.maximumf {{.*}} : vector<64xf32>
// CHECK: vector.reduction <add>
// CHECK: vector.reduction <maximumf>
// CHECK: vector.reduction <add>, %{{.*}} : vector<2xf32> into f32
// CHECK-NOT: linalg
#row = affine_map<(i, j) -> (i)>
func.func @rows(%x: memref<4x130xf32>, %r: memref<4xf32>, %s: memref<4xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x130xf32>) outs(%r, %s : memref<4xf32>, memref<4xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    %c = arith.addf %a, %o : f32
    %d = arith.maximumf %a, %p : f32
    linalg.yield %c, %d : f32, f32
  }
  return
}

// A convolution along its rows.
// CHECK-LABEL: @convolution
// CHECK: scf.for {{.*}} -> (vector<16xf32>)
// CHECK: affine.apply
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: scf.for {{.*}} -> (vector<4xf32>)
func.func @convolution(%x: memref<1x3x22x22xf32>, %w: memref<8x3x3x3xf32>, %r: memref<1x8x20x20xf32>) {
  linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w : memref<1x3x22x22xf32>, memref<8x3x3x3xf32>) outs(%r : memref<1x8x20x20xf32>)
  return
}

// CHECK-LABEL: @index
// CHECK: vector.step : vector<16xindex>
// CHECK: arith.index_cast {{.*}} : vector<16xindex> to vector<16xi32>
func.func @index(%r: memref<32xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%r : memref<32xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %c = arith.index_cast %i : index to i32
    linalg.yield %c : i32
  }
  return
}

// Strided, dynamic, boolean, libm, in no known way reduced: left.
// CHECK-LABEL: @left
// CHECK-COUNT-5: linalg.generic
#one = affine_map<(i) -> (i)>
func.func @left(%x: memref<64xf32, strided<[2]>>, %d: memref<?xf32>, %b: memref<64xi1>, %y: memref<64xf32>, %r: memref<f32>) {
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : memref<64xf32, strided<[2]>>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%d : memref<?xf32>) outs(%d : memref<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.addf %a, %a : f32
    linalg.yield %c : f32
  }
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%y : memref<64xf32>) outs(%b : memref<64xi1>) {
  ^bb0(%a: f32, %o: i1):
    %c = arith.cmpf oeq, %a, %a : f32
    linalg.yield %c : i1
  }
  linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%y : memref<64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = math.sin %a : f32
    linalg.yield %c : f32
  }
  linalg.generic {indexing_maps = [#one, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%y : memref<64xf32>) outs(%r : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.subf %o, %a : f32
    linalg.yield %c : f32
  }
  return
}
