// Fails silently at first, where it is suppressed, then for good.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @unroll(%root: !transform.any_op {transform.readonly}) {
    %mm = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.annotate %mm "tried" : !transform.any_op
    transform.loop.unroll %mm {factor = 2 : i64} : !transform.any_op
    transform.annotate %root "reached" : !transform.any_op
    transform.yield
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    transform.include @unroll failures(suppress) (%root) : (!transform.any_op) -> ()
    transform.include @unroll failures(propagate) (%root) : (!transform.any_op) -> ()
    transform.apply_cse to %root : !transform.any_op
    transform.yield
  }
}
