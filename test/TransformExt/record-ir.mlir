// RUN: cwm-opt %S/Inputs/payload.mlir --cwm-record="schedule=%S/Inputs/alternatives.mlir output=%t.mlir" -o /dev/null
// RUN: cwm-opt %t.mlir | FileCheck %s
// RUN: cwm-opt %S/Inputs/payload.mlir --cwm-record="schedule=%S/Inputs/control-flow.mlir output=%t.2.mlir steps=all states=payload" -o %t.result.mlir
// RUN: cwm-opt %t.2.mlir | FileCheck %s --check-prefix=PAYLOAD
// RUN: cwm-opt %S/Inputs/payload.mlir --cwm-record="schedule=%S/Inputs/control-flow.mlir format=mlir states=hash" -o /dev/null | cwm-opt | FileCheck %s --check-prefix=HASH

// CHECK: cwm.trajectory workload "[[WORKLOAD:[0-9a-f]+]]" status ok {
// CHECK-NEXT: cwm.state 0 "[[WORKLOAD]]" text "builtin.module {\0Afunc.func
// CHECK: cwm.state 1 "{{.*}}" detached text "func.func
// CHECK: cwm.step 0 depth 0 control "named_sequence" ok states 0 -> [[#]]
// CHECK: cwm.step [[#STEP:]] in [[#]] depth 2 action "structured.tile_using_for" ok states 1 -> 2 {
// CHECK-SAME: rolled_back
// CHECK: cwm.action 0 "structured.tile_using_for sizes=[16] on linalg.matmul" step [[#]]
// CHECK: cwm.action 2 "apply_cse on func.func" step [[#]] state [[#]]

// PAYLOAD: candidate <"schedule", {m = 32 : i64, n = 16 : i64, vectorise = 1 : index}>
// PAYLOAD: cwm.state 0 "{{.*}}" payload {
// PAYLOAD-NEXT: builtin.module
// PAYLOAD: linalg.matmul
// PAYLOAD: cwm.state 1

// HASH: cwm.state 0 "{{[0-9a-f]+}}"{{$}}
