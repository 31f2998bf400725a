// What comes out with recording is byte for byte what the stock interpreter
// makes: results, diagnostics, exit code.
// RUN: cat %S/Inputs/payload.mlir > %t.payload.mlir

// RUN: cwm-opt %t.payload.mlir --pass-pipeline='builtin.module(transform-preload-library{transform-library-paths=%S/Inputs/control-flow.mlir},transform-interpreter)' > %t.1.stock
// RUN: cwm-opt %t.payload.mlir --cwm-record="schedule=%S/Inputs/control-flow.mlir output=%t.jsonl steps=all states=payload format=mlir verify-steps=true" > %t.1.recorded
// RUN: cmp %t.1.stock %t.1.recorded
// RUN: FileCheck %s < %t.1.recorded
// CHECK: vector.contract

// RUN: cwm-opt %t.payload.mlir --pass-pipeline='builtin.module(transform-preload-library{transform-library-paths=%S/Inputs/alternatives.mlir},transform-interpreter)' > %t.2.stock
// RUN: cwm-opt %t.payload.mlir --cwm-record="schedule=%S/Inputs/alternatives.mlir output=%t.jsonl" > %t.2.recorded
// RUN: cmp %t.2.stock %t.2.recorded

// RUN: cwm-opt %t.payload.mlir --pass-pipeline='builtin.module(transform-preload-library{transform-library-paths=%S/Inputs/odd.mlir},transform-interpreter)' > %t.3.stock
// RUN: cwm-opt %t.payload.mlir --cwm-record="schedule=%S/Inputs/odd.mlir output=%t.jsonl" > %t.3.recorded
// RUN: cmp %t.3.stock %t.3.recorded

// With the schedule found through the preloaded library, and in the module.
// RUN: cwm-opt %t.payload.mlir --pass-pipeline='builtin.module(transform-preload-library{transform-library-paths=%S/Inputs/odd.mlir},cwm-record{output=%t.jsonl})' > %t.3.preloaded
// RUN: cmp %t.3.stock %t.3.preloaded
// RUN: cwm-opt %s --transform-interpreter > %t.4.stock
// RUN: cwm-opt %s --cwm-record="output=%t.jsonl" > %t.4.recorded
// RUN: cmp %t.4.stock %t.4.recorded

// RUN: not cwm-opt %t.payload.mlir --pass-pipeline='builtin.module(transform-preload-library{transform-library-paths=%S/Inputs/silenceable.mlir},transform-interpreter)' > %t.5.stock 2>&1
// RUN: not cwm-opt %t.payload.mlir --cwm-record="schedule=%S/Inputs/silenceable.mlir output=%t.jsonl" > %t.5.recorded 2>&1
// RUN: cmp %t.5.stock %t.5.recorded
// RUN: not cwm-opt %t.payload.mlir --pass-pipeline='builtin.module(transform-preload-library{transform-library-paths=%S/Inputs/definite.mlir},transform-interpreter)' > %t.6.stock 2>&1
// RUN: not cwm-opt %t.payload.mlir --cwm-record="schedule=%S/Inputs/definite.mlir output=%t.jsonl" > %t.6.recorded 2>&1
// RUN: cmp %t.6.stock %t.6.recorded
// RUN: not cwm-opt %t.payload.mlir --pass-pipeline='builtin.module(transform-preload-library{transform-library-paths=%S/Inputs/stale-handle.mlir},transform-interpreter)' > %t.7.stock 2>&1
// RUN: not cwm-opt %t.payload.mlir --cwm-record="schedule=%S/Inputs/stale-handle.mlir output=%t.jsonl" > %t.7.recorded 2>&1
// RUN: cmp %t.7.stock %t.7.recorded

module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%a : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %mm = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %mm tile_sizes [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.apply_cse to %func : !transform.any_op
    transform.yield
  }
}
