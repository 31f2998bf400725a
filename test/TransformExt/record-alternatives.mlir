// RUN: cwm-opt %S/Inputs/payload.mlir --cwm-record="schedule=%S/Inputs/alternatives.mlir" -o /dev/null | FileCheck %s
// RUN: not cwm-opt %S/Inputs/alternatives.mlir --cwm-actions 2>&1 | FileCheck %s --check-prefix=STATIC

// The effective history has the region that stayed only; in between there is no
// state of the whole payload, because the region worked on a clone.
// CHECK: "actions":3
// CHECK: "detached":true,{{.*}}"iteration":0,{{.*}}"name":"structured.tile_using_for"{{.*}}"rolled_back":true
// CHECK: "detached":true,{{.*}}"iteration":0,{{.*}}"message":"failed to unroll, incorrect type of payload"{{.*}}"name":"loop.unroll"{{.*}}"rolled_back":true,"status":"silenceable"
// CHECK: "detached":true,{{.*}}"iteration":1,{{.*}}"name":"structured.tile_using_for"
// CHECK-NOT: rolled_back
// CHECK: {"index":0,"kind":"action","step":[[#]],"text":"structured.tile_using_for sizes=[16] on linalg.matmul"}
// CHECK-NEXT: {"index":1,"kind":"action","state":[[#]],"step":[[#]],"text":"annotate name=\"kept\" on tiled linalg.matmul"}
// CHECK-NEXT: {"index":2,"kind":"action","state":[[#]],"step":[[#]],"text":"apply_cse on func.func"}

// STATIC: alternatives.mlir:5:14: error: cannot derive actions: which region of 'transform.alternatives' applies depends on the payload
