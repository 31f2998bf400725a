// RUN: cwm-opt %s -cwm-scalarize-boolean-transfers | FileCheck %s

// CHECK-LABEL: @loads
// CHECK: %[[BYTES:.*]] = builtin.unrealized_conversion_cast %{{.*}} : memref<8xi1> to memref<8xi8>
// CHECK: %[[ROW:.*]] = vector.load %[[BYTES]][%{{.*}}] : memref<8xi8>, vector<4xi8>
// CHECK: arith.trunci %[[ROW]] : vector<4xi8> to vector<4xi1>
func.func @loads(%b: memref<8xi1>, %i: index) -> vector<4xi1> {
  %0 = vector.load %b[%i] : memref<8xi1>, vector<4xi1>
  return %0 : vector<4xi1>
}

// CHECK-LABEL: @stores
// CHECK: %[[ROW:.*]] = arith.extui %{{.*}} : vector<4xi1> to vector<4xi8>
// CHECK: %[[BYTES:.*]] = builtin.unrealized_conversion_cast %{{.*}} : memref<8x8xi1, strided<[9, 1], offset: 3>> to memref<8x8xi8, strided<[9, 1], offset: 3>>
// CHECK: vector.store %[[ROW]], %[[BYTES]][%{{.*}}, %{{.*}}]
func.func @stores(%b: memref<8x8xi1, strided<[9, 1], offset: 3>>, %i: index, %v: vector<4xi1>) {
  vector.transfer_write %v, %b[%i, %i] {in_bounds = [true]} : vector<4xi1>, memref<8x8xi1, strided<[9, 1], offset: 3>>
  return
}

// Lanes behind the end give the padding.
// CHECK-LABEL: @out_of_bounds
// CHECK-SAME: %[[P:[a-z0-9]+]]: i1)
// CHECK: scf.if
// CHECK: memref.load
// CHECK: else
// CHECK: scf.yield %[[P]]
func.func @out_of_bounds(%b: memref<8xi1>, %i: index, %p: i1) -> vector<4xi1> {
  %0 = vector.transfer_read %b[%i], %p : memref<8xi1>, vector<4xi1>
  return %0 : vector<4xi1>
}

// CHECK-LABEL: @masked_store
// CHECK: %[[M:.*]] = vector.extract %{{.*}}[0] : i1 from vector<2xi1>
// CHECK: scf.if %[[M]]
// CHECK: memref.store
func.func @masked_store(%b: memref<8xi1>, %i: index, %v: vector<2xi1>, %m: vector<2xi1>) {
  vector.transfer_write %v, %b[%i], %m {in_bounds = [true]} : vector<2xi1>, memref<8xi1>
  return
}

// CHECK-LABEL: @other_types
// CHECK: vector.load
// CHECK: vector.store
func.func @other_types(%b: memref<8xi8>, %i: index) {
  %0 = vector.load %b[%i] : memref<8xi8>, vector<4xi8>
  vector.store %0, %b[%i] : memref<8xi8>, vector<4xi8>
  return
}
