// RUN: cwm-opt %s -cwm-polynomial-math | FileCheck %s

// The numbers are tested in unittests/CPU/MathAccuracyTest.cpp.

// CHECK-LABEL: @expanded
// CHECK-NOT: math.{{exp|expm1|tanh|erf|log|log2|log1p}} {{.*}}f32
// CHECK: return
func.func @expanded(%s: f32, %v: vector<2x24xf32>) -> (f32, vector<2x24xf32>) {
  %0 = math.exp %s : f32
  %1 = math.expm1 %0 : f32
  %2 = math.tanh %1 : f32
  %3 = math.erf %2 : f32
  %4 = math.log %3 : f32
  %5 = math.log2 %4 : f32
  %6 = math.log1p %5 : f32
  %7 = math.exp %v : vector<2x24xf32>
  %8 = math.tanh %7 : vector<2x24xf32>
  %9 = math.log %8 : vector<2x24xf32>
  return %6, %9 : f32, vector<2x24xf32>
}

// CHECK-LABEL: @left
// CHECK: math.exp {{.*}} : f64
// CHECK: math.log {{.*}} : f64
// CHECK: math.sin {{.*}} : f32
// CHECK: math.sqrt {{.*}} : f32
func.func @left(%d: f64, %s: f32) -> (f64, f32) {
  %0 = math.exp %d : f64
  %1 = math.log %0 : f64
  %2 = math.sin %s : f32
  %3 = math.sqrt %2 : f32
  return %1, %3 : f64, f32
}
