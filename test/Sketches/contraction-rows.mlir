// RUN: cwm-opt %s --cwm-apply-sketch='sketch=contraction-rows hardware=%S/Inputs/avx512.json knobs=mr=8,kt=4' | FileCheck %s
// RUN: cwm-opt %s --cwm-apply-sketch='hardware=%S/Inputs/avx512.json' --cwm-lower-to-cpu | FileCheck %s --check-prefix=LLVM

// A dense layer as PyTorch gives it: weights [N, K], a bias, relu. Only the
// activations are packed, 10 rows padded to 16; the weights are read in place.
// CHECK-LABEL: func.func @kernel(
// CHECK-SAME: %[[X:.*]]: memref<10x64xf32>, %[[W:.*]]: memref<48x64xf32>
// CHECK: memref.alloc() {{.*}} : memref<1x64x16xf32>
// CHECK-NOT: linalg.
// CHECK-NOT: tensor<
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<8x16xf32>)
// CHECK: vector.transfer_read %[[W]]
// CHECK-COUNT-32: vector.fma {{.*}} : vector<16xf32>
// CHECK: arith.maximumf {{.*}} : vector<16xf32>
// CHECK: return

// LLVM: llvm.func @kernel
// LLVM: llvm.intr.fmuladd
func.func @kernel(%x: tensor<10x64xf32>, %w: tensor<48x64xf32> {cwm.constant}, %bias: tensor<48xf32>) -> tensor<10x48xf32> {
  %zero = arith.constant 0.0 : f32
  %t = tensor.empty() : tensor<64x48xf32>
  %wt = linalg.transpose ins(%w : tensor<48x64xf32>) outs(%t : tensor<64x48xf32>) permutation = [1, 0]
  %empty = tensor.empty() : tensor<10x48xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<10x48xf32>) -> tensor<10x48xf32>
  %r = linalg.matmul ins(%x, %wt : tensor<10x64xf32>, tensor<64x48xf32>) outs(%init : tensor<10x48xf32>) -> tensor<10x48xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%r, %bias : tensor<10x48xf32>, tensor<48xf32>) outs(%empty : tensor<10x48xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %sum = arith.addf %p, %q : f32
    %positive = arith.maximumf %sum, %zero : f32
    linalg.yield %positive : f32
  } -> tensor<10x48xf32>
  return %s : tensor<10x48xf32>
}
