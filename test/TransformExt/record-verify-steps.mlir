// The interpreter leaves the verification to the pass manager, at the very end;
// here the step is named that broke the payload, and the rest stays as it was.
// RUN: not cwm-opt %s --cwm-record="verify-steps=true output=%t.jsonl" 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=STEP < %t.jsonl
// RUN: not cwm-opt %s --cwm-record="output=%t.jsonl" 2>&1 | FileCheck %s --check-prefix=OFF

// CHECK: warning: the payload is invalid behind 'annotate' (record-verify-steps.mlir:[[#@LINE+18]]:5): {{.*}}target_tag
// CHECK: error: {{.*}}target_tag
// OFF-NOT: warning
// OFF: error: {{.*}}target_tag

// STEP: "name":"annotate"{{.*}}"status":"ok","text":"annotate name=\"harmless\"
// STEP: "invalid":"{{.*}}target_tag{{.*}}","kind":"step"{{.*}}"name":"annotate"

module attributes {transform.with_named_sequence} {
  func.func @f(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = linalg.matmul ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%a : tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %mm = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %one = transform.param.constant 1 : i64 -> !transform.param<i64>
    transform.annotate %mm "harmless" = %one : !transform.any_op, !transform.param<i64>

    transform.annotate %mm "transform.target_tag" = %one : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}
