// Vector times matrix with a contiguous result: weights [K, N] and one row of
// activations. A strip of the result stays in registers while its columns stream
// by; nothing is packed.
//
// Knobs of the search:
//   nr  width of the strip; must divide N
//   kt  rows at a time; must divide K
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
  %nr = transform.tune.knob<"nr"> options = [16, 32, 64, 128, 256] {cwm.default = 128 : i64} -> !transform.param<i64>
  %kt = transform.tune.knob<"kt"> options = [1, 2, 4, 8] {cwm.default = 4 : i64} -> !transform.param<i64>

  %func, %nk = transform.include @cwm_isolate failures(propagate) (%root) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  %last1 = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]} in %func {cwm.bind = {op_attrs = {knob = "last_attributes", options = [{iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]}]}}} : (!transform.any_op) -> !transform.any_op
  %tile, %loop = transform.structured.fuse %last1 tile_sizes [128] {cwm.bind = {static_tile_sizes = ["nr"], use_forall = {knob = "parallel", options = [false]}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  %strip = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]} in %func : (!transform.any_op) -> !transform.any_op
  %slice, %k_loop = transform.structured.tile_using_for %strip tile_sizes [0, 4] {cwm.bind = {static_sizes = [0, "kt"]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()

  transform.include @cwm_fold_unit_dims failures(propagate) (%func) : (!transform.any_op) -> ()
  transform.include @cwm_vectorise failures(propagate) (%func) : (!transform.any_op) -> ()
  transform.include @cwm_hoist failures(propagate) (%func) : (!transform.any_op) -> ()
  %lowered = transform.include @cwm_bufferise failures(propagate) (%root) : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_lower_vectors failures(propagate) (%lowered) : (!transform.any_op) -> ()
  transform.yield
}

}
