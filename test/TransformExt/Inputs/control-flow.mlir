// Each way in which the interpreter runs one op from within another.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @is_matmul(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.operation_name %op ["linalg.matmul"] : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @is_fill(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.operation_name %op ["linalg.fill"] : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @is_transpose(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.operation_name %op ["linalg.transpose"] : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @tag(%op: !transform.any_op {transform.readonly}) {
    transform.annotate %op "matched" : !transform.any_op
    transform.yield
  }
  transform.named_sequence @generalize(%op: !transform.any_op {transform.consumed}) {
    %g = transform.structured.generalize %op : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
  transform.named_sequence @tile(%op: !transform.any_op {transform.consumed}, %size: !transform.param<i64> {transform.readonly}) -> (!transform.any_op, !transform.any_op) {
    %n = transform.tune.knob<"n"> = 16 : i64 from options = [16 : i64, 32 : i64] -> !transform.param<i64>
    %t, %l:2 = transform.structured.tile_using_for %op tile_sizes [%size, %n] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield %t, %l#1 : !transform.any_op, !transform.any_op
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    // The payload is walked fill first, the pairs are in another order.
    %r = transform.foreach_match in %root
        @is_matmul -> @tag, @is_transpose -> @generalize, @is_fill -> @tag
        : (!transform.any_op) -> !transform.any_op
    %mm = transform.structured.match ops{["linalg.matmul"]} in %r : (!transform.any_op) -> !transform.any_op
    %m = transform.tune.knob<"m"> = 32 : i64 from options = [32 : i64, 64 : i64] -> !transform.param<i64>
    %t, %l = transform.include @tile failures(propagate) (%mm, %m) : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    %func = transform.structured.match ops{["func.func"]} in %r : (!transform.any_op) -> !transform.any_op

    // A loop that runs twice, one that runs once, one that never runs.
    %loops = transform.structured.match ops{["scf.for"]} in %func : (!transform.any_op) -> !transform.any_op
    transform.foreach %loops : !transform.any_op {
    ^bb0(%x: !transform.any_op):
      transform.annotate %x "first" : !transform.any_op
      transform.annotate %x "second" : !transform.any_op
    }
    transform.foreach %t : !transform.any_op {
    ^bb0(%x: !transform.any_op):
      transform.annotate %x "tiled" : !transform.any_op
    }
    %none = transform.structured.match ops{["linalg.transpose"]} in %func : (!transform.any_op) -> !transform.any_op
    transform.foreach %none : !transform.any_op {
    ^bb0(%x: !transform.any_op):
      transform.annotate %x "never" : !transform.any_op
      transform.include @generalize failures(propagate) (%x) : (!transform.any_op) -> ()
    }

    transform.apply_patterns to %func {
      transform.apply_patterns.canonicalization
      transform.apply_patterns.linalg.tiling_canonicalization
    } : !transform.any_op
    transform.apply_cse to %func : !transform.any_op
    transform.tune.alternatives<"vectorise"> selected_region = 1 {
      transform.yield
    }, {
      %kernel = transform.structured.match ops{["linalg.matmul"]} in %func : (!transform.any_op) -> !transform.any_op
      transform.structured.vectorize %kernel : !transform.any_op
      transform.yield
    }
    %func2 = transform.apply_registered_pass "canonicalize" to %func : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %func2 {
      transform.apply_patterns.vector.reduction_to_contract
    } : !transform.any_op
    transform.yield
  }
}
