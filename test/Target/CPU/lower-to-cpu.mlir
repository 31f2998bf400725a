// RUN: cwm-opt %s -cwm-lower-to-cpu | FileCheck %s
// RUN: cwm-opt %s -cwm-lower-to-cpu="stock-only" | FileCheck %s --check-prefix=STOCK
// RUN: %if no-sanitizer %{ mlir-opt --load-pass-plugin=%cwm_plugin %s --pass-pipeline='builtin.module(cwm-lower-to-cpu)' | FileCheck %s %}
// RUN: cwm-opt %s -cwm-lower-to-cpu="contract=false polynomial-math=false" | FileCheck %s --check-prefix=PLAIN

#id = affine_map<(d0, d1) -> (d0, d1)>

// Results become out-parameters, everything a bare pointer that aliases nothing;
// a multiplication and an addition may be contracted; exp is a polynomial.
// CHECK: llvm.func @kernel(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {cwm.constant, llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}) {
// CHECK-NOT: memref_to_llvm_alloc
// CHECK-NOT: llvm.intr.exp
// CHECK: llvm.fmul {{.*}} {fastmathFlags = #llvm.fastmath<contract>}
// CHECK: llvm.return{{$}}

// STOCK: llvm.func @kernel(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr {cwm.constant}, %{{.*}}: !llvm.ptr) {
// STOCK: llvm.intr.exp

// PLAIN: llvm.func @kernel
// PLAIN-NOT: fastmath
// PLAIN: llvm.intr.exp
func.func @kernel(%x: tensor<4x8xf32>, %y: tensor<4x8xf32> {cwm.constant}) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = math.exp %a : f32
    %1 = arith.mulf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
