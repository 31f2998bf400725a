// RUN: split-file %s %t
// RUN: cwm-opt %t/layernorm.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json knobs=vt=16' | FileCheck %s --check-prefix=ROWS
// RUN: cwm-opt %t/statistics.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json knobs=tile=[0,32],kt=1' | FileCheck %s --check-prefix=COLUMNS
// RUN: cwm-opt %t/transposed.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json' | FileCheck %s --check-prefix=TRANSPOSED
// RUN: cwm-opt %t/whole.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json knobs=vt=16' | FileCheck %s --check-prefix=WHOLE
// RUN: not cwm-opt %t/recomputed.mlir --cwm-apply-sketch='sketch=chain-columns hardware=%S/Inputs/avx512.json' 2>&1 | FileCheck %s --check-prefix=NOFIT
// RUN: not cwm-opt %t/constant.mlir --cwm-apply-sketch='sketch=chain-columns hardware=%S/Inputs/avx512.json' 2>&1 | FileCheck %s --check-prefix=NOFIT

// One loop over the rows gives all three results; nothing of the size of the
// input but the result, and each reduction once.
// ROWS-LABEL: func.func @kernel(
// ROWS-DAG: %[[MEAN:.*]] = memref.alloc() {{.*}} : memref<6xf32>
// ROWS-DAG: %[[Y:.*]] = memref.alloc() {{.*}} : memref<6x64xf32>
// ROWS: scf.for %[[ROW:[^ ]+]] =
// ROWS: scf.for {{.*}} -> (vector<16xf32>)
// ROWS: vector.reduction <add>
// ROWS: memref.subview %{{.*}}[%[[ROW]]] [1] [1] : memref<6xf32>
// ROWS: scf.for {{.*}} -> (vector<16xf32>)
// ROWS: arith.mulf {{.*}} : vector<16xf32>
// ROWS: vector.reduction <add>
// ROWS: memref.subview %{{.*}}[%[[ROW]]] [1] [1] : memref<6xf32>
// ROWS: math.rsqrt
// ROWS-NOT: vector.reduction
// ROWS-NOT: memref<6x64xf32>{{$}}
// ROWS-NOT: linalg.
// ROWS: return %[[Y]], %{{.*}}, %{{.*}} : memref<6x64xf32>, memref<6x1xf32>, memref<6xf32>

// The largest element of a column is no operand of anything.
// COLUMNS-LABEL: func.func @kernel(
// COLUMNS: scf.for
// COLUMNS-DAG: arith.maximumf {{.*}} : vector<32xf32>
// COLUMNS-DAG: arith.addf {{.*}} : vector<32xf32>
// COLUMNS-NOT: linalg.
// COLUMNS: return

// The block is transposed once and written to both.
// TRANSPOSED: scf.for
// TRANSPOSED: vector.transpose {{.*}} : vector<16x16xf32> to vector<16x16xf32>
// TRANSPOSED-NOT: vector.transpose
// TRANSPOSED: vector.transfer_write
// TRANSPOSED-NOT: vector.transpose
// TRANSPOSED: vector.transfer_write
// TRANSPOSED-NOT: vector.transpose
// TRANSPOSED: return

// No loop around the chain.
// WHOLE: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>)
// WHOLE: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>)
// WHOLE-NOT: linalg.

// NOFIT: error: sketch 'chain-columns' does not fit this payload; those that fit: fallback

//--- layernorm.mlir
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#one = affine_map<(i) -> (i)>
func.func @kernel(%x: tensor<6x64xf32>) -> (tensor<6x64xf32>, tensor<6x1xf32>, tensor<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<6x64xf32>) outs(%f : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %mean = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%s : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.divf %a, %n : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %shaped = tensor.expand_shape %mean [[0, 1]] output_shape [6, 1] : tensor<6xf32> into tensor<6x1xf32>
  %q = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %mean : tensor<6x64xf32>, tensor<6xf32>) outs(%f : tensor<6xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %p = arith.mulf %d, %d : f32
    %r = arith.addf %p, %o : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %rstd = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%q : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.addf %a, %eps : f32
    %r = math.rsqrt %p : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %e2 = tensor.empty() : tensor<6x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %mean, %rstd : tensor<6x64xf32>, tensor<6xf32>, tensor<6xf32>) outs(%e2 : tensor<6x64xf32>) {
  ^bb0(%a: f32, %m: f32, %t: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %r = arith.mulf %d, %t : f32
    linalg.yield %r : f32
  } -> tensor<6x64xf32>
  return %y, %shaped, %rstd : tensor<6x64xf32>, tensor<6x1xf32>, tensor<6xf32>
}

//--- statistics.mlir
#id = affine_map<(i, j) -> (j, i)>
#col = affine_map<(i, j) -> (i)>
func.func @kernel(%x: tensor<24x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %g = linalg.fill ins(%least : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.reduce ins(%x : tensor<24x64xf32>) outs(%g : tensor<64xf32>) dimensions = [0]
    (%a: f32, %o: f32) {
      %r = arith.maximumf %a, %o : f32
      linalg.yield %r : f32
    }
  %s = linalg.reduce ins(%x : tensor<24x64xf32>) outs(%f : tensor<64xf32>) dimensions = [0]
    (%a: f32, %o: f32) {
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    }
  return %m, %s : tensor<64xf32>, tensor<64xf32>
}

//--- transposed.mlir
#id = affine_map<(i, j) -> (i, j)>
func.func @kernel(%x: tensor<32x32xf32>, %y: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %e = tensor.empty() : tensor<32x32xf32>
  %t = linalg.transpose ins(%x : tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) permutation = [1, 0]
  %s = linalg.mul ins(%t, %y : tensor<32x32xf32>, tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %t, %s : tensor<32x32xf32>, tensor<32x32xf32>
}

//--- whole.mlir
func.func @kernel(%x: tensor<4x64xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %g = linalg.fill ins(%least : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce ins(%x : tensor<4x64xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
    (%a: f32, %o: f32) {
      %r = arith.addf %a, %o : f32
      linalg.yield %r : f32
    }
  %m = linalg.reduce ins(%x : tensor<4x64xf32>) outs(%g : tensor<f32>) dimensions = [0, 1]
    (%a: f32, %o: f32) {
      %r = arith.maximumf %a, %o : f32
      linalg.yield %r : f32
    }
  return %s, %m : tensor<f32>, tensor<f32>
}

//--- recomputed.mlir
// The second result has no rows: it would be computed in every one.
#id = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>
#one = affine_map<(i) -> (i)>
func.func @kernel(%x: tensor<6x64xf32>, %b: tensor<64xf32>) -> (tensor<6x64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %c = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%b : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %e2 = tensor.empty() : tensor<6x64xf32>
  %y = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %c : tensor<6x64xf32>, tensor<64xf32>) outs(%e2 : tensor<6x64xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %r = arith.addf %a, %m : f32
    linalg.yield %r : f32
  } -> tensor<6x64xf32>
  return %y, %c : tensor<6x64xf32>, tensor<64xf32>
}

//--- constant.mlir
func.func @kernel(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %p = linalg.exp ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %e2 = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8xf32>) -> tensor<8xf32>
  return %p, %f : tensor<8x8xf32>, tensor<8xf32>
}
