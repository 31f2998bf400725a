module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %mm = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.annotate %mm "before" : !transform.any_op
    %func = transform.apply_registered_pass "no-such-pass" to %mm : (!transform.any_op) -> !transform.any_op
    transform.annotate %func "after" : !transform.any_op
    transform.yield
  }
}
