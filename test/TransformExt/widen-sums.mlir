// RUN: cwm-opt %s --transform-interpreter | FileCheck %s

// CHECK-LABEL: func.func @sum(
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<4x6xf32>)
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<4x8xbf16>, tensor<8x6xbf16>) outs(%[[FILL]] :
// CHECK: ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16, %[[S:.*]]: f32):
// CHECK-DAG: %[[X:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK-DAG: %[[Y:.*]] = arith.extf %[[B]] : bf16 to f32
// CHECK: %[[P:.*]] = arith.mulf %[[X]], %[[Y]] : f32
// CHECK: arith.addf %[[S]], %[[P]] : f32
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[SUM]] : tensor<4x6xf32>) outs(%{{.*}} : tensor<4x6xbf16>)
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @sum(%a: tensor<4x8xbf16>, %b: tensor<8x6xbf16>) -> tensor<4x6xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<4x6xbf16>
  %i = linalg.fill ins(%zero : bf16) outs(%e : tensor<4x6xbf16>) -> tensor<4x6xbf16>
  %r = linalg.matmul ins(%a, %b : tensor<4x8xbf16>, tensor<8x6xbf16>) outs(%i : tensor<4x6xbf16>) -> tensor<4x6xbf16>
  return %r : tensor<4x6xbf16>
}

// Sums in f32, and those that start from something else, stay.
// CHECK-LABEL: func.func @others(
// CHECK: linalg.matmul {{.*}} outs(%{{.*}} : tensor<4x6xf32>)
// CHECK: linalg.matmul {{.*}} outs(%{{.*}} : tensor<4x6xf16>)
// CHECK-NOT: linalg.generic
func.func @others(%a: tensor<4x8xf16>, %b: tensor<8x6xf16>, %c: tensor<4x6xf16>) -> (tensor<4x6xf32>, tensor<4x6xf16>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x6xf16>) outs(%i : tensor<4x6xf32>) -> tensor<4x6xf32>
  %s = linalg.matmul ins(%a, %b : tensor<4x8xf16>, tensor<8x6xf16>) outs(%c : tensor<4x6xf16>) -> tensor<4x6xf16>
  return %r, %s : tensor<4x6xf32>, tensor<4x6xf16>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %func {
      transform.apply_patterns.cwm.widen_sums
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    transform.yield
  }
}
