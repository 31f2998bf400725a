// RUN: cwm-opt %s --split-input-file --transform-interpreter --cse --canonicalize | FileCheck %s

// Each result has an op that reads what it needs.
// CHECK-LABEL: @sums
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4xf32>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[O:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[O]]
// CHECK-NEXT: linalg.yield %[[S]] : f32
// CHECK: %[[SQUARES:.*]] = linalg.generic
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: return %[[SUM]], %[[SQUARES]]
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
module attributes {transform.with_named_sequence} {
  func.func @sums(%x: tensor<4x8xf32>, %f: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %r:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%f, %g : tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%a: f32, %o: f32, %p: f32):
      %q = arith.mulf %a, %a : f32
      %s = arith.addf %a, %o : f32
      %t = arith.addf %q, %p : f32
      linalg.yield %s, %t : f32, f32
    } -> (tensor<4xf32>, tensor<4xf32>)
    return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %func {
      transform.apply_patterns.cwm.split_results
    } : !transform.any_op
    transform.yield
  }
}

// -----

// The place of a maximum depends on the maximum so far; elementwise ops stay.
// CHECK-LABEL: @dependent
// CHECK: linalg.generic
// CHECK: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: i64):
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, i64
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK-NOT: linalg.generic
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
module attributes {transform.with_named_sequence} {
  func.func @dependent(%x: tensor<4x8xf32>, %f: tensor<4xf32>, %g: tensor<4xi64>, %e: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>, tensor<4x8xf32>, tensor<4x8xf32>) {
    %r:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%f, %g : tensor<4xf32>, tensor<4xi64>) {
    ^bb0(%a: f32, %o: f32, %p: i64):
      %k = linalg.index 1 : index
      %l = arith.index_cast %k : index to i64
      %c = arith.cmpf ogt, %a, %o : f32
      %v = arith.maximumf %a, %o : f32
      %w = arith.select %c, %l, %p : i64
      linalg.yield %v, %w : f32, i64
    } -> (tensor<4xf32>, tensor<4xi64>)
    %s:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e, %e : tensor<4x8xf32>, tensor<4x8xf32>) {
    ^bb0(%a: f32, %o: f32, %p: f32):
      %v = arith.negf %a : f32
      %w = math.exp %a : f32
      linalg.yield %v, %w : f32, f32
    } -> (tensor<4x8xf32>, tensor<4x8xf32>)
    return %r#0, %r#1, %s#0, %s#1 : tensor<4xf32>, tensor<4xi64>, tensor<4x8xf32>, tensor<4x8xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %func {
      transform.apply_patterns.cwm.split_results
    } : !transform.any_op
    transform.yield
  }
}
