// RUN: cwm-opt %S/../TransformExt/Inputs/control-flow.mlir --cwm-actions -o /dev/null | FileCheck %s
// RUN: not cwm-opt %s --cwm-actions 2>&1 | FileCheck %s --check-prefix=ENTRY

// What is derived without a payload is what was recorded with one.
// RUN: cwm-opt %S/../TransformExt/Inputs/control-flow.mlir --cwm-actions -o /dev/null > %t.static
// RUN: cwm-opt %S/../TransformExt/Inputs/payload.mlir -o /dev/null \
// RUN:   --cwm-record="schedule=%S/../TransformExt/Inputs/control-flow.mlir output=%t.jsonl"
// RUN: %python -c "import json, sys; [print(o['text']) for o in map(json.loads, open(sys.argv[1])) if o['kind'] == 'action']" %t.jsonl > %t.recorded
// RUN: diff %t.static %t.recorded

// CHECK: annotate name="matched" on linalg.matmul
// CHECK-NEXT: structured.generalize on linalg.transpose
// CHECK-NEXT: annotate name="matched" on linalg.fill
// CHECK-NEXT: structured.tile_using_for sizes=[32, 16] on linalg.matmul

// ENTRY: error: cannot derive actions: no entry point @__transform_main in the script
func.func @f() { return }
