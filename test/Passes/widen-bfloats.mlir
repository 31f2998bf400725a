// RUN: cwm-opt %s -cwm-widen-bfloats | FileCheck %s

// Each result is rounded, and no flag lets a later pass leave that out.
// CHECK-LABEL: @multiply_add
// CHECK-SAME: %[[A:.*]]: vector<1xbf16>, %[[B:.*]]: vector<1xbf16>
// CHECK: %[[I:.*]] = arith.bitcast %[[A]] : vector<1xbf16> to vector<1xi16>
// CHECK: %[[J:.*]] = arith.extui %[[I]] : vector<1xi16> to vector<1xi32>
// CHECK: %[[K:.*]] = arith.shli %[[J]], %{{.*}} : vector<1xi32>
// CHECK: %[[WA:.*]] = arith.bitcast %[[K]] : vector<1xi32> to vector<1xf32>
// CHECK: %[[P:.*]] = arith.mulf %[[WA]], %{{.*}} : vector<1xf32>
// CHECK: %[[R:.*]] = arith.truncf %[[P]] : vector<1xf32> to vector<1xbf16>
// CHECK: arith.bitcast %[[R]] : vector<1xbf16> to vector<1xi16>
// CHECK: %[[S:.*]] = arith.addf %{{.*}}, %{{.*}} : vector<1xf32>
// CHECK: arith.truncf %[[S]] : vector<1xf32> to vector<1xbf16>
func.func @multiply_add(%a: vector<1xbf16>, %b: vector<1xbf16>) -> vector<1xbf16> {
  %p = arith.mulf %a, %b : vector<1xbf16>
  %s = arith.addf %p, %b : vector<1xbf16>
  return %s : vector<1xbf16>
}

// CHECK-LABEL: @kinds
// CHECK: arith.cmpf ogt, %{{.*}} : f32
// CHECK: arith.select %{{.*}} : bf16
// CHECK: math.exp %{{.*}} : f32
// CHECK: math.fma %{{.*}} : f32
// CHECK: vector.fma %{{.*}} : vector<4xf32>
// CHECK: vector.reduction <add>, %{{.*}} : vector<4xf32> into f32
// CHECK: arith.sitofp %{{.*}} : i32 to f32
// CHECK: arith.fptosi %{{.*}} : f32 to i32
func.func @kinds(%a: bf16, %b: bf16, %v: vector<4xbf16>, %i: i32) -> (bf16, bf16, bf16, i32) {
  %c = arith.cmpf ogt, %a, %b : bf16
  %s = arith.select %c, %a, %b : bf16
  %e = math.exp %s : bf16
  %f = math.fma %e, %a, %b : bf16
  %w = vector.fma %v, %v, %v : vector<4xbf16>
  %r = vector.reduction <add>, %w, %f : vector<4xbf16> into bf16
  %x = arith.sitofp %i : i32 to bf16
  %y = arith.fptosi %b : bf16 to i32
  return %e, %r, %x, %y : bf16, bf16, bf16, i32
}

// CHECK-LABEL: @others
// CHECK-NEXT: arith.addf %{{.*}} : f16
// CHECK-NEXT: arith.extf %{{.*}} : bf16 to f32
// CHECK-NEXT: arith.addf %{{.*}} : f32
// CHECK-NEXT: return
func.func @others(%h: f16, %a: bf16) -> (f16, f32) {
  %s = arith.addf %h, %h : f16
  %w = arith.extf %a : bf16 to f32
  %t = arith.addf %w, %w : f32
  return %s, %t : f16, f32
}
