// RUN: not cwm-opt %S/Inputs/payload.mlir --cwm-record="schedule=%S/Inputs/silenceable.mlir" 2>&1 -o /dev/null | FileCheck %s --check-prefix=SILENCEABLE
// RUN: not cwm-opt %S/Inputs/payload.mlir --cwm-record="schedule=%S/Inputs/definite.mlir" 2>&1 -o /dev/null | FileCheck %s --check-prefix=DEFINITE
// RUN: not cwm-opt %S/Inputs/payload.mlir --cwm-record="schedule=%S/Inputs/stale-handle.mlir" 2>&1 -o /dev/null | FileCheck %s --check-prefix=STALE

// The diagnostics are the interpreter's; the trajectory is written all the same.
// SILENCEABLE: error: failed to unroll, incorrect type of payload
// SILENCEABLE: "actions":4,{{.*}}"message":"failed to unroll, incorrect type of payload"{{.*}}"status":"silenceable"
// Where it was suppressed the interpreter went on behind it.
// SILENCEABLE: "index":1,{{.*}}"name":"include"{{.*}}"status":"ok"
// SILENCEABLE: "message":"failed to unroll, incorrect type of payload","name":"loop.unroll"{{.*}}"status":"silenceable"
// SILENCEABLE: "text":"annotate name=\"reached\" on root"
// SILENCEABLE: "message":"failed to unroll, incorrect type of payload","name":"include"{{.*}}"status":"silenceable"
// SILENCEABLE: "index":0,"kind":"action",{{.*}}"text":"annotate name=\"tried\" on linalg.matmul"
// What was suppressed counts as an action that did nothing: the script alone
// does not tell that it fails.
// SILENCEABLE-NEXT: "index":1,"kind":"action",{{.*}}"text":"loop.unroll {{.*}} on linalg.matmul"
// SILENCEABLE-NEXT: "index":2,"kind":"action",{{.*}}"text":"annotate name=\"reached\" on root"
// SILENCEABLE-NEXT: "index":3,"kind":"action",{{.*}}"text":"annotate name=\"tried\" on linalg.matmul"
// SILENCEABLE-NOT: "kind":"action"

// DEFINITE: error: unknown pass or pass pipeline: no-such-pass
// DEFINITE: "actions":1,{{.*}}"status":"definite"
// DEFINITE: "message":"unknown pass or pass pipeline: no-such-pass","name":"apply_registered_pass"{{.*}}"status":"definite"

// STALE: error: op uses a handle invalidated by a previously executed transform op
// STALE: "message":"op uses a handle invalidated by a previously executed transform op","name":"named_sequence"
