// RUN: cwm-opt %s --cwm-join-rows | FileCheck %s

// A whole row, a row of equal elements, and one in another order.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[A:[^:]*]]: vector<3xf32>, %[[X:[^:]*]]: f32
// CHECK: %[[E:.*]]:3 = vector.to_elements %[[A]]
// CHECK: %[[FIRST:.*]] = vector.insert %[[A]], %{{.*}} [0] : vector<3xf32> into vector<3x3xf32>
// CHECK: %[[SAME:.*]] = vector.broadcast %[[X]] : f32 to vector<3xf32>
// CHECK: %[[SECOND:.*]] = vector.insert %[[SAME]], %[[FIRST]] [1]
// CHECK: %[[TURNED:.*]] = vector.from_elements %[[E]]#1, %[[E]]#0, %[[E]]#2 : vector<3xf32>
// CHECK: %[[R:.*]] = vector.insert %[[TURNED]], %[[SECOND]] [2]
// CHECK: return %[[R]]
func.func @rows(%a: vector<3xf32>, %x: f32) -> vector<3x3xf32> {
  %e:3 = vector.to_elements %a : vector<3xf32>
  %r = vector.from_elements %e#0, %e#1, %e#2, %x, %x, %x, %e#1, %e#0, %e#2 : vector<3x3xf32>
  return %r : vector<3x3xf32>
}

// CHECK-LABEL: func.func @higher(
// CHECK-NOT: vector.from_elements
// CHECK-NOT: vector.to_elements
// CHECK: vector.insert %{{.*}}, %{{.*}} [0, 0] : vector<2xf32> into vector<2x2x2xf32>
// CHECK: vector.insert %{{.*}}, %{{.*}} [1, 1] : vector<2xf32> into vector<2x2x2xf32>
func.func @higher(%a: vector<2xf32>, %b: vector<2xf32>) -> vector<2x2x2xf32> {
  %e:2 = vector.to_elements %a : vector<2xf32>
  %f:2 = vector.to_elements %b : vector<2xf32>
  %r = vector.from_elements %e#0, %e#1, %f#0, %f#1, %f#0, %f#1, %e#0, %e#1 : vector<2x2x2xf32>
  return %r : vector<2x2x2xf32>
}

// CHECK-LABEL: func.func @equal(
// CHECK: vector.broadcast %{{.*}} : f32 to vector<4xf32>
func.func @equal(%x: f32) -> vector<4xf32> {
  %r = vector.from_elements %x, %x, %x, %x : vector<4xf32>
  return %r : vector<4xf32>
}

// CHECK-LABEL: func.func @single(
// CHECK: vector.from_elements %{{.*}}, %{{.*}} : vector<2xf32>
func.func @single(%x: f32, %y: f32) -> vector<2xf32> {
  %r = vector.from_elements %x, %y : vector<2xf32>
  return %r : vector<2xf32>
}
