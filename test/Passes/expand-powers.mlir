// RUN: cwm-opt %s -cwm-expand-powers | FileCheck %s

// The numbers are tested in unittests/CPU/MathAccuracyTest.cpp.

// CHECK-LABEL: @products
// CHECK-SAME: %[[X:.*]]: vector<8xf32>
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : vector<8xf32>
// CHECK: %[[AGAIN:.*]] = arith.mulf %[[X]], %[[X]] : vector<8xf32>
// CHECK: %[[CUBE:.*]] = arith.mulf %[[AGAIN]], %[[X]] : vector<8xf32>
// CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[X]] : vector<8xf32>
// CHECK: %[[BASE:.*]] = arith.divf %{{.*}}, %[[X]] : vector<8xf32>
// CHECK: %[[INVERSE_SQUARE:.*]] = arith.mulf %[[BASE]], %[[BASE]] : vector<8xf32>
// CHECK: return %[[X]], %[[SQUARE]], %[[CUBE]], %[[INVERSE]], %[[INVERSE_SQUARE]]
func.func @products(%x: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>) {
  %one = arith.constant dense<1.0> : vector<8xf32>
  %two = arith.constant dense<2.0> : vector<8xf32>
  %three = arith.constant dense<3> : vector<8xi32>
  %least = arith.constant dense<-1> : vector<8xi32>
  %twice = arith.constant dense<-2.0> : vector<8xf32>
  %0 = math.powf %x, %one : vector<8xf32>
  %1 = math.powf %x, %two : vector<8xf32>
  %2 = math.fpowi %x, %three : vector<8xf32>, vector<8xi32>
  %3 = math.fpowi %x, %least : vector<8xf32>, vector<8xi32>
  %4 = math.powf %x, %twice : vector<8xf32>
  return %0, %1, %2, %3, %4 : vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
}

// Within an op of any level, and of any type.
// CHECK-LABEL: @roots
// CHECK-NOT: math.powf
// CHECK: math.sqrt %{{.*}} : f32
// CHECK: arith.select
// CHECK: math.rsqrt %{{.*}} : f64
// CHECK: arith.select
func.func @roots(%x: memref<5xf32>, %y: memref<5xf32>, %z: f64) -> f64 {
  %half = arith.constant 0.5 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : memref<5xf32>) outs(%y : memref<5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.powf %a, %half : f32
    linalg.yield %r : f32
  }
  %minus = arith.constant -0.5 : f64
  %r = math.powf %z, %minus : f64
  return %r : f64
}

// CHECK-LABEL: @left
// CHECK-COUNT-3: math.powf
// CHECK: math.fpowi
func.func @left(%x: f32, %y: f32, %v: vector<2xf32>, %n: i32) -> (f32, f32, vector<2xf32>, f32) {
  %third = arith.constant 0.3 : f32
  %lanes = arith.constant dense<[2.0, 3.0]> : vector<2xf32>
  %0 = math.powf %x, %y : f32
  %1 = math.powf %x, %third : f32
  %2 = math.powf %v, %lanes : vector<2xf32>
  %3 = math.fpowi %x, %n : f32, i32
  return %0, %1, %2, %3 : f32, f32, vector<2xf32>, f32
}
