// RUN: split-file %s %t
// RUN: cwm-opt %t/transpose.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json knobs=tile=[8,16]' | FileCheck %s
// RUN: cwm-opt %t/transpose.mlir --cwm-apply-sketch='hardware=%S/Inputs/avx512.json knobs=tile=[16,16]' | FileCheck %s --check-prefix=SQUARE
// RUN: not cwm-opt %t/straight.mlir --cwm-apply-sketch='sketch=chain-transposed hardware=%S/Inputs/avx512.json' 2>&1 | FileCheck %s --check-prefix=NOFIT

// Blocks of 8 rows of the result, 16 wide, are 16 rows of the operand; at the
// edge, 40 = 2 * 16 + 8. The elementwise op before the transposition and the one
// after it are in the same loop.
// CHECK-LABEL: func.func @kernel(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.transfer_read {{.*}} vector<16x8xf32>
// CHECK: math.exp {{.*}} : vector<16x8xf32>
// CHECK: vector.transpose {{.*}}, [1, 0] : vector<16x8xf32> to vector<8x16xf32>
// CHECK: arith.addf {{.*}} : vector<8x16xf32>
// CHECK: vector.transfer_write {{.*}} : vector<8x16xf32>
// CHECK: vector.transpose {{.*}}, [1, 0] : vector<8x8xf32> to vector<8x8xf32>
// CHECK-NOT: linalg.
// CHECK: return

// SQUARE: vector.transpose {{.*}}, [1, 0] : vector<16x16xf32> to vector<16x16xf32>

// NOFIT: error: sketch 'chain-transposed' does not fit this payload; those that fit: chain-columns, fallback

//--- transpose.mlir
#id = affine_map<(i, j) -> (i, j)>
func.func @kernel(%x: tensor<40x24xf32>, %y: tensor<24x40xf32>) -> tensor<24x40xf32> {
  %e = tensor.empty() : tensor<40x24xf32>
  %p = linalg.exp ins(%x : tensor<40x24xf32>) outs(%e : tensor<40x24xf32>) -> tensor<40x24xf32>
  %e2 = tensor.empty() : tensor<24x40xf32>
  %t = linalg.transpose ins(%p : tensor<40x24xf32>) outs(%e2 : tensor<24x40xf32>) permutation = [1, 0]
  %s = linalg.add ins(%t, %y : tensor<24x40xf32>, tensor<24x40xf32>) outs(%e2 : tensor<24x40xf32>) -> tensor<24x40xf32>
  return %s : tensor<24x40xf32>
}

//--- straight.mlir
func.func @kernel(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %e = tensor.empty() : tensor<8x8xf32>
  %p = linalg.exp ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %p : tensor<8x8xf32>
}
