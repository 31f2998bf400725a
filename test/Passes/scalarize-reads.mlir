// RUN: cwm-opt %s --cwm-scalarize-reads | FileCheck %s

// Each element is loaded once, where the vector was read.
// CHECK-LABEL: func.func @load(
// CHECK-SAME: %[[BUFFER:[^:]*]]: memref<4x8xf32>, %[[I:[^:]*]]: index, %[[J:[^:]*]]: index
// CHECK-DAG: %[[FIRST:.*]] = memref.load %[[BUFFER]][%[[I]], %[[J]]]
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[AT:.*]] = arith.addi %[[J]], %[[THREE]]
// CHECK-DAG: %[[LAST:.*]] = memref.load %[[BUFFER]][%[[I]], %[[AT]]]
// CHECK: memref.store
// CHECK-NOT: vector.load
// CHECK-NOT: memref.load
// CHECK: return %[[FIRST]], %[[LAST]], %[[LAST]]
func.func @load(%buffer: memref<4x8xf32>, %i: index, %j: index, %x: f32) -> (f32, f32, f32) {
  %row = vector.load %buffer[%i, %j] : memref<4x8xf32>, vector<4xf32>
  memref.store %x, %buffer[%i, %j] : memref<4x8xf32>
  %a = vector.extract %row[0] : f32 from vector<4xf32>
  %b = vector.extract %row[3] : f32 from vector<4xf32>
  %c = vector.extract %row[3] : f32 from vector<4xf32>
  return %a, %b, %c : f32, f32, f32
}

// Strided rows too.
// CHECK-LABEL: func.func @transfer(
// CHECK: memref.load
// CHECK-NOT: vector.transfer_read
func.func @transfer(%buffer: memref<8xf32, strided<[2]>>, %i: index) -> f32 {
  %zero = arith.constant 0.0 : f32
  %row = vector.transfer_read %buffer[%i], %zero {in_bounds = [true]} : memref<8xf32, strided<[2]>>, vector<4xf32>
  %a = vector.extract %row[1] : f32 from vector<4xf32>
  return %a : f32
}

// A vector that is also used as one stays.
// CHECK-LABEL: func.func @whole(
// CHECK: vector.load
// CHECK-NOT: memref.load
func.func @whole(%buffer: memref<8xf32>, %i: index) -> (f32, vector<4xf32>) {
  %row = vector.load %buffer[%i] : memref<8xf32>, vector<4xf32>
  %a = vector.extract %row[1] : f32 from vector<4xf32>
  return %a, %row : f32, vector<4xf32>
}

// What may lie outside of the buffer, is masked, is at a computed position or
// repeats an element stays.
// CHECK-LABEL: func.func @others(
// CHECK-COUNT-4: vector.transfer_read
// CHECK-NOT: memref.load
func.func @others(%buffer: memref<8xf32>, %i: index, %mask: vector<4xi1>) -> (f32, f32, f32, f32) {
  %zero = arith.constant 0.0 : f32
  %outside = vector.transfer_read %buffer[%i], %zero : memref<8xf32>, vector<4xf32>
  %masked = vector.transfer_read %buffer[%i], %zero, %mask {in_bounds = [true]} : memref<8xf32>, vector<4xf32>
  %inside = vector.transfer_read %buffer[%i], %zero {in_bounds = [true]} : memref<8xf32>, vector<4xf32>
  %repeated = vector.transfer_read %buffer[%i], %zero {in_bounds = [true], permutation_map = affine_map<(d0) -> (0)>} : memref<8xf32>, vector<4xf32>
  %a = vector.extract %outside[1] : f32 from vector<4xf32>
  %b = vector.extract %masked[1] : f32 from vector<4xf32>
  %c = vector.extract %inside[%i] : f32 from vector<4xf32>
  %d = vector.extract %repeated[2] : f32 from vector<4xf32>
  return %a, %b, %c, %d : f32, f32, f32, f32
}
