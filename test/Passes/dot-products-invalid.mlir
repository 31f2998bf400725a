// RUN: cwm-opt %s --cwm-dot-products=instruction=avx512vnni --split-input-file --verify-diagnostics

// Memory that changes between the read and its use is not read later.
func.func @overwritten(%a: memref<16x16x4xi8>, %b: memref<16x16x4xi8>, %c: vector<16x16xi32>, %w: vector<4xi8>) -> vector<16x16xi32> {
  %0 = arith.constant 0 : index
  %p = arith.constant 0 : i8
  %x = vector.transfer_read %a[%0, %0, %0], %p {in_bounds = [true, true, true]} : memref<16x16x4xi8>, vector<16x16x4xi8>
  %y = vector.transfer_read %b[%0, %0, %0], %p {in_bounds = [true, true, true]} : memref<16x16x4xi8>, vector<16x16x4xi8>
  vector.store %w, %a[%0, %0, %0] : memref<16x16x4xi8>, vector<4xi8>
  %u = arith.extsi %x : vector<16x16x4xi8> to vector<16x16x4xi32>
  %v = arith.extsi %y : vector<16x16x4xi8> to vector<16x16x4xi32>
  // expected-error @+1 {{a contraction of groups that are not read from memory as cwm-dot-products needs it}}
  %r = vector.contract {indexing_maps = [affine_map<(m, n, k, g) -> (m, k, g)>, affine_map<(m, n, k, g) -> (k, n, g)>, affine_map<(m, n, k, g) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"], kind = #vector.kind<add>} %u, %v, %c : vector<16x16x4xi32>, vector<16x16x4xi32> into vector<16x16xi32>
  return %r : vector<16x16xi32>
}

// -----

// Both unsigned: vectors have no instruction.
func.func @unsigned(%a: memref<16x16x4xi8>, %b: memref<16x16x4xi8>, %c: vector<16x16xi32>) -> vector<16x16xi32> {
  %0 = arith.constant 0 : index
  %p = arith.constant 0 : i8
  %x = vector.transfer_read %a[%0, %0, %0], %p {in_bounds = [true, true, true]} : memref<16x16x4xi8>, vector<16x16x4xi8>
  %y = vector.transfer_read %b[%0, %0, %0], %p {in_bounds = [true, true, true]} : memref<16x16x4xi8>, vector<16x16x4xi8>
  %u = arith.extui %x : vector<16x16x4xi8> to vector<16x16x4xi32>
  %v = arith.extui %y : vector<16x16x4xi8> to vector<16x16x4xi32>
  // expected-error @+1 {{a contraction of groups that no instruction avx512vnni fits}}
  %r = vector.contract {indexing_maps = [affine_map<(m, n, k, g) -> (m, k, g)>, affine_map<(m, n, k, g) -> (k, n, g)>, affine_map<(m, n, k, g) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"], kind = #vector.kind<add>} %u, %v, %c : vector<16x16x4xi32>, vector<16x16x4xi32> into vector<16x16xi32>
  return %r : vector<16x16xi32>
}
