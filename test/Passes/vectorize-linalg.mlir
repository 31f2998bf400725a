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

// A convolution along its rows; what is loaded serves eight channels.
// CHECK-LABEL: @convolution
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK: affine.apply
// CHECK: vector.load {{.*}} vector<16xf32>
// CHECK: scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
func.func @convolution(%x: memref<1x3x22x22xf32>, %w: memref<8x3x3x3xf32>, %r: memref<1x8x20x20xf32>) {
  linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w : memref<1x3x22x22xf32>, memref<8x3x3x3xf32>) outs(%r : memref<1x8x20x20xf32>)
  return
}

// Tiles of four rows; the right operand is the bigger one: its columns outside.
// CHECK-LABEL: @product
// CHECK: scf.for %[[N:.*]] = %c0 to %c192 step %c64
// CHECK: scf.for %[[M:.*]] = %c0 to %c8 step %c4
// CHECK: scf.for {{.*}} -> (vector<64xf32>, vector<64xf32>, vector<64xf32>, vector<64xf32>)
// CHECK: vector.store {{.*}} vector<64xf32>
// CHECK-NOT: linalg
func.func @product(%a: memref<8x33xf32>, %b: memref<33x192xf32>, %r: memref<8x192xf32>) {
  linalg.matmul ins(%a, %b : memref<8x33xf32>, memref<33x192xf32>) outs(%r : memref<8x192xf32>)
  return
}

// Products of rows: 4 x 3 of them, each in one vector.
// CHECK-LABEL: @dot_products
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c4
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c16 iter_args({{.*}}) -> ({{(vector<16xf32>, )+}}vector<16xf32>)
// CHECK-COUNT-12: vector.reduction <add>
func.func @dot_products(%a: memref<8x32xf32>, %b: memref<3x32xf32>, %r: memref<8x3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<8x32xf32>, memref<3x32xf32>) outs(%r : memref<8x3xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %c = arith.addf %m, %o : f32
    linalg.yield %c : f32
  }
  return
}

// A stride of two: no load behind the last element.
// CHECK-LABEL: @strided
// CHECK: vector.load {{.*}} memref<3x32xf32>, vector<31xf32>
// CHECK: vector.shuffle {{.*}} [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30] : vector<31xf32>, vector<31xf32>
// CHECK-NOT: linalg
func.func @strided(%x: memref<3x32xf32>, %r: memref<3x16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j * 2)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : memref<3x32xf32>) outs(%r : memref<3x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.addf %a, %a : f32
    linalg.yield %c : f32
  }
  return
}

// Value and place of the greatest element: lanes keep both.
// CHECK-LABEL: @argmax
// CHECK: scf.for {{.*}} -> (vector<32xf32>, vector<32xi64>)
// CHECK: %[[MAX:.*]] = vector.reduction <maximumf>
// CHECK: %[[IS:.*]] = arith.cmpf oeq
// CHECK: %[[PLACES:.*]] = arith.select %[[IS]]
// CHECK: vector.reduction <minsi>, %[[PLACES]] : vector<32xi64> into i64
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[MAX]], %[[MAX]]
// CHECK: scf.if %[[NAN]] -> (f32, i64)
// CHECK: scf.for {{.*}} -> (f32, i64)
// CHECK-NOT: linalg
func.func @argmax(%x: memref<4x64xf32>, %v: memref<4xf32>, %p: memref<4xi64>) {
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<4x64xf32>) outs(%v, %p : memref<4xf32>, memref<4xi64>) {
  ^bb0(%a: f32, %o: f32, %q: i64):
    %k = linalg.index 1 : index
    %l = arith.index_cast %k : index to i64
    %c = arith.cmpf ogt, %a, %o : f32
    %m = arith.maximumf %a, %o : f32
    %w = arith.select %c, %l, %q : i64
    linalg.yield %m, %w : f32, i64
  }
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
// CHECK-COUNT-6: linalg.generic
#one = affine_map<(i) -> (i)>
func.func @left(%x: memref<64xf32, strided<[2]>>, %d: memref<?xf32>, %b: memref<64xi1>, %y: memref<64xf32>, %r: memref<f32>, %p: memref<i64>) {
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
  // The last of equal ones, not the first.
  linalg.generic {indexing_maps = [#one, affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%y : memref<64xf32>) outs(%r, %p : memref<f32>, memref<i64>) {
  ^bb0(%a: f32, %o: f32, %q: i64):
    %k = linalg.index 0 : index
    %l = arith.index_cast %k : index to i64
    %c = arith.cmpf oge, %a, %o : f32
    %m = arith.maximumf %a, %o : f32
    %w = arith.select %c, %l, %q : i64
    linalg.yield %m, %w : f32, i64
  }
  return
}
