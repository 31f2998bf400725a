// RUN: split-file %s %t
// RUN: cwm-opt %t/matmul.mlir --cwm-apply-sketch='sketch=fallback hardware=%S/Inputs/avx512.json' | FileCheck %s --check-prefix=MATMUL
// RUN: cwm-opt %t/conv.mlir --cwm-apply-sketch='sketch=fallback hardware=%S/Inputs/avx512.json' | FileCheck %s --check-prefix=CONV
// RUN: cwm-opt %t/scalar.mlir --cwm-apply-sketch='sketch=fallback hardware=%S/Inputs/avx512.json' --cwm-lower-to-cpu | FileCheck %s --check-prefix=SCALAR
// RUN: cwm-opt %t/chain.mlir --cwm-apply-sketch='sketch=fallback hardware=%S/Inputs/avx512.json' | FileCheck %s --check-prefix=APART
// RUN: cwm-opt %t/chain.mlir --cwm-apply-sketch='sketch=fallback hardware=%S/Inputs/avx512.json knobs=fusion=1' | FileCheck %s --check-prefix=FUSED

// The innermost loop runs along the rows of the result.
// MATMUL-DAG: #[[$LHS:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// MATMUL-DAG: #[[$RHS:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// MATMUL-DAG: #[[$OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// MATMUL: linalg.generic {indexing_maps = [#[[$LHS]], #[[$RHS]], #[[$OUT]]], iterator_types = ["parallel", "reduction", "parallel"]}

// CONV: iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]

// SCALAR: llvm.func @kernel
// SCALAR: llvm.fmul

// APART-COUNT-2: linalg.generic
// FUSED: linalg.generic
// FUSED-NOT: linalg.generic

//--- matmul.mlir
func.func @kernel(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>) -> tensor<3x7xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x7xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x7xf32>) -> tensor<3x7xf32>
  %r = linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x7xf32>) outs(%init : tensor<3x7xf32>) -> tensor<3x7xf32>
  return %r : tensor<3x7xf32>
}

//--- conv.mlir
func.func @kernel(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x4x6x6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %r = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%x, %w : tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) outs(%init : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  return %r : tensor<1x4x6x6xf32>
}

//--- scalar.mlir
func.func @kernel(%a: tensor<65xf32>, %b: tensor<65xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %r = linalg.dot ins(%a, %b : tensor<65xf32>, tensor<65xf32>) outs(%init : tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

//--- chain.mlir
#map = affine_map<(i) -> (i)>
func.func @kernel(%a: tensor<65xf32>) -> tensor<65xf32> {
  %empty = tensor.empty() : tensor<65xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%a : tensor<65xf32>) outs(%empty : tensor<65xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.mulf %p, %p : f32
    linalg.yield %q : f32
  } -> tensor<65xf32>
  %s = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%r : tensor<65xf32>) outs(%empty : tensor<65xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.addf %p, %p : f32
    linalg.yield %q : f32
  } -> tensor<65xf32>
  return %s : tensor<65xf32>
}
