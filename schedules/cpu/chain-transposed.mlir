// Transpositions, with elementwise ops before and after: a block of the two
// innermost dimensions, that of the result and that of a transposed operand, is
// read as rows, transposed in registers and written as rows. Blocks at the
// edges are smaller.
//
// Knobs of the search:
//   tile  tile sizes of the last op: 1 but for the two dimensions
// Structure, from the payload:
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

  transform.include @cwm_vectorise_chain failures(propagate) (%peeled) : (!transform.any_op) -> ()
  transform.include @cwm_hoist failures(propagate) (%peeled) : (!transform.any_op) -> ()
  %lowered = transform.include @cwm_bufferise failures(propagate) (%root) : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_lower_vectors failures(propagate) (%lowered) : (!transform.any_op) -> ()
  transform.yield
}

}
