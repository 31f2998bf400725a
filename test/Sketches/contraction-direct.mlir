// RUN: split-file %s %t
// RUN: cwm-opt %t/heads.mlir --cwm-apply-sketch='sketch=contraction-direct hardware=%S/Inputs/avx512.json knobs=mr=8,nr=32,kt=4' | FileCheck %s --check-prefix=HEADS
// RUN: cwm-opt %t/pointwise.mlir --cwm-apply-sketch='sketch=contraction-direct hardware=%S/Inputs/avx512.json knobs=mr=4,nr=32,kt=2' | FileCheck %s --check-prefix=POINTWISE
// RUN: cwm-opt %t/ragged.mlir --cwm-apply-sketch='sketch=contraction-direct hardware=%S/Inputs/avx512.json knobs=mr=8,nr=16,kt=2' | FileCheck %s --check-prefix=RAGGED
// RUN: not cwm-opt %t/transposed.mlir --cwm-apply-sketch='sketch=contraction-direct hardware=%S/Inputs/avx512.json' 2>&1 | FileCheck %s --check-prefix=TRANSPOSED

// One loop over the batch, tiles of 8 x 32; both operands are read where they
// are, nothing but the result is allocated.
// HEADS-LABEL: func.func @kernel(
// HEADS-SAME: %[[A:.*]]: memref<3x16x24xf32>, %[[B:.*]]: memref<3x24x64xf32>
// HEADS: memref.alloc() {{.*}} : memref<3x16x64xf32>
// HEADS-NOT: memref.alloc
// HEADS: scf.for {{.*}} iter_args({{.*}}) -> (vector<8x32xf32>)
// HEADS-DAG: %[[ROWS:.*]] = memref.subview %[[A]]{{.*}} [1, 8, 4]
// HEADS-DAG: %[[COLUMNS:.*]] = memref.subview %[[B]]{{.*}} [1, 4, 32]
// HEADS-DAG: vector.transfer_read %[[ROWS]]{{.*}} vector<8x4xf32>
// HEADS-DAG: vector.transfer_read %[[COLUMNS]]{{.*}} vector<4x32xf32>
// HEADS-COUNT-32: vector.fma {{.*}} : vector<32xf32>
// HEADS-NOT: vector.fma
// HEADS-NOT: linalg.
// HEADS: return

// A convolution with a filter of one element: height and width are one dimension
// of 64, the filter comes as scalars, the bias is added to finished tiles.
// POINTWISE-LABEL: func.func @kernel(
// POINTWISE: scf.for {{.*}} iter_args({{.*}}) -> (vector<4x32xf32>)
// POINTWISE-COUNT-8: vector.fma {{.*}} : vector<32xf32>
// POINTWISE: arith.addf
// POINTWISE: arith.maximumf
// POINTWISE-NOT: linalg.
// POINTWISE: return

// 14 = 8 + 6 rows, 17 = 16 + 1 columns, 11 = 5 x 2 + 1 steps: code for each end.
// RAGGED-LABEL: func.func @kernel(
// RAGGED-DAG: iter_args({{.*}}) -> (vector<8x16xf32>)
// RAGGED-DAG: iter_args({{.*}}) -> (vector<6x16xf32>)
// RAGGED-NOT: linalg.
// RAGGED: return

// The right operand has k innermost.
// TRANSPOSED: sketch 'contraction-direct' does not fit this payload

//--- heads.mlir
func.func @kernel(%a: tensor<3x16x24xf32>, %b: tensor<3x24x64xf32>) -> tensor<3x16x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x16x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x16x64xf32>) -> tensor<3x16x64xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<3x16x24xf32>, tensor<3x24x64xf32>) outs(%i : tensor<3x16x64xf32>) -> tensor<3x16x64xf32>
  return %r : tensor<3x16x64xf32>
}

//--- pointwise.mlir
func.func @kernel(%x: tensor<1x6x8x8xf32>, %w: tensor<12x6x1x1xf32> {cwm.constant}, %bias: tensor<12xf32>) -> tensor<1x12x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x12x8x8xf32>
  %i = linalg.broadcast ins(%bias : tensor<12xf32>) outs(%e : tensor<1x12x8x8xf32>) dimensions = [0, 2, 3]
  %c = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w : tensor<1x6x8x8xf32>, tensor<12x6x1x1xf32>) outs(%i : tensor<1x12x8x8xf32>) -> tensor<1x12x8x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, f, h, w) -> (n, f, h, w)>, affine_map<(n, f, h, w) -> (n, f, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%c : tensor<1x12x8x8xf32>) outs(%e : tensor<1x12x8x8xf32>) {
  ^bb0(%v: f32, %o: f32):
    %p = arith.maximumf %v, %zero : f32
    linalg.yield %p : f32
  } -> tensor<1x12x8x8xf32>
  return %r : tensor<1x12x8x8xf32>
}

//--- ragged.mlir
func.func @kernel(%a: tensor<14x11xf32>, %b: tensor<11x17xf32>) -> tensor<14x17xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<14x17xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<14x17xf32>) -> tensor<14x17xf32>
  %r = linalg.matmul ins(%a, %b : tensor<14x11xf32>, tensor<11x17xf32>) outs(%i : tensor<14x17xf32>) -> tensor<14x17xf32>
  return %r : tensor<14x17xf32>
}

//--- transposed.mlir
func.func @kernel(%a: tensor<8x32xf32>, %b: tensor<48x32xf32>) -> tensor<8x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x48xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8x48xf32>) -> tensor<8x48xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%a, %b : tensor<8x32xf32>, tensor<48x32xf32>) outs(%i : tensor<8x48xf32>) -> tensor<8x48xf32>
  return %r : tensor<8x48xf32>
}
