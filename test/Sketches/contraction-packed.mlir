// RUN: split-file %s %t
// RUN: cwm-opt %t/matmul.mlir --cwm-apply-sketch='sketch=contraction-packed hardware=%S/Inputs/avx512.json knobs=mr=8,nr=32,kr=4,kt=4,packing=0' | FileCheck %s --check-prefix=MATMUL
// RUN: cwm-opt %t/matmul.mlir --cwm-apply-sketch='sketch=contraction-packed hardware=%S/Inputs/avx512.json knobs=mr=8,nr=32,kr=4,kt=4,packing=1' | FileCheck %s --check-prefix=PANELS
// RUN: cwm-opt %t/matmul.mlir --cwm-apply-sketch='sketch=contraction-packed hardware=%S/Inputs/avx512.json knobs=mr=8,nr=32,kr=4,kt=4,packing=2,mc=48' | FileCheck %s --check-prefix=BLOCKS
// RUN: cwm-opt %t/ragged.mlir --cwm-apply-sketch='sketch=contraction-packed hardware=%S/Inputs/avx512.json knobs=mr=6,nr=32,kr=4,kt=4,packing=0' | FileCheck %s --check-prefix=RAGGED
// RUN: cwm-opt %t/batch.mlir --cwm-apply-sketch='sketch=contraction-packed hardware=%S/Inputs/avx512.json' | FileCheck %s --check-prefix=BATCH
// RUN: cwm-opt %t/matmul.mlir --cwm-apply-sketch='sketch=contraction-packed hardware=%S/Inputs/avx512.json' --cwm-lower-to-cpu | FileCheck %s --check-prefix=LLVM
// RUN: not cwm-opt %t/vector.mlir --cwm-apply-sketch='sketch=contraction-packed hardware=%S/Inputs/avx512.json' 2>&1 | FileCheck %s --check-prefix=NOFIT
// RUN: not cwm-opt %t/matmul.mlir --cwm-apply-sketch='sketch=contraction-packed hardware=%S/Inputs/avx512.json knobs=mr=16,nr=64' 2>&1 | FileCheck %s --check-prefix=SPILLS

// Both operands packed, accumulators carried by the loop over k, nothing left
// of linalg or tensors, the result written once.
// MATMUL-LABEL: func.func @kernel(
// MATMUL-SAME: -> memref<64x96xf32>
// MATMUL-DAG: memref.alloc() {{.*}} : memref<8x8x4x8xf32>
// MATMUL-DAG: memref.alloc() {{.*}} : memref<3x8x4x32xf32>
// MATMUL-NOT: linalg.
// MATMUL-NOT: tensor<
// MATMUL: scf.for {{.*}} iter_args({{.*}}) -> (vector<8x32xf32>)
// MATMUL-COUNT-32: vector.fma {{.*}} : vector<32xf32>
// MATMUL-NOT: vector.fma
// MATMUL-NOT: memref.copy
// MATMUL: return

// The right operand by panels of 32 columns, where they are used.
// PANELS-DAG: memref.alloc() {{.*}} : memref<8x8x4x8xf32>
// PANELS-NOT: memref<3x8x4x32xf32>
// PANELS: scf.for {{.*}} step %c32
// PANELS: memref.alloc() {{.*}} : memref<1x8x4x32xf32>
// PANELS: scf.for {{.*}} iter_args({{.*}}) -> (vector<8x32xf32>)
// PANELS-COUNT-32: vector.fma {{.*}} : vector<32xf32>
// PANELS-NOT: vector.fma
// PANELS-NOT: memref.copy
// PANELS: return

// The left operand by blocks of 48 rows (the last has 16), six panels each.
// BLOCKS-DAG: memref.alloc() {{.*}} : memref<3x8x4x32xf32>
// BLOCKS-NOT: memref<8x8x4x8xf32>
// BLOCKS: scf.for {{.*}} step %c48
// BLOCKS: scf.for {{.*}} iter_args({{.*}}) -> (vector<8x32xf32>)
// BLOCKS-COUNT-32: vector.fma {{.*}} : vector<32xf32>
// BLOCKS-NOT: vector.fma
// BLOCKS-NOT: memref.copy
// BLOCKS: return

// Zero-padded panels; the last tiles are stored under masks.
// RAGGED-DAG: memref.alloc() {{.*}} : memref<2x2x4x6xf32>
// RAGGED-DAG: memref.alloc() {{.*}} : memref<2x2x4x32xf32>
// RAGGED: vector.transfer_read {{.*}}], %{{.*}}, %{{.*}} {{.*}} : memref<7x33xf32>, vector<4x32xf32>
// RAGGED: vector.fma
// RAGGED: vector.transfer_write {{.*}}], %{{.*}} {{.*}} : vector<6x32xf32>
// RAGGED-NOT: linalg.
// RAGGED-NOT: tensor<

// The panels of one batch entry at a time.
// BATCH: scf.for {{.*}} to %c3
// BATCH-NOT: memref.alloc() {{.*}} : memref<3x
// BATCH: vector.fma
// BATCH-NOT: linalg.

// LLVM: llvm.func @kernel(%{{.*}}: !llvm.ptr {{.*}}, %{{.*}}: !llvm.ptr {{.*}}, %{{.*}}: !llvm.ptr {{[^,]*}})
// LLVM: llvm.intr.fmuladd
// LLVM-NOT: builtin.unrealized_conversion_cast

// NOFIT: error: sketch 'contraction-packed' does not fit this payload; those that fit: contraction-matvec, fallback
// SPILLS: error: {{.*}}constraint

//--- matmul.mlir
func.func @kernel(%a: tensor<64x32xf32>, %b: tensor<32x96xf32>) -> tensor<64x96xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x96xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x96xf32>) -> tensor<64x96xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x96xf32>) outs(%init : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %r : tensor<64x96xf32>
}

//--- ragged.mlir
func.func @kernel(%a: tensor<11x7xf32>, %b: tensor<7x33xf32>) -> tensor<11x33xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<11x33xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<11x33xf32>) -> tensor<11x33xf32>
  %r = linalg.matmul ins(%a, %b : tensor<11x7xf32>, tensor<7x33xf32>) outs(%init : tensor<11x33xf32>) -> tensor<11x33xf32>
  return %r : tensor<11x33xf32>
}

//--- batch.mlir
func.func @kernel(%a: tensor<3x16x32xf32>, %b: tensor<3x32x64xf32>) -> tensor<3x16x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x16x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x16x64xf32>) -> tensor<3x16x64xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<3x16x32xf32>, tensor<3x32x64xf32>) outs(%init : tensor<3x16x64xf32>) -> tensor<3x16x64xf32>
  return %r : tensor<3x16x64xf32>
}

//--- vector.mlir
func.func @kernel(%a: tensor<64x32xf32>, %b: tensor<32xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.matvec ins(%a, %b : tensor<64x32xf32>, tensor<32xf32>) outs(%init : tensor<64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}
