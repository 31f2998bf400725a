// Stock mlir-opt with the plugin: passes by --pass-pipeline (flags of plugin
// passes are not known to its command line), dialect by --load-dialect-plugin.
// RUN: mlir-opt --load-dialect-plugin=%cwm_plugin --load-pass-plugin=%cwm_plugin %S/../TransformExt/Inputs/payload.mlir \
// RUN:   --pass-pipeline='builtin.module(cwm-record{schedule=%S/../TransformExt/Inputs/control-flow.mlir output=%t.plugin.jsonl steps=all})' -o %t.plugin.out
// RUN: cwm-opt %S/../TransformExt/Inputs/payload.mlir \
// RUN:   --cwm-record="schedule=%S/../TransformExt/Inputs/control-flow.mlir output=%t.tool.jsonl steps=all" -o %t.tool.out
// RUN: cmp %t.plugin.jsonl %t.tool.jsonl
// RUN: cmp %t.plugin.out %t.tool.out

// RUN: mlir-opt --load-dialect-plugin=%cwm_plugin --load-pass-plugin=%cwm_plugin %S/../TransformExt/Inputs/control-flow.mlir \
// RUN:   --pass-pipeline='builtin.module(cwm-actions)' -o /dev/null | FileCheck %s --check-prefix=ACTIONS
// ACTIONS: structured.tile_using_for sizes=[32, 16] on linalg.matmul

// RUN: mlir-opt --load-dialect-plugin=%cwm_plugin %S/../Dialect/Cwm/ops.mlir | FileCheck %S/../Dialect/Cwm/ops.mlir

// The recording interpreter leaves the stock one in the same process as it is.
// RUN: mlir-opt --load-dialect-plugin=%cwm_plugin --load-pass-plugin=%cwm_plugin %s \
// RUN:   --pass-pipeline='builtin.module(cwm-record{output=%t.own.jsonl},transform-interpreter)' | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK-COUNT-2: scf.for
// CHECK: linalg.matmul
module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %0 = linalg.matmul ins(%a, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%a : tensor<16x16xf32>) -> tensor<16x16xf32>
    return %0 : tensor<16x16xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %mm = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %mm tile_sizes [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
