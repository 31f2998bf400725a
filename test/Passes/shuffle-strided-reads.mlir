// RUN: cwm-opt %s --cwm-shuffle-strided-reads --split-input-file | FileCheck %s

// Seven elements span 13: loads of 7 from the first and from the seventh.
// CHECK-DAG: #[[$AT:.*]] = affine_map<()[s0, s1] -> (s0 + s1 * 2)>
// CHECK-LABEL: func.func @row(
// CHECK-SAME: %[[X:[^:]*]]: memref<20xf32, strided<[2], offset: ?>>, %[[I:.*]]: index
// CHECK: %[[BASE:.*]], %[[OFFSET:[^,]*]], %{{.*}}, %{{.*}} = memref.extract_strided_metadata %[[X]]
// CHECK: %[[START:.*]] = affine.apply #[[$AT]]()[%[[OFFSET]], %[[I]]]
// CHECK: %[[ROW:.*]] = memref.reinterpret_cast %[[BASE]] to offset: [%[[START]]], sizes: [13], strides: [1]
// CHECK: %[[FIRST:.*]] = vector.load %[[ROW]][%c0{{.*}}] : {{.*}}, vector<7xf32>
// CHECK: %[[SECOND:.*]] = vector.load %[[ROW]][%c6{{.*}}] : {{.*}}, vector<7xf32>
// CHECK: vector.shuffle %[[FIRST]], %[[SECOND]] [0, 2, 4, 6, 9, 11, 13]
func.func @row(%x: memref<20xf32, strided<[2], offset: ?>>, %i: index) -> vector<7xf32> {
  %zero = arith.constant 0.0 : f32
  %r = vector.transfer_read %x[%i], %zero {in_bounds = [true]} : memref<20xf32, strided<[2], offset: ?>>, vector<7xf32>
  return %r : vector<7xf32>
}

// -----

// CHECK-LABEL: func.func @rows(
// CHECK-COUNT-4: vector.load {{.*}} vector<8xf32>
// CHECK: %[[R:.*]] = vector.insert {{.*}} [1] : vector<8xf32> into vector<2x8xf32>
// CHECK: return %[[R]]
func.func @rows(%x: memref<4x8xf32, strided<[100, 2]>>, %i: index) -> vector<2x8xf32> {
  %zero = arith.constant 0.0 : f32
  %r = vector.transfer_read %x[%i, %i], %zero {in_bounds = [true, true]} : memref<4x8xf32, strided<[100, 2]>>, vector<2x8xf32>
  return %r : vector<2x8xf32>
}

// -----

// Other strides, what may lie outside, masks and transposed reads stay.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-5: vector.transfer_read
func.func @others(%unit: memref<8xf32>, %three: memref<8xf32, strided<[3]>>, %two: memref<8x8xf32, strided<[16, 2]>>, %i: index, %mask: vector<4xi1>) -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = vector.transfer_read %unit[%i], %zero {in_bounds = [true]} : memref<8xf32>, vector<4xf32>
  %b = vector.transfer_read %three[%i], %zero {in_bounds = [true]} : memref<8xf32, strided<[3]>>, vector<4xf32>
  %c = vector.transfer_read %two[%i, %i], %zero : memref<8x8xf32, strided<[16, 2]>>, vector<4xf32>
  %d = vector.transfer_read %two[%i, %i], %zero, %mask {in_bounds = [true]} : memref<8x8xf32, strided<[16, 2]>>, vector<4xf32>
  %e = vector.transfer_read %two[%i, %i], %zero {in_bounds = [true, true], permutation_map = affine_map<(r, c) -> (c, r)>} : memref<8x8xf32, strided<[16, 2]>>, vector<4x2xf32>
  return %a, %b, %c, %d, %e : vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4x2xf32>
}
