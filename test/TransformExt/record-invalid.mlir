// RUN: not cwm-opt %S/Inputs/payload.mlir --cwm-record="schedule=%S/Inputs/no-such-file.mlir" 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not cwm-opt %s --cwm-record 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not cwm-opt %S/Inputs/payload.mlir --cwm-record="schedule=%S/Inputs/odd.mlir entry-point=other" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not cwm-opt %S/Inputs/payload.mlir --cwm-record="schedule=%S/Inputs/odd.mlir output=%t.dir/none/t.jsonl" 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not cwm-opt %S/Inputs/payload.mlir --cwm-record="schedule=%S/Inputs/odd.mlir states=payload" 2>&1 | FileCheck %s --check-prefix=STATES
// RUN: not cwm-opt %S/Inputs/payload.mlir --cwm-record="schedule=%S/Inputs/odd.mlir output=/dev/full" 2>&1 | FileCheck %s --check-prefix=FULL

// FILE: error: {{.*}}no-such-file.mlir
// ENTRY: error: {{.*}}could not find a nested named sequence with name: __transform_main
// OTHER: error: {{.*}}could not find a nested named sequence with name: other
// OUTPUT: error: cannot write the trajectory: cannot open output file {{.*}}none/t.jsonl
// STATES: error: states=payload needs format=mlir: JSON Lines hold text only
// FULL: error: cannot write '/dev/full': {{[Nn]o space left on device}}

func.func @f() { return }
