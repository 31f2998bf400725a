module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %1, %l1 = transform.structured.tile_using_for %0 tile_sizes [-8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
