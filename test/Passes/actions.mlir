// RUN: cwm-opt %S/../TransformExt/Inputs/control-flow.mlir --cwm-actions -o /dev/null | FileCheck %s
// RUN: not cwm-opt %s --cwm-actions 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not cwm-opt %S/../TransformExt/Inputs/matmul-packed.mlir --cwm-actions 2>&1 | FileCheck %s --check-prefix=UNBOUND

// What is derived without a payload is what was recorded with one.
// DEFINE: %{texts} = %python -c "import json, sys; [print(o['text']) for o in map(json.loads, open(sys.argv[1])) if o['kind'] == 'action']"
// RUN: cwm-opt %S/../TransformExt/Inputs/control-flow.mlir --cwm-actions -o /dev/null > %t.1.static
// RUN: cwm-opt %S/../TransformExt/Inputs/payload.mlir --cwm-record="schedule=%S/../TransformExt/Inputs/control-flow.mlir output=%t.jsonl" -o /dev/null
// RUN: %{texts} %t.jsonl > %t.1.recorded
// RUN: diff %t.1.static %t.1.recorded

// RUN: cwm-opt %S/../TransformExt/Inputs/matmul-packed.mlir --cwm-bind --cwm-actions -o %t.2.bound.mlir > %t.2.static
// RUN: FileCheck %s --check-prefix=MATMUL < %t.2.static
// RUN: cwm-opt %S/../TransformExt/Inputs/payload.mlir --cwm-record="schedule=%t.2.bound.mlir output=%t.jsonl" -o /dev/null
// RUN: %{texts} %t.jsonl > %t.2.recorded
// RUN: diff %t.2.static %t.2.recorded

// RUN: cwm-opt %S/../TransformExt/Inputs/matmul-packed.mlir --cwm-bind="knobs=mr=4,unroll=1,factor=4" --cwm-actions -o %t.3.bound.mlir > %t.3.static
// RUN: cwm-opt %S/../TransformExt/Inputs/payload.mlir --cwm-record="schedule=%t.3.bound.mlir output=%t.jsonl" -o /dev/null
// RUN: %{texts} %t.jsonl > %t.3.recorded
// RUN: diff %t.3.static %t.3.recorded
// RUN: FileCheck %s --check-prefix=UNROLLED < %t.3.recorded

// CHECK: annotate name="matched" on linalg.matmul
// CHECK-NEXT: structured.generalize on linalg.transpose
// CHECK-NEXT: annotate name="matched" on linalg.fill
// CHECK-NEXT: structured.tile_using_for sizes=[32, 16] on linalg.matmul

// MATMUL: structured.pack packed_sizes=[8, 16, 4] on linalg.matmul
// MATMUL-NEXT: structured.pack_transpose inner_perm=[1, 0] outer_perm=[1, 0] on linalg.pack for operand 1 of linalg.generic from structured.pack#0, linalg.generic from structured.pack#0
// MATMUL: structured.tile_using_for sizes=[8, 16] on linalg.unpack
// MATMUL-NOT: loop.unroll
// UNROLLED: structured.pack packed_sizes=[4, 16, 4] on linalg.matmul
// UNROLLED: loop.unroll factor=4 on loop 0 of structured.tile_using_for
// UNROLLED: structured.tile_using_for sizes=[4, 16] on linalg.unpack

// ENTRY: error: cannot derive actions: no entry point @__transform_main in the script
// UNBOUND: error: cannot derive actions: knob 'mr' is not bound
func.func @f() { return }
