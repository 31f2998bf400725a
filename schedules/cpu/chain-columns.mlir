// Chains of elementwise ops and reductions whose innermost dimension stays in the
// result: elementwise ops with broadcasts, copies that keep rows, reductions over
// leading or middle dimensions, softmax over channels. A strip of the innermost
// dimension, vectors wide, goes through the whole chain; reductions keep it in
// registers and walk down its columns. The last strip may be narrower.
//
// Knobs of the search:
//   tile  tile sizes of the last op: the strip's width last, 1 for other
//         dimensions, 0 down the columns
//   kt    unrolled steps down the columns; must divide their length
// Structure, from the payload:
//   planes  1 for reductions over two dimensions with another between them that
//           stays: columns of columns
//   find, collapse, results, last  as in chain-rows
//   threads, share  1 where parts of the result are shared out among threads, and
//             their sizes

module attributes {transform.with_named_sequence} {

transform.named_sequence @cwm_normalise_chain(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_producer(!transform.any_op {transform.readonly}) -> !transform.any_op
transform.named_sequence @cwm_reshaped_producer(!transform.any_op {transform.readonly}) -> !transform.any_op
transform.named_sequence @cwm_result_producer(!transform.any_op {transform.readonly}) -> !transform.any_op
transform.named_sequence @cwm_reshaped_result_producer(!transform.any_op {transform.readonly}) -> !transform.any_op
transform.named_sequence @cwm_peel_all(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_share(!transform.any_op {transform.readonly}, !transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_clean_up(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_fold_unit_dims(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_vectorise_chain(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_hoist(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_bufferise(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_lower_vectors(!transform.any_op {transform.readonly})

transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
  %kt = transform.tune.knob<"kt"> options = [1, 2, 4, 8] {cwm.default = 4 : i64} -> !transform.param<i64>

  %func0 = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
  %func1 = transform.include @cwm_normalise_chain failures(propagate) (%func0) : (!transform.any_op) -> !transform.any_op
  %func = transform.apply_registered_pass "canonicalize" to %func1 {cwm.bind = {pass_name = {knob = "collapse", options = ["canonicalize"]}}} : (!transform.any_op) -> !transform.any_op
  transform.bufferization.eliminate_empty_tensors %func : !transform.any_op
  %last = transform.include @cwm_producer failures(propagate) (%func) {cwm.bind = {target = {knob = "find", options = [@cwm_producer]}}} : (!transform.any_op) -> !transform.any_op
  %part = transform.tune.alternatives<"threads"> -> !transform.any_op {
    transform.yield %last : !transform.any_op
  }, {
    %shared = transform.include @cwm_share failures(propagate) (%func, %last) : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield %shared : !transform.any_op
  }
  transform.tune.alternatives<"results"> {
    %outer = transform.structured.fuse %part tile_sizes [0] {cwm.bind = {static_tile_sizes = {knob = "tile", options = [array<i64: 0>]}}} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }, {
    %outer = transform.cwm.fuse_results %part tile_sizes = [0] {cwm.bind = {tile_sizes = "tile"}} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
  %peeled = transform.include @cwm_peel_all failures(propagate) (%func) : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_clean_up failures(propagate) (%peeled) : (!transform.any_op) -> ()
  %fill = transform.structured.match ops{["linalg.fill"]} in %peeled : (!transform.any_op) -> !transform.any_op
  %generic_fill = transform.structured.generalize %fill : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_fold_unit_dims failures(propagate) (%peeled) : (!transform.any_op) -> ()

  transform.tune.alternatives<"planes"> {
    transform.yield
  }, {
    %planes = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>]} in %peeled : (!transform.any_op) -> !transform.any_op
    transform.foreach %planes : !transform.any_op {
    ^bb0(%op: !transform.any_op):
      %step, %step_loops:2 = transform.structured.tile_using_for %op tile_sizes [1, %kt] : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    }
    %reduced = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>]} in %peeled : (!transform.any_op) -> !transform.any_op
    transform.foreach %reduced : !transform.any_op {
    ^bb0(%op: !transform.any_op):
      %step, %step_loops:2 = transform.structured.tile_using_for %op tile_sizes [1, %kt] : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    }
    transform.include @cwm_clean_up failures(propagate) (%peeled) : (!transform.any_op) -> ()
    transform.include @cwm_fold_unit_dims failures(propagate) (%peeled) : (!transform.any_op) -> ()
    transform.yield
  }
  %elementwise = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>]} in %peeled : (!transform.any_op) -> !transform.any_op
  transform.foreach %elementwise : !transform.any_op {
  ^bb0(%op: !transform.any_op):
    %step, %step_loop = transform.structured.tile_using_for %op tile_sizes [%kt] : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
  }
  %reductions = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>]} in %peeled : (!transform.any_op) -> !transform.any_op
  transform.foreach %reductions : !transform.any_op {
  ^bb0(%op: !transform.any_op):
    %step, %step_loop = transform.structured.tile_using_for %op tile_sizes [%kt] : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
  }
  transform.include @cwm_clean_up failures(propagate) (%peeled) : (!transform.any_op) -> ()
  transform.include @cwm_fold_unit_dims failures(propagate) (%peeled) : (!transform.any_op) -> ()

  transform.include @cwm_vectorise_chain failures(propagate) (%peeled) : (!transform.any_op) -> ()
  transform.include @cwm_hoist failures(propagate) (%peeled) : (!transform.any_op) -> ()
  %lowered = transform.include @cwm_bufferise failures(propagate) (%root) : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_lower_vectors failures(propagate) (%lowered) : (!transform.any_op) -> ()
  transform.yield
}

}
