// RUN: cwm-opt %s -cwm-contract-arithmetic | FileCheck %s

// CHECK-LABEL: @float
// CHECK: arith.mulf {{.*}} fastmath<contract>
// CHECK: arith.addf {{.*}} fastmath<nnan,contract>
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
func.func @float(%a: f32, %b: f32) -> f32 {
  %0 = arith.mulf %a, %b : f32
  %1 = arith.addf %0, %b fastmath<nnan> : f32
  %2 = arith.divf %1, %b : f32
  return %2 : f32
}
