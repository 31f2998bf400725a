// RUN: cwm-opt %s -cwm-bfloats-as-bits | FileCheck %s

// CHECK-LABEL: @moves
// CHECK: %[[C:.*]] = llvm.mlir.constant(dense<[16256, -128]> : vector<2xi16>) : vector<2xi16>
// CHECK: %[[L:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<2xi16>
// CHECK: llvm.br ^bb1(%[[L]] : vector<2xi16>)
// CHECK: ^bb1(%[[A:.*]]: vector<2xi16>):
// CHECK: %[[S:.*]] = llvm.select %{{.*}}, %[[A]], %[[C]] : i1, vector<2xi16>
// CHECK: llvm.extractelement %[[S]]{{.*}} : vector<2xi16>
// CHECK: llvm.store %{{.*}}, %{{.*}} : i16, !llvm.ptr
// CHECK-NOT: bf16
// CHECK: llvm.return
llvm.func @moves(%p: !llvm.ptr, %c: i1, %i: i32) {
  %x = llvm.mlir.constant(dense<[1.0, 0xFF80]> : vector<2xbf16>) : vector<2xbf16>
  %v = llvm.load %p : !llvm.ptr -> vector<2xbf16>
  llvm.br ^bb1(%v : vector<2xbf16>)
^bb1(%a: vector<2xbf16>):
  %s = llvm.select %c, %a, %x : i1, vector<2xbf16>
  %e = llvm.extractelement %s[%i : i32] : vector<2xbf16>
  llvm.store %e, %p : bf16, !llvm.ptr
  llvm.return
}

// Aggregates of vectors, as multi-dimensional vectors become.
// CHECK-LABEL: @aggregates
// CHECK: llvm.mlir.poison : !llvm.array<2 x vector<17xi16>>
// CHECK: llvm.insertvalue %{{.*}}, %{{.*}}[0] : !llvm.array<2 x vector<17xi16>>
// CHECK: llvm.extractvalue %{{.*}}[1] : !llvm.array<2 x vector<17xi16>>
// CHECK-NOT: bf16
// CHECK: llvm.return
llvm.func @aggregates(%p: !llvm.ptr) {
  %v = llvm.load %p : !llvm.ptr -> vector<17xbf16>
  %x = llvm.mlir.poison : !llvm.array<2 x vector<17xbf16>>
  %y = llvm.insertvalue %v, %x[0] : !llvm.array<2 x vector<17xbf16>>
  %e = llvm.extractvalue %y[1] : !llvm.array<2 x vector<17xbf16>>
  llvm.store %e, %p : vector<17xbf16>, !llvm.ptr
  llvm.return
}

// bf16 is the upper half of f32; rounding stays an operation, between casts.
// CHECK-LABEL: @conversions
// CHECK: %[[L:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<17xi16>
// CHECK: %[[Z:.*]] = llvm.zext %[[L]] : vector<17xi16> to vector<17xi32>
// CHECK: %[[N:.*]] = llvm.mlir.constant(dense<16> : vector<17xi32>) : vector<17xi32>
// CHECK: %[[H:.*]] = llvm.shl %[[Z]], %[[N]]
// CHECK: %[[F:.*]] = llvm.bitcast %[[H]] : vector<17xi32> to vector<17xf32>
// CHECK: %[[T:.*]] = llvm.fptrunc %[[F]] : vector<17xf32> to vector<17xbf16>
// CHECK: %[[B:.*]] = llvm.bitcast %[[T]] : vector<17xbf16> to vector<17xi16>
// CHECK: llvm.store %[[B]]
// A wider result than f32 is left to LLVM.
// CHECK: %[[E:.*]] = llvm.bitcast %{{.*}} : i16 to bf16
// CHECK: llvm.fpext %[[E]] : bf16 to f64
llvm.func @conversions(%p: !llvm.ptr) -> f64 {
  %v = llvm.load %p : !llvm.ptr -> vector<17xbf16>
  %f = llvm.fpext %v : vector<17xbf16> to vector<17xf32>
  %t = llvm.fptrunc %f : vector<17xf32> to vector<17xbf16>
  llvm.store %t, %p : vector<17xbf16>, !llvm.ptr
  %s = llvm.load %p : !llvm.ptr -> bf16
  %d = llvm.fpext %s : bf16 to f64
  llvm.return %d : f64
}

// Callers and intrinsics know bf16.
// CHECK-LABEL: @boundaries
// CHECK-SAME: (%[[X:.*]]: bf16, %[[P:.*]]: !llvm.ptr) -> bf16
// CHECK: %[[XB:.*]] = llvm.bitcast %[[X]] : bf16 to i16
// CHECK: llvm.store %[[XB]], %[[P]] : i16, !llvm.ptr
// CHECK: %[[V:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<32xi16>
// CHECK: %[[W:.*]] = llvm.bitcast %[[V]] : vector<32xi16> to vector<32xbf16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%{{.*}}, %[[W]], %{{.*}})
// CHECK: %[[R:.*]] = llvm.bitcast %[[XB]] : i16 to bf16
// CHECK: llvm.return %[[R]] : bf16
llvm.func @boundaries(%x: bf16, %p: !llvm.ptr) -> bf16 {
  llvm.store %x, %p : bf16, !llvm.ptr
  %v = llvm.load %p : !llvm.ptr -> vector<32xbf16>
  %sum = llvm.load %p : !llvm.ptr -> vector<16xf32>
  %r = llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%sum, %v, %v) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
  llvm.store %r, %p : vector<16xf32>, !llvm.ptr
  llvm.return %x : bf16
}

// An aggregate cannot be cast: the function stays as it is.
// CHECK-LABEL: @foreign
// CHECK: llvm.call @foreign(%{{.*}}) : (!llvm.array<2 x bf16>) -> !llvm.array<2 x bf16>
llvm.func @foreign(%x: !llvm.array<2 x bf16>) -> !llvm.array<2 x bf16> {
  %r = llvm.call @foreign(%x) : (!llvm.array<2 x bf16>) -> !llvm.array<2 x bf16>
  llvm.return %r : !llvm.array<2 x bf16>
}
