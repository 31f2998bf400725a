// RUN: cwm-opt %s -cwm-relax-arithmetic | FileCheck %s

// The numbers are tested in unittests/CPU/RelaxedArithmeticTest.cpp.

// One scalar division, before the loop.
// CHECK-LABEL: @softmax
// CHECK: arith.divf {{.*}} : f32
// CHECK: scf.for
// CHECK-NOT: arith.divf
// CHECK-COUNT-2: arith.mulf {{.*}} : vector<16xf32>
// CHECK: return
func.func @softmax(%x: memref<64xf32>, %s: f32, %a: index, %b: index, %c: index) {
  %d = vector.broadcast %s : f32 to vector<16xf32>
  scf.for %i = %a to %b step %c {
    %v = vector.load %x[%i] : memref<64xf32>, vector<16xf32>
    %q = arith.divf %v, %d : vector<16xf32>
    vector.store %q, %x[%i] : memref<64xf32>, vector<16xf32>
  }
  return
}

// CHECK-LABEL: @left
// CHECK: arith.divf {{.*}} : vector<16xf32>
// CHECK: arith.divf {{.*}} : f32
// CHECK: arith.divf {{.*}} : vector<8xf64>
func.func @left(%v: vector<16xf32>, %w: vector<16xf32>, %s: f32, %d: vector<8xf64>, %t: f64) -> (vector<16xf32>, f32, vector<8xf64>) {
  %0 = arith.divf %v, %w : vector<16xf32>
  %1 = arith.divf %s, %s : f32
  %b = vector.broadcast %t : f64 to vector<8xf64>
  %2 = arith.divf %d, %b : vector<8xf64>
  return %0, %1, %2 : vector<16xf32>, f32, vector<8xf64>
}

// CHECK-LABEL: @maxima
// CHECK: arith.maximumf {{.*}} fastmath<nsz> : vector<16xf32>
// CHECK: arith.cmpf uno
// CHECK: vector.reduction <or>
// CHECK: vector.reduction <maximumf>, {{.*}} fastmath<nnan,nsz> : vector<16xf32> into f32
// CHECK: arith.select
// CHECK: arith.maximumf {{.*}} fastmath<nsz> : f32
func.func @maxima(%v: vector<16xf32>, %w: vector<16xf32>, %s: f32) -> f32 {
  %0 = arith.maximumf %v, %w : vector<16xf32>
  %1 = vector.reduction <maximumf>, %0, %s : vector<16xf32> into f32
  return %1 : f32
}
