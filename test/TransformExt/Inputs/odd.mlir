// Erased payload ops, empty handles, parameters of all sorts, value handles.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %none = transform.structured.match ops{["linalg.transpose"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.annotate %none "nobody" : !transform.any_op
    transform.apply_cse to %none : !transform.any_op
    %mm = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %text = transform.param.constant "two\nlines" -> !transform.any_param
    %type = transform.param.constant tensor<4xf32> -> !transform.type
    %big = transform.param.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]> : tensor<20xi64> -> !transform.any_param
    transform.annotate %mm "text" = %text : !transform.any_op, !transform.any_param
    transform.annotate %mm "big" = %big : !transform.any_op, !transform.any_param
    %value = transform.get_operand %mm[0] : (!transform.any_op) -> !transform.any_value
    %all = transform.structured.match ops{["linalg.fill", "linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %generic = transform.structured.generalize %mm : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
