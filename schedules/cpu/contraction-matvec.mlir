// Matrix times vector with contiguous reductions: weights [N, K] and one row of
// activations. Partial sums along k stay in registers; nothing is packed.
//
// Knobs of the search:
//   nt, kt  rows at a time and elements of each; must divide N and K
// Structure, from the payload, besides that of @cwm_isolate (n, k here):
//   last_attributes  iterators of the last op, the contraction or an elementwise op
//   parallel         tiles are shared out among threads

module attributes {transform.with_named_sequence} {

transform.named_sequence @cwm_normalise_collapsed(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_reshaped_producer(!transform.any_op {transform.readonly}) -> !transform.any_op
transform.named_sequence @cwm_isolate(!transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_op)
transform.named_sequence @cwm_clean_up(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_fold_unit_dims(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_vectorise(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_hoist(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_bufferise(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_lower_vectors(!transform.any_op {transform.readonly})

transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
  %nt = transform.tune.knob<"nt"> options = [1, 2, 4, 8] {cwm.default = 4 : i64} -> !transform.param<i64>
  %kt = transform.tune.knob<"kt"> options = [16, 32, 64] {cwm.default = 32 : i64} -> !transform.param<i64>
  %most = transform.tune.knob<"most_elements"> options = [384] -> !transform.param<i64>
  // Partial sums, not to spill.
  transform.smt.constrain_params(%nt, %kt, %most) : (!transform.param<i64>, !transform.param<i64>, !transform.param<i64>) -> () {
  ^bb0(%n: !smt.int, %k: !smt.int, %upper: !smt.int):
    %elements = smt.int.mul %n, %k
    %fits = smt.int.cmp le %elements, %upper
    smt.assert %fits
    smt.yield
  }

  %func, %nk = transform.include @cwm_isolate failures(propagate) (%root) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  %last1 = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]} in %func {cwm.bind = {op_attrs = {knob = "last_attributes", options = [{iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]}]}}} : (!transform.any_op) -> !transform.any_op
  %tile, %loop = transform.structured.fuse %last1 tile_sizes [4] {cwm.bind = {static_tile_sizes = ["nt"], use_forall = {knob = "parallel", options = [false]}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  %rows = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]} in %func : (!transform.any_op) -> !transform.any_op
  %zero, %partial, %sum, %k_loop = transform.structured.tile_reduction_using_for %rows by tile_sizes = [0, 32] {cwm.bind = {tile_sizes = [0, "kt"]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()

  transform.include @cwm_fold_unit_dims failures(propagate) (%func) : (!transform.any_op) -> ()
  transform.include @cwm_vectorise failures(propagate) (%func) : (!transform.any_op) -> ()
  transform.include @cwm_hoist failures(propagate) (%func) : (!transform.any_op) -> ()
  %lowered = transform.include @cwm_bufferise failures(propagate) (%root) : (!transform.any_op) -> !transform.any_op
  transform.apply_patterns to %lowered {
    transform.apply_patterns.vector.lower_multi_reduction lowering_strategy = "innerreduction"
  } : !transform.any_op
  transform.include @cwm_lower_vectors failures(propagate) (%lowered) : (!transform.any_op) -> ()
  transform.yield
}

}
