// A schedule of a user: the first region never applies to a matmul alone, so the
// payload decides for the second; a knob in each and one outside.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root
      : (!transform.any_op) -> !transform.any_op
    %scope = transform.alternatives %function : !transform.any_op -> !transform.any_op {
    ^bb0(%inner: !transform.any_op):
      %conv = transform.structured.match ops{["linalg.conv_2d"]} in %inner
        : (!transform.any_op) -> !transform.any_op
      %two:2 = transform.split_handle %conv : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
      %width = transform.tune.knob<"width"> options = [2, 4] -> !transform.param<i64>
      %tiled, %loop = transform.structured.tile_using_for %two#0 tile_sizes [%width]
        : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
      transform.yield %inner : !transform.any_op
    }, {
    ^bb0(%inner: !transform.any_op):
      %matmul = transform.structured.match ops{["linalg.matmul"]} in %inner
        : (!transform.any_op) -> !transform.any_op
      %tile = transform.tune.knob<"tile"> options = [1, 2, 4, 8] -> !transform.param<i64>
      %tiled, %loop = transform.structured.tile_using_for %matmul tile_sizes [%tile]
        : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
      transform.yield %inner : !transform.any_op
    }
    %fill = transform.structured.match ops{["linalg.fill"]} in %scope
      : (!transform.any_op) -> !transform.any_op
    %rows = transform.tune.knob<"rows"> options = [4, 8] -> !transform.param<i64>
    %tiled, %loop = transform.structured.tile_using_for %fill tile_sizes [%rows]
      : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
