// A schedule of one's own, tuned with
//   cwm-tune payload.mlir --schedule=examples/tile-and-vectorise.mlir
// It tiles the matrix product of a payload twice and vectorises. Upstream ops; what is open are knobs.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root
      : (!transform.any_op) -> !transform.any_op

    // The block that stays in a cache.
    %mc = transform.tune.knob<"mc"> options = [16, 32, 64, 128] -> !transform.param<i64>
    %nc = transform.tune.knob<"nc"> options = {lower_bound = 32, upper_bound = 256, divisible_by = 32}
      -> !transform.param<i64>
    transform.smt.constrain_params(%mc, %nc) : (!transform.param<i64>, !transform.param<i64>) -> () {
    ^bb0(%m: !smt.int, %n: !smt.int):
      %limit = smt.int.constant 16384
      %area = smt.int.mul %m, %n
      %fits = smt.int.cmp le %area, %limit
      smt.assert %fits
      smt.yield
    }
    %block, %outer:2 = transform.structured.tile_using_for %matmul tile_sizes [%mc, %nc, 0]
      : (!transform.any_op, !transform.param<i64>, !transform.param<i64>)
      -> (!transform.any_op, !transform.any_op, !transform.any_op)

    // The tile that stays in registers.
    %mr = transform.tune.knob<"mr"> options = [2, 4, 8] -> !transform.param<i64>
    %nr = transform.tune.knob<"nr"> options = [8, 16, 32] -> !transform.param<i64>
    %tile, %inner:3 = transform.structured.tile_using_for %block tile_sizes [%mr, %nr, 8]
      {cwm.bind = {interchange = {knob = "order", options = [array<i64: 0, 1, 2>, array<i64: 1, 0, 2>]}}}
      : (!transform.any_op, !transform.param<i64>, !transform.param<i64>)
      -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)

    transform.tune.alternatives<"body"> {
      %f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
      %v = transform.structured.vectorize_children_and_apply_patterns %f
        : (!transform.any_op) -> !transform.any_op
    }, {
    }
    transform.yield
  }
}
