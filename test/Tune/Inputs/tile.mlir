// A schedule of a user: one knob with eight options, stock ops only.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root
      : (!transform.any_op) -> !transform.any_op
    %tile = transform.tune.knob<"tile"> options = {lower_bound = 1, upper_bound = 8, divisible_by = 1}
      -> !transform.param<i64>
    %tiled, %loop = transform.structured.tile_using_for %matmul tile_sizes [%tile]
      : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
