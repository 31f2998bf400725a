// RUN: cwm-opt %s --cwm-dot-products=instruction=amx-int8 --split-input-file | FileCheck %s --check-prefixes=CHECK,TILES
// RUN: cwm-opt %s --cwm-dot-products=instruction=avx512vnni --split-input-file | FileCheck %s --check-prefixes=CHECK,VECTORS
// RUN: cwm-opt %s --cwm-dot-products --split-input-file | FileCheck %s --check-prefixes=CHECK,NONE

// Unsigned times signed; sums that are neither zero nor carried pass through
// memory on their way to tile registers.
// CHECK-LABEL: func.func @once(
// TILES: llvm.inline_asm has_side_effects "syscall"
// TILES: vector.transfer_write %arg2, %[[BUFFER:[a-z0-9_]*]][
// TILES: @llvm.x86.tileloadd64.internal
// TILES: @llvm.x86.tdpbusd.internal
// TILES: @llvm.x86.tilestored64.internal
// TILES: vector.transfer_read %[[BUFFER]]
// VECTORS-NOT: arith.xori
// VECTORS-COUNT-256: @llvm.x86.avx512.vpdpbusd.512
// VECTORS-NOT: @llvm.x86.avx512.vpdpbusd.512
// NONE: vector.contract
func.func @once(%a: memref<16x16x4xi8>, %b: memref<16x16x4xi8>, %c: vector<16x16xi32>) -> vector<16x16xi32> {
  %0 = arith.constant 0 : index
  %p = arith.constant 0 : i8
  %x = vector.transfer_read %a[%0, %0, %0], %p {in_bounds = [true, true, true]} : memref<16x16x4xi8>, vector<16x16x4xi8>
  %y = vector.transfer_read %b[%0, %0, %0], %p {in_bounds = [true, true, true]} : memref<16x16x4xi8>, vector<16x16x4xi8>
  %u = arith.extui %x : vector<16x16x4xi8> to vector<16x16x4xi32>
  %v = arith.extsi %y : vector<16x16x4xi8> to vector<16x16x4xi32>
  %r = vector.contract {indexing_maps = [affine_map<(m, n, k, g) -> (m, k, g)>, affine_map<(m, n, k, g) -> (k, n, g)>, affine_map<(m, n, k, g) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"], kind = #vector.kind<add>} %u, %v, %c : vector<16x16x4xi32>, vector<16x16x4xi32> into vector<16x16xi32>
  return %r : vector<16x16xi32>
}

// -----

// Groups move as rows: four rows become one, and 32-bit elements are transposed.
// CHECK-LABEL: func.func @groups(
// CHECK: %[[ROW:.*]] = vector.interleave {{.*}} : vector<32xi8> -> vector<64xi8>
// CHECK: vector.transfer_write {{.*}} : vector<2x64xi8>, memref<2x64xi8>
// CHECK: vector.transpose {{.*}}, [1, 0] : vector<8x2xi32> to vector<2x8xi32>
// CHECK: vector.transfer_write {{.*}} : vector<2x32xi8>, memref<2x32xi8>
func.func @groups(%a: vector<2x4x16xi8>, %b: memref<2x16x4xi8>, %c: vector<8x2x4xi8>, %d: memref<2x8x4xi8>) {
  %0 = arith.constant 0 : index
  %x = vector.transpose %a, [0, 2, 1] : vector<2x4x16xi8> to vector<2x16x4xi8>
  vector.transfer_write %x, %b[%0, %0, %0] {in_bounds = [true, true, true]} : vector<2x16x4xi8>, memref<2x16x4xi8>
  %y = vector.transpose %c, [1, 0, 2] : vector<8x2x4xi8> to vector<2x8x4xi8>
  vector.transfer_write %y, %d[%0, %0, %0] {in_bounds = [true, true, true]} : vector<2x8x4xi8>, memref<2x8x4xi8>
  return
}

// -----

// A mask of whole groups goes along; one that cuts a group does not.
// CHECK-LABEL: func.func @masks(
// CHECK: vector.create_mask {{.*}} : vector<2x16xi1>
// CHECK: vector.transfer_write {{.*}} : vector<2x16xi8>, memref<2x16xi8>
// CHECK: vector.create_mask {{.*}} : vector<2x4x4xi1>
// CHECK: vector.transfer_write {{.*}} : vector<2x4x4xi8>, memref<2x4x4xi8>
func.func @masks(%a: vector<2x4x4xi8>, %b: memref<2x4x4xi8>, %m: index) {
  %0 = arith.constant 0 : index
  %2 = arith.constant 2 : index
  %4 = arith.constant 4 : index
  %whole = vector.create_mask %2, %m, %4 : vector<2x4x4xi1>
  vector.transfer_write %a, %b[%0, %0, %0], %whole {in_bounds = [true, true, true]} : vector<2x4x4xi8>, memref<2x4x4xi8>
  %cut = vector.create_mask %2, %m, %2 : vector<2x4x4xi1>
  vector.transfer_write %a, %b[%0, %0, %0], %cut {in_bounds = [true, true, true]} : vector<2x4x4xi8>, memref<2x4x4xi8>
  return
}
