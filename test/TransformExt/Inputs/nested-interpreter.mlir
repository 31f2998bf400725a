module attributes {transform.with_named_sequence} {
  transform.named_sequence @other(%f: !transform.any_op {transform.readonly}) {
    %mm = transform.structured.match ops{["linalg.matmul"]} in %f : (!transform.any_op) -> !transform.any_op
    transform.annotate %mm "x" : !transform.any_op
    transform.yield
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %g = transform.apply_registered_pass "transform-interpreter" with options = {"entry-point" = "other"} to %f : (!transform.any_op) -> !transform.any_op
    transform.annotate %g "y" : !transform.any_op
    transform.yield
  }
}
