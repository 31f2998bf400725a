// Chains of elementwise ops and reductions along contiguous rows: softmax,
// normalisations and their pieces, sums and maxima over trailing dimensions, each
// with what comes before and after. One row at a time goes through the whole
// chain and stays in the first-level cache; every op walks along it in steps of
// `vt` elements, reductions with as many partial results in registers, which are
// combined after the row. What is left of a row is a shorter vector. Reductions
// over two dimensions with another between them that stays (statistics of a
// channel over a batch of images) are rows of rows: the partial results stay in
// registers through all of them.
//
// Knobs of the search:
//   vt  elements of a step
// Structure, from the payload:
//   rows      tile sizes of the last op: 1 for rows, 0 along them
//   find      sequence that finds the last op
//   collapse  pass that merges dimensions which lie together in all operands,
//             or one that does nothing
//   planes    1 for rows of rows
//   results   1 where the function has several, which takes an op of cwm
//   last      which of them the last op gives
//   parallel  rows are shared out among threads

module attributes {transform.with_named_sequence} {

transform.named_sequence @cwm_normalise_chain(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_producer(!transform.any_op {transform.readonly}) -> !transform.any_op
transform.named_sequence @cwm_reshaped_producer(!transform.any_op {transform.readonly}) -> !transform.any_op
transform.named_sequence @cwm_result_producer(!transform.any_op {transform.readonly}) -> !transform.any_op
transform.named_sequence @cwm_reshaped_result_producer(!transform.any_op {transform.readonly}) -> !transform.any_op
transform.named_sequence @cwm_peel_all(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_clean_up(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_fold_unit_dims(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_vectorise_chain(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_hoist(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_bufferise(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_lower_vectors(!transform.any_op {transform.readonly})

transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
  %vt = transform.tune.knob<"vt"> options = [16, 32, 64, 128] {cwm.default = 64 : i64} -> !transform.param<i64>

  %func0 = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
  %func1 = transform.include @cwm_normalise_chain failures(propagate) (%func0) : (!transform.any_op) -> !transform.any_op
  %func = transform.apply_registered_pass "canonicalize" to %func1 {cwm.bind = {pass_name = {knob = "collapse", options = ["canonicalize"]}}} : (!transform.any_op) -> !transform.any_op
  transform.bufferization.eliminate_empty_tensors %func : !transform.any_op
  %last = transform.include @cwm_producer failures(propagate) (%func) {cwm.bind = {target = {knob = "find", options = [@cwm_producer]}}} : (!transform.any_op) -> !transform.any_op
  transform.tune.alternatives<"results"> {
    %outer = transform.structured.fuse %last tile_sizes [0] {cwm.bind = {static_tile_sizes = {knob = "rows", options = [array<i64: 0>]}, use_forall = {knob = "parallel", options = [false]}}} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }, {
    %outer = transform.cwm.fuse_results %last tile_sizes = [0] {cwm.bind = {tile_sizes = "rows"}} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  %fill = transform.structured.match ops{["linalg.fill"]} in %func : (!transform.any_op) -> !transform.any_op
  %generic_fill = transform.structured.generalize %fill : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_fold_unit_dims failures(propagate) (%func) : (!transform.any_op) -> ()

  transform.tune.alternatives<"planes"> {
    transform.yield
  }, {
    transform.include @rows_of_planes failures(propagate) (%func) : (!transform.any_op) -> ()
    transform.yield
  }
  %elementwise = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>]} in %func : (!transform.any_op) -> !transform.any_op
  transform.foreach %elementwise : !transform.any_op {
  ^bb0(%op: !transform.any_op):
    %step, %step_loop = transform.structured.tile_using_for %op tile_sizes [%vt] : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
  }
  %reductions = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<reduction>]} in %func : (!transform.any_op) -> !transform.any_op
  transform.foreach %reductions : !transform.any_op {
  ^bb0(%op: !transform.any_op):
    %neutral, %partial, %combined, %step_loop = transform.structured.tile_reduction_using_for %op by tile_sizes = [64] {cwm.bind = {tile_sizes = ["vt"]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  }
  %peeled = transform.include @cwm_peel_all failures(propagate) (%func) : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_clean_up failures(propagate) (%peeled) : (!transform.any_op) -> ()
  transform.include @cwm_fold_unit_dims failures(propagate) (%peeled) : (!transform.any_op) -> ()

  transform.include @cwm_vectorise_chain failures(propagate) (%peeled) : (!transform.any_op) -> ()
  transform.include @cwm_hoist failures(propagate) (%peeled) : (!transform.any_op) -> ()
  %lowered = transform.include @cwm_bufferise failures(propagate) (%root) : (!transform.any_op) -> !transform.any_op
  transform.apply_patterns to %lowered {
    transform.apply_patterns.vector.lower_multi_reduction lowering_strategy = "innerreduction"
  } : !transform.any_op
  transform.include @cwm_lower_vectors failures(propagate) (%lowered) : (!transform.any_op) -> ()
  transform.yield
}

// Rows of rows: one at a time, but for reductions over all of them.
transform.named_sequence @rows_of_planes(%func: !transform.any_op {transform.readonly}) {
  %elementwise = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>]} in %func : (!transform.any_op) -> !transform.any_op
  transform.foreach %elementwise : !transform.any_op {
  ^bb0(%op: !transform.any_op):
    %row, %row_loop = transform.structured.tile_using_for %op tile_sizes [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  }
  %by_row = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]} in %func : (!transform.any_op) -> !transform.any_op
  transform.foreach %by_row : !transform.any_op {
  ^bb0(%op: !transform.any_op):
    %row, %row_loop = transform.structured.tile_using_for %op tile_sizes [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  }
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  transform.include @cwm_fold_unit_dims failures(propagate) (%func) : (!transform.any_op) -> ()
  %reductions = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>]} in %func : (!transform.any_op) -> !transform.any_op
  transform.foreach %reductions : !transform.any_op {
  ^bb0(%op: !transform.any_op):
    %neutral, %partial, %combined, %loop = transform.structured.tile_reduction_using_for %op by tile_sizes = [1, 64] {cwm.bind = {tile_sizes = [1, "vt"]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  }
  transform.yield
}

}
