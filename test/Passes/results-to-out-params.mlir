// RUN: cwm-opt %s -cwm-results-to-out-params -split-input-file -verify-diagnostics | FileCheck %s

// The result is computed right in the parameter.
// CHECK-LABEL: func.func @allocated(
// CHECK-SAME: %{{.*}}: memref<4xf32>, %[[OUT:.*]]: memref<4xf32>) {
// CHECK-NOT: memref.alloc
// CHECK: linalg.exp {{.*}} outs(%[[OUT]] : memref<4xf32>)
// CHECK: return{{$}}
func.func @allocated(%x: memref<4xf32>) -> memref<4xf32> {
  %0 = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%0 : memref<4xf32>)
  return %0 : memref<4xf32>
}

// -----

// CHECK-LABEL: func.func @reshaped(
// CHECK-SAME: %{{.*}}: memref<2x2xf32>, %[[OUT:.*]]: memref<4xf32>)
// CHECK: %[[CAST:.*]] = memref.reinterpret_cast %[[OUT]] to offset: [0], sizes: [2, 2], strides: [2, 1]
// CHECK: linalg.exp {{.*}} outs(%[[CAST]]
// CHECK-NOT: memref.copy
func.func @reshaped(%x: memref<2x2xf32>) -> memref<4xf32> {
  %0 = memref.alloc() : memref<2x2xf32>
  linalg.exp ins(%x : memref<2x2xf32>) outs(%0 : memref<2x2xf32>)
  %1 = memref.collapse_shape %0 [[0, 1]] : memref<2x2xf32> into memref<4xf32>
  return %1 : memref<4xf32>
}

// -----

// CHECK-LABEL: func.func @twice(
// CHECK-SAME: %{{.*}}: f32, %[[FIRST:.*]]: memref<4xf32>, %[[SECOND:.*]]: memref<4xf32>)
// CHECK: linalg.fill {{.*}} outs(%[[FIRST]]
// CHECK: memref.copy %[[FIRST]], %[[SECOND]]
func.func @twice(%c: f32) -> (memref<4xf32>, memref<4xf32>) {
  %0 = memref.alloc() : memref<4xf32>
  linalg.fill ins(%c : f32) outs(%0 : memref<4xf32>)
  return %0, %0 : memref<4xf32>, memref<4xf32>
}

// -----

// An input, and a part of a buffer, are copied.
// CHECK-LABEL: func.func @copied(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>, %[[FIRST:.*]]: memref<4xf32>, %[[SECOND:.*]]: memref<2xf32>)
// CHECK: memref.alloc
// CHECK: memref.copy %[[X]], %[[FIRST]]
// CHECK: memref.copy %{{.*}}, %[[SECOND]]
func.func @copied(%x: memref<4xf32>) -> (memref<4xf32>, memref<2xf32, strided<[1], offset: 1>>) {
  %0 = memref.alloc() : memref<4xf32>
  memref.copy %x, %0 : memref<4xf32> to memref<4xf32>
  %1 = memref.subview %0[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
  return %x, %1 : memref<4xf32>, memref<2xf32, strided<[1], offset: 1>>
}

// -----

// CHECK-LABEL: func.func @strided_argument(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>) {
// CHECK: memref.cast %[[X]] : memref<4xf32> to memref<4xf32, strided<[?], offset: ?>>
func.func @strided_argument(%x: memref<4xf32, strided<[?], offset: ?>>) {
  %c = arith.constant 0 : index
  %0 = memref.load %x[%c] : memref<4xf32, strided<[?], offset: ?>>
  return
}

// -----

// expected-error@below {{@dynamic: result #0 of type 'memref<?xf32>' cannot become an out-parameter}}
func.func @dynamic(%x: memref<?xf32>) -> memref<?xf32> {
  return %x : memref<?xf32>
}

// -----

// expected-error@below {{argument #0 of @reversed has type}}
func.func @reversed(%x: memref<4xf32, strided<[2]>>) {
  return
}

// -----

// expected-error@below {{result #0 of type 'f32' cannot become an out-parameter}}
func.func @scalar(%x: f32) -> f32 {
  return %x : f32
}

// -----

func.func private @callee(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}
func.func @caller(%x: memref<4xf32>) -> memref<4xf32> {
  // expected-error@below {{calls are not supported: @callee gets another signature; inline it first}}
  %0 = call @callee(%x) : (memref<4xf32>) -> memref<4xf32>
  return %0 : memref<4xf32>
}

// -----

func.func private @strided(%x: memref<4xf32, strided<[1], offset: 2>>) {
  return
}
func.func @reference() {
  // expected-error@below {{calls are not supported: @strided gets another signature}}
  %0 = func.constant @strided : (memref<4xf32, strided<[1], offset: 2>>) -> ()
  return
}

// -----

// What stays as it is can be called, and what is declared only.
func.func private @declared() -> f32
func.func private @plain(%x: memref<4xf32>) {
  return
}
// CHECK-LABEL: func.func @calls_plain
// CHECK: call @plain
// CHECK: call @declared
func.func @calls_plain(%x: memref<4xf32>) {
  call @plain(%x) : (memref<4xf32>) -> ()
  %0 = call @declared() : () -> f32
  return
}
