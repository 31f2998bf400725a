// RUN: cwm-opt %s -cwm-hoist-constants -split-input-file | FileCheck %s

// Weights that are copied, in two steps and into a buffer that was cleared.
// CHECK: llvm.mlir.global external constant @kernel_prepack_table(dense<[3, 1, 1, 1, 24]> : tensor<5xi64>)
// CHECK-LABEL: func.func @kernel_prepack(
// CHECK-SAME: %[[W:.*]]: memref<5xf32>, %[[PACKED:.*]]: memref<6xf32>)
// CHECK: %[[STEP:.*]] = memref.alloc() : memref<5xf32>
// CHECK: memref.copy %[[W]], %[[STEP]]
// CHECK: linalg.fill {{.*}} outs(%[[PACKED]] :
// CHECK: %[[VIEW:.*]] = memref.subview %[[PACKED]][0] [5] [1]
// CHECK: memref.copy %[[STEP]], %[[VIEW]]
// CHECK-NOT: memref.load
// CHECK-LABEL: func.func @kernel_prepacked(
// CHECK-SAME: %{{.*}}: memref<6xf32>, %{{.*}}: memref<5xf32> {cwm.constant}, %{{.*}}: memref<6xf32>, %[[READ:.*]]: memref<6xf32>)
// CHECK-NOT: memref.copy
// CHECK-NOT: memref.alloc
// CHECK: memref.load %[[READ]]
// CHECK-LABEL: func.func @kernel(
// CHECK: %[[BUFFER:.*]] = memref.alloc() {alignment = 64 : i64} : memref<6xf32>
// CHECK-NEXT: call @kernel_prepack(%arg1, %[[BUFFER]])
// CHECK-NEXT: call @kernel_prepacked(%arg0, %arg1, %arg2, %[[BUFFER]])
// CHECK-NEXT: return
func.func @kernel(%x: memref<6xf32>, %w: memref<5xf32> {cwm.constant}, %r: memref<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %step = memref.alloc() : memref<5xf32>
  %packed = memref.alloc() : memref<6xf32>
  memref.copy %w, %step : memref<5xf32> to memref<5xf32>
  linalg.fill ins(%zero : f32) outs(%packed : memref<6xf32>)
  %view = memref.subview %packed[0] [5] [1] : memref<6xf32> to memref<5xf32, strided<[1]>>
  memref.copy %step, %view : memref<5xf32> to memref<5xf32, strided<[1]>>
  scf.for %i = %c0 to %c6 step %c1 {
    %0 = memref.load %x[%i] : memref<6xf32>
    %1 = memref.load %packed[%i] : memref<6xf32>
    %2 = arith.addf %0, %1 : f32
    memref.store %2, %r[%i] : memref<6xf32>
  }
  return
}

// -----

// Nothing is constant.
// CHECK-LABEL: func.func @kernel(
// CHECK: memref.copy
// CHECK-NOT: @kernel_prepack
func.func @kernel(%x: memref<5xf32>, %r: memref<5xf32>) {
  %copy = memref.alloc() : memref<5xf32>
  memref.copy %x, %copy : memref<5xf32> to memref<5xf32>
  memref.copy %copy, %r : memref<5xf32> to memref<5xf32>
  return
}

// -----

// Cleared only: no constant argument goes into it.
// CHECK-LABEL: func.func @kernel(
// CHECK: linalg.fill
// CHECK-NOT: @kernel_prepack
func.func @kernel(%w: memref<5xf32> {cwm.constant}, %r: memref<5xf32>) {
  %zero = arith.constant 0.0 : f32
  %buffer = memref.alloc() : memref<5xf32>
  linalg.fill ins(%zero : f32) outs(%buffer : memref<5xf32>)
  linalg.add ins(%w, %buffer : memref<5xf32>, memref<5xf32>) outs(%r : memref<5xf32>)
  return
}

// -----

// Another input goes into it as well.
// CHECK-LABEL: func.func @kernel(
// CHECK: linalg.add
// CHECK-NOT: @kernel_prepack
func.func @kernel(%x: memref<5xf32>, %w: memref<5xf32> {cwm.constant}, %r: memref<5xf32>) {
  %sum = memref.alloc() : memref<5xf32>
  linalg.add ins(%w, %x : memref<5xf32>, memref<5xf32>) outs(%sum : memref<5xf32>)
  memref.copy %sum, %r : memref<5xf32> to memref<5xf32>
  return
}

// -----

// Used as scratch memory later on: the second call would read that.
// CHECK-LABEL: func.func @kernel(
// CHECK: memref.copy
// CHECK-NOT: @kernel_prepack
func.func @kernel(%x: memref<5xf32>, %w: memref<5xf32> {cwm.constant}, %r: memref<5xf32>) {
  %buffer = memref.alloc() : memref<5xf32>
  memref.copy %w, %buffer : memref<5xf32> to memref<5xf32>
  linalg.add ins(%x, %buffer : memref<5xf32>, memref<5xf32>) outs(%r : memref<5xf32>)
  memref.copy %x, %buffer : memref<5xf32> to memref<5xf32>
  linalg.add ins(%r, %buffer : memref<5xf32>, memref<5xf32>) outs(%r : memref<5xf32>)
  return
}

// -----

// What the copy is depends on the input, though it reads only weights.
// CHECK-LABEL: func.func @kernel(
// CHECK: scf.if
// CHECK-NOT: @kernel_prepack
func.func @kernel(%x: memref<i1>, %w: memref<5xf32> {cwm.constant}, %r: memref<5xf32>) {
  %buffer = memref.alloc() : memref<5xf32>
  %condition = memref.load %x[] : memref<i1>
  memref.copy %w, %buffer : memref<5xf32> to memref<5xf32>
  scf.if %condition {
    linalg.add ins(%w, %w : memref<5xf32>, memref<5xf32>) outs(%buffer : memref<5xf32>)
  }
  memref.copy %buffer, %r : memref<5xf32> to memref<5xf32>
  return
}

// -----

// Buffers that loops carry are not followed.
// CHECK-LABEL: func.func @kernel(
// CHECK: scf.for
// CHECK-NOT: @kernel_prepack
func.func @kernel(%x: memref<5xf32>, %w: memref<5xf32> {cwm.constant}, %r: memref<5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %a = memref.alloc() : memref<5xf32>
  %b = memref.alloc() : memref<5xf32>
  memref.copy %w, %a : memref<5xf32> to memref<5xf32>
  memref.copy %w, %b : memref<5xf32> to memref<5xf32>
  %last:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%from = %a, %to = %b) -> (memref<5xf32>, memref<5xf32>) {
    linalg.add ins(%x, %from : memref<5xf32>, memref<5xf32>) outs(%to : memref<5xf32>)
    scf.yield %to, %from : memref<5xf32>, memref<5xf32>
  }
  memref.copy %last#1, %r : memref<5xf32> to memref<5xf32>
  return
}
