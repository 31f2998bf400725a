// RUN: cwm-opt %s -cwm-runtime-allocations | FileCheck %s

// CHECK: memref.alloc() : memref<4xf32>
// CHECK: memref.alloc() {alignment = 128 : i64} : memref<5xf32>
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<6xf32>
func.func @f() {
  %0 = memref.alloc() {alignment = 64 : i64} : memref<4xf32>
  %1 = memref.alloc() {alignment = 128 : i64} : memref<5xf32>
  %2 = memref.alloca() {alignment = 64 : i64} : memref<6xf32>
  return
}
