// RUN: cwm-opt %s -cwm-hoist-parallel-allocas | FileCheck %s

// Once for each thread, and nothing is left that needs a scope.
// CHECK-LABEL: func.func @static(
// CHECK: omp.parallel
// CHECK-DAG: %[[STACK:.*]] = memref.alloca() : memref<4xf32>
// CHECK-DAG: %[[NESTED:.*]] = memref.alloca() : memref<2xf32>
// CHECK-DAG: %[[HEAP:.*]] = memref.alloc() : memref<8xf32>
// CHECK: omp.wsloop
// CHECK-NOT: alloc
// CHECK: memref.store {{.*}}, %[[STACK]]
// CHECK: memref.store {{.*}}, %[[HEAP]]
// CHECK: memref.store {{.*}}, %[[NESTED]]
// CHECK-NOT: dealloc
// CHECK: omp.yield
// CHECK: memref.dealloc %[[HEAP]]
// CHECK: omp.terminator
func.func @static(%x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%c9) step (%c1) {
        memref.alloca_scope {
          %stack = memref.alloca() : memref<4xf32>
          %heap = memref.alloc() : memref<8xf32>
          memref.store %x, %stack[%c0] : memref<4xf32>
          memref.store %x, %heap[%c0] : memref<8xf32>
          scf.for %j = %c0 to %c9 step %c1 {
            %nested = memref.alloca() : memref<2xf32>
            memref.store %x, %nested[%c0] : memref<2xf32>
          }
          memref.dealloc %heap : memref<8xf32>
        }
        omp.yield
      }
    }
    omp.terminator
  }
  return
}

// What depends on the iteration stays, in its scope; so does memory that is
// freed on one path only, and what is outside of parallel loops.
// CHECK-LABEL: func.func @dynamic(
// CHECK: memref.alloca_scope
// CHECK-NEXT: memref.alloca() : memref<3xf32>
// CHECK: omp.parallel
// CHECK-NEXT: omp.wsloop
// CHECK: memref.alloca_scope
// CHECK: memref.alloca(%{{.*}}) : memref<?xf32>
// CHECK: memref.alloc() : memref<8xf32>
// CHECK: scf.if
// CHECK: memref.dealloc
func.func @dynamic(%x: f32, %b: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  memref.alloca_scope {
    %other = memref.alloca() : memref<3xf32>
    memref.store %x, %other[%c0] : memref<3xf32>
  }
  omp.parallel {
    omp.wsloop {
      omp.loop_nest (%i) : index = (%c0) to (%c9) step (%c1) {
        memref.alloca_scope {
          %stack = memref.alloca(%i) : memref<?xf32>
          %heap = memref.alloc() : memref<8xf32>
          memref.store %x, %stack[%c0] : memref<?xf32>
          memref.store %x, %heap[%c0] : memref<8xf32>
          scf.if %b {
            memref.dealloc %heap : memref<8xf32>
          }
        }
        omp.yield
      }
    }
    omp.terminator
  }
  return
}
