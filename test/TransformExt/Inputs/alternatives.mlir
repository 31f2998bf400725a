// The first region changes its clone and fails; the second one stays.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %func2 = transform.alternatives %func : !transform.any_op -> !transform.any_op {
    ^bb0(%f: !transform.any_op):
      %mm = transform.structured.match ops{["linalg.matmul"]} in %f : (!transform.any_op) -> !transform.any_op
      %t, %l = transform.structured.tile_using_for %mm tile_sizes [8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
      transform.loop.unroll %t {factor = 2 : i64} : !transform.any_op
      transform.yield %f : !transform.any_op
    }, {
    ^bb0(%f: !transform.any_op):
      %mm = transform.structured.match ops{["linalg.matmul"]} in %f : (!transform.any_op) -> !transform.any_op
      %t, %l = transform.structured.tile_using_for %mm tile_sizes [16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
      transform.annotate %t "kept" : !transform.any_op
      transform.yield %f : !transform.any_op
    }
    transform.apply_cse to %func2 : !transform.any_op
    transform.yield
  }
}
