// RUN: cwm-opt %S/Inputs/payload.mlir --cwm-record="schedule=%S/Inputs/control-flow.mlir space=test" -o /dev/null | FileCheck %s
// RUN: cwm-opt %S/Inputs/payload.mlir --cwm-record="schedule=%S/Inputs/control-flow.mlir steps=all" -o /dev/null | FileCheck %s --check-prefix=ALL
// RUN: cwm-opt %S/Inputs/payload.mlir --cwm-record="schedule=%S/Inputs/control-flow.mlir steps=changed states=hash" -o /dev/null | FileCheck %s --check-prefix=CHANGED --implicit-check-not='"text":"builtin'

// The candidate is what the run asked for, in the order of the names.
// CHECK: "actions":14,"candidate":"test{m=32,n=16,vectorise=1}"
// CHECK-SAME: "status":"ok"
// CHECK-SAME: "version":1
// CHECK-SAME: "workload":"[[WORKLOAD:[0-9a-f]+]]"
// CHECK-NEXT: {"hash":"[[WORKLOAD]]","index":0,"kind":"state","text":"builtin.module {\nfunc.func @0

// The interpreter's order.
// CHECK: "name":"foreach_match"
// CHECK: "iteration":0,{{.*}}"operands":["linalg.fill"]{{.*}}"text":"annotate name=\"matched\" on linalg.fill"
// CHECK: "iteration":1,{{.*}}"operands":["linalg.matmul"]{{.*}}"text":"annotate name=\"matched\" on linalg.matmul"
// CHECK: "status":"skipped","text":"structured.generalize on linalg.transpose"
// CHECK: "name":"include"
// CHECK: "operands":["linalg.matmul","32 : i64","16 : i64"]
// CHECK-SAME: "results":["linalg.matmul","scf.for","scf.for"]
// CHECK-SAME: "text":"structured.tile_using_for sizes=[32, 16] on linalg.matmul"
// CHECK: "name":"foreach","operands":["2 x scf.for"]
// CHECK: "iteration":0{{.*}}"text":"annotate name=\"first\" on scf.for"
// CHECK: "iteration":0{{.*}}"text":"annotate name=\"second\" on scf.for"
// CHECK: "iteration":1{{.*}}"text":"annotate name=\"first\" on scf.for"
// CHECK: "iteration":1{{.*}}"text":"annotate name=\"second\" on scf.for"
// CHECK: "changed":false,{{.*}}"name":"apply_cse"
// CHECK: "name":"apply_patterns"
// CHECK-SAME: "patterns":{"{{.*}}MultiReduceToContract":1

// The effective history, in the script's order. A state of the whole payload
// is known behind the last of several runs only.
// CHECK: {"index":0,"kind":"action","step":[[#]],"text":"annotate name=\"matched\" on linalg.matmul"}
// CHECK-NEXT: {"index":1,"kind":"action","step":[[#]],"text":"structured.generalize on linalg.transpose"}
// CHECK-NEXT: {"index":2,"kind":"action","state":2,"step":[[#]],"text":"annotate name=\"matched\" on linalg.fill"}
// CHECK-NEXT: {"index":3,"kind":"action","state":3,"step":[[#]],"text":"structured.tile_using_for sizes=[32, 16] on linalg.matmul"}
// CHECK-NEXT: {"index":4,"kind":"action","step":[[#]],"text":"annotate name=\"first\" on scf.for"}
// CHECK-NEXT: {"index":5,"kind":"action","state":7,"step":[[#]],"text":"annotate name=\"second\" on scf.for"}
// CHECK-NEXT: {"index":6,"kind":"action","state":8,"step":[[#]],"text":"annotate name=\"tiled\" on tiled linalg.matmul"}
// CHECK-NEXT: {"index":7,"kind":"action","state":8,"step":[[#]],"text":"annotate name=\"never\" on linalg.transpose"}
// CHECK-NEXT: {"index":8,"kind":"action","state":8,"step":[[#]],"text":"structured.generalize on linalg.transpose"}
// CHECK-NEXT: {"index":9,"kind":"action","state":9,"step":[[#]],"text":"apply_patterns body={canonicalization; linalg.tiling_canonicalization} on func.func"}

// ALL: "name":"match.operation_name","operands":["func.func"],"parent":[[#]],"role":"match","status":"silenceable"
// ALL: "name":"tune.knob"{{.*}}"results":["32 : i64"],"role":"handle"

// CHANGED: "name":"named_sequence"
// CHANGED-NOT: "changed":false
// CHANGED: "changed":true,{{.*}}"name":"structured.vectorize"
// CHANGED-NOT: "changed":false
// CHANGED: {"index":10,"kind":"action","state":[[#]],"text":"apply_cse on func.func"}
