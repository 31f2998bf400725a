// A pass that a schedule runs may be the interpreter again, on a part of the
// payload: its steps are nested, its states those of the whole.
// RUN: cwm-opt %S/Inputs/payload.mlir -o /dev/null --pass-pipeline='builtin.module(transform-preload-library{transform-library-paths=%S/Inputs/nested-interpreter.mlir},cwm-record)' | FileCheck %s

// CHECK: "actions":2,{{.*}}"states":3,
// CHECK-NOT: detached
// CHECK: "index":2,{{.*}}"name":"apply_registered_pass"
// CHECK: "after":1,"before":0,{{.*}}"name":"annotate"{{.*}}"text":"annotate name=\"x\" on linalg.matmul"
// CHECK: "after":2,"before":1,{{.*}}"name":"annotate"{{.*}}"text":"annotate name=\"y\" on func.func"
