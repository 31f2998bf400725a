// RUN: cwm-opt %s -cwm-lower-copies -split-input-file | FileCheck %s
// RUN: cwm-opt %s -cwm-lower-copies=max-elements=16 -split-input-file | FileCheck %s --check-prefix=LIMIT

// CHECK-LABEL: @strided
// CHECK: %[[V:.*]] = vector.transfer_read %{{.*}} : memref<4x8xf32, strided<[64, 1]>>, vector<4x8xf32>
// CHECK: vector.transfer_write %[[V]]
// LIMIT-LABEL: @strided
// LIMIT: linalg.generic
func.func @strided(%a: memref<4x8xf32, strided<[64, 1]>>, %b: memref<4x8xf32>) {
  memref.copy %a, %b : memref<4x8xf32, strided<[64, 1]>> to memref<4x8xf32>
  return
}

// -----

// A memcpy is best.
// CHECK-LABEL: @contiguous
// CHECK: memref.copy
func.func @contiguous(%a: memref<4x8xf32>, %b: memref<4x8xf32>) {
  memref.copy %a, %b : memref<4x8xf32> to memref<4x8xf32>
  return
}

// -----

// Many rows, no unit stride, no static shape, booleans: loops.
// CHECK-LABEL: @loops
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT: memref.copy
func.func @loops(%a: memref<65x1xf32, strided<[2, 1]>>, %b: memref<65x1xf32>,
                 %c: memref<4x4xf32, strided<[1, 4]>>, %d: memref<4x4xf32>,
                 %e: memref<?x4xf32, strided<[8, 1]>>, %f: memref<?x4xf32>,
                 %g: memref<4x8xi1, strided<[64, 1]>>, %h: memref<4x8xi1>) {
  memref.copy %a, %b : memref<65x1xf32, strided<[2, 1]>> to memref<65x1xf32>
  memref.copy %c, %d : memref<4x4xf32, strided<[1, 4]>> to memref<4x4xf32>
  memref.copy %e, %f : memref<?x4xf32, strided<[8, 1]>> to memref<?x4xf32>
  memref.copy %g, %h : memref<4x8xi1, strided<[64, 1]>> to memref<4x8xi1>
  return
}

// -----

// CHECK-LABEL: @rank_zero
// CHECK-NOT: vector
// CHECK: linalg.generic
func.func @rank_zero(%a: memref<f32, strided<[], offset: ?>>, %b: memref<f32>) {
  memref.copy %a, %b : memref<f32, strided<[], offset: ?>> to memref<f32>
  return
}
