// RUN: cwm-opt %s --cwm-mask-odd-rows | FileCheck %s

// CHECK-LABEL: func.func @odd(
// CHECK: %[[MASK:.*]] = vector.constant_mask [14] : vector<16xi1>
// CHECK: %[[WIDE:.*]] = vector.maskedload %{{.*}}[%{{.*}}, %{{.*}}], %[[MASK]], %{{.*}} : memref<4x28xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
// CHECK: %[[ROW:.*]] = vector.extract_strided_slice %[[WIDE]] {offsets = [0], sizes = [14], strides = [1]}
// CHECK: %[[FILLED:.*]] = vector.shuffle %[[ROW]], %[[ROW]] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, -1, -1]
// CHECK: vector.maskedstore %{{.*}}, %{{.*}}, %[[FILLED]]
// CHECK-NOT: vector.load
// CHECK-NOT: vector.store
func.func @odd(%x: memref<4x28xf32>, %y: memref<4x28xf32>, %i: index) {
  %view = memref.subview %y[0, 0] [2, 28] [1, 1] : memref<4x28xf32> to memref<2x28xf32, strided<[28, 1]>>
  %row = vector.load %x[%i, %i] : memref<4x28xf32>, vector<14xf32>
  vector.store %row, %view[%i, %i] : memref<2x28xf32, strided<[28, 1]>>, vector<14xf32>
  return
}

// CHECK-LABEL: func.func @transfers(
// CHECK: vector.maskedload {{.*}} vector<8xf64>
// CHECK: vector.maskedstore {{.*}} vector<8xf64>
func.func @transfers(%x: memref<28xf64>, %i: index) {
  %zero = arith.constant 0.0 : f64
  %row = vector.transfer_read %x[%i], %zero {in_bounds = [true]} : memref<28xf64>, vector<7xf64>
  vector.transfer_write %row, %x[%i] {in_bounds = [true]} : vector<7xf64>, memref<28xf64>
  return
}

// Powers of two, temporaries, bytes, strides and what may lie outside.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: vector.masked
func.func @others(%x: memref<32xf32>, %b: memref<32xi8>, %s: memref<8xf32, strided<[2]>>, %i: index) -> (vector<8xf32>, vector<7xi8>, vector<7xf32>, vector<7xf32>) {
  %zero = arith.constant 0.0 : f32
  %local = memref.alloc() : memref<32xf32>
  %even = vector.load %x[%i] : memref<32xf32>, vector<8xf32>
  %bytes = vector.load %b[%i] : memref<32xi8>, vector<7xi8>
  %strided = vector.transfer_read %s[%i], %zero {in_bounds = [true]} : memref<8xf32, strided<[2]>>, vector<7xf32>
  %outside = vector.transfer_read %x[%i], %zero : memref<32xf32>, vector<7xf32>
  vector.store %strided, %local[%i] : memref<32xf32>, vector<7xf32>
  memref.dealloc %local : memref<32xf32>
  return %even, %bytes, %strided, %outside : vector<8xf32>, vector<7xi8>, vector<7xf32>, vector<7xf32>
}
