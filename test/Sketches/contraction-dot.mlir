// RUN: split-file %s %t
// RUN: cwm-opt %t/bf16.mlir --cwm-apply-sketch='hardware=%S/Inputs/amx.json knobs=mr=32,nr=32,packing=0' | FileCheck %s --check-prefix=TILES
// RUN: cwm-opt %t/i8.mlir --cwm-apply-sketch='hardware=%S/Inputs/vnni.json knobs=mr=8,nr=32,packing=0' | FileCheck %s --check-prefix=VECTORS
// RUN: cwm-opt %t/bf16.mlir --cwm-apply-sketch='hardware=%S/Inputs/amx.json' --cwm-lower-to-cpu | FileCheck %s --check-prefix=LLVM
// RUN: sed 's/xbf16>) ->/xbf16> {cwm.constant}) ->/' %t/bf16.mlir | cwm-opt --cwm-apply-sketch='hardware=%S/Inputs/amx.json knobs=packing=0' --cwm-lower-to-cpu | FileCheck %s --check-prefix=PREPACK
// RUN: not cwm-opt %t/bf16.mlir --cwm-apply-sketch='sketch=contraction-dot hardware=%S/Inputs/vnni.json' 2>&1 | FileCheck %s --check-prefix=NOFIT

// Groups of two packed, four tiles of sums carried by the loop over k.
// TILES-LABEL: func.func @kernel(
// TILES-DAG: memref.alloc() {{.*}} : memref<2x4x1x32x16x2xbf16>
// TILES-DAG: memref.alloc() {{.*}} : memref<3x4x1x16x32x2xbf16>
// TILES-NOT: linalg.
// TILES: vector.interleave {{.*}} : vector<32xbf16> -> vector<64xbf16>
// TILES-COUNT-4: @llvm.x86.tilezero.internal
// TILES: scf.for {{.*}} iter_args({{.*}}) -> (!llvm.x86_amx, !llvm.x86_amx, !llvm.x86_amx, !llvm.x86_amx)
// TILES-COUNT-4: @llvm.x86.tdpbf16ps.internal
// TILES-NOT: @llvm.x86.tdpbf16ps.internal
// TILES-COUNT-4: @llvm.x86.tilestored64.internal
// TILES-NOT: vector.contract
// TILES: return

// Groups of four. One register of 128s, as both operands are signed.
// VECTORS-LABEL: func.func @kernel(
// VECTORS-DAG: memref.alloc() {{.*}} : memref<8x2x1x8x16x4xi8>
// VECTORS-DAG: memref.alloc() {{.*}} : memref<3x2x1x16x32x4xi8>
// VECTORS: scf.for {{.*}} iter_args({{.*}}) -> (vector<8x32xi32>)
// VECTORS: arith.xori
// VECTORS: @llvm.x86.avx512.vpdpbusd.512
// VECTORS-NOT: vector.contract

// LLVM: llvm.call @llvm.x86.tdpbf16ps.internal

// A constant operand is packed once: reads through addresses are seen.
// PREPACK: llvm.func @kernel_prepack(
// PREPACK-NOT: llvm.x86.
// PREPACK: llvm.func @kernel_prepacked(
// PREPACK: llvm.call @llvm.x86.tdpbf16ps.internal

// NOFIT: sketch 'contraction-dot' does not fit

//--- bf16.mlir
func.func @kernel(%a: tensor<64x128xbf16>, %b: tensor<128x96xbf16>) -> tensor<64x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %c = linalg.matmul ins(%a, %b : tensor<64x128xbf16>, tensor<128x96xbf16>) outs(%i : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %c : tensor<64x96xf32>
}

//--- i8.mlir
func.func @kernel(%a: tensor<64x128xi8>, %b: tensor<128x96xi8>) -> tensor<64x96xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x96xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<64x96xi32>) -> tensor<64x96xi32>
  %c = linalg.matmul ins(%a, %b : tensor<64x128xi8>, tensor<128x96xi8>) outs(%i : tensor<64x96xi32>) -> tensor<64x96xi32>
  return %c : tensor<64x96xi32>
}
