// RUN: split-file %s %t
// RUN: cwm-opt %t/rows.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json knobs=nt=4,kt=32' | FileCheck %s --check-prefix=ROWS
// RUN: cwm-opt %t/columns.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json knobs=nr=32,kt=2' | FileCheck %s --check-prefix=COLUMNS
// RUN: not cwm-opt %t/prime.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json sketch=contraction-matvec' 2>&1 | FileCheck %s --check-prefix=PRIME

// Partial sums in registers, one reduction of each after the loop.
// ROWS-NOT: memref<{{.*}}x32xf32>
// ROWS: scf.for
// ROWS: scf.for {{.*}} iter_args({{.*}}) -> (vector<4x32xf32>)
// ROWS: scf.yield
// ROWS-COUNT-4: vector.reduction <add>
// ROWS-NOT: linalg.
// ROWS-NOT: tensor<

// COLUMNS: scf.for {{.*}} iter_args({{.*}}) -> (vector<32xf32>)
// COLUMNS-COUNT-2: vector.fma {{.*}} : vector<32xf32>
// COLUMNS-NOT: linalg.
// COLUMNS-NOT: tensor<

// PRIME: error: sketch 'contraction-matvec' does not fit this payload; those that fit: chain-rows, fallback

//--- rows.mlir
func.func @kernel(%a: tensor<64x96xf32>, %b: tensor<96xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.matvec ins(%a, %b : tensor<64x96xf32>, tensor<96xf32>) outs(%init : tensor<64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}

//--- columns.mlir
func.func @kernel(%a: tensor<1x64xf32>, %b: tensor<64x96xf32>) -> tensor<1x96xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x96xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x96xf32>) -> tensor<1x96xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1x64xf32>, tensor<64x96xf32>) outs(%init : tensor<1x96xf32>) -> tensor<1x96xf32>
  return %r : tensor<1x96xf32>
}

//--- prime.mlir
func.func @kernel(%a: tensor<17x13xf32>, %b: tensor<13xf32>) -> tensor<17xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<17xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<17xf32>) -> tensor<17xf32>
  %r = linalg.matvec ins(%a, %b : tensor<17x13xf32>, tensor<13xf32>) outs(%init : tensor<17xf32>) -> tensor<17xf32>
  return %r : tensor<17xf32>
}
