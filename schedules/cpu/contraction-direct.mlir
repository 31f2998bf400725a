// Contraction of operands in place: nothing is packed. The right one is
// contiguous along n; rows of it stay in cache while those of the left one come
// as scalars, each for a row of a register tile. For products that are too small
// in m or n to pay for packing: heads of attention, convolutions with a filter of
// one element over few channels.
//
// Knobs of the search:
//   mr, nr  register tile; nr is the vectorised one
//   kt      depth of the unrolled innermost step; must divide K
//   order   loops over m outside of those over n (0), or inside (1)
// Structure, from the payload, besides that of @cwm_isolate:
//   rows, columns    extents of m and n
//   last_attributes  iterators of the last op, the contraction or an elementwise op
//   inner_order      iterators of a tile (m, n, k) in the order in which its vector
//                    form lowers to outer products
//   threads, share   1 where parts of the result are shared out among threads, and
//                    their sizes

module attributes {transform.with_named_sequence} {

transform.named_sequence @cwm_normalise_collapsed(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_reshaped_producer(!transform.any_op {transform.readonly}) -> !transform.any_op
transform.named_sequence @cwm_isolate(!transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_op)
transform.named_sequence @cwm_share(!transform.any_op {transform.readonly}, !transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_clean_up(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_peel_all(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_fold_unit_dims(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_vectorise(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_hoist(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_bufferise(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_lower_vectors(!transform.any_op {transform.readonly})

transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
  %mr = transform.tune.knob<"mr"> options = [2, 4, 6, 8, 10, 12, 14] {cwm.default = 8 : i64} -> !transform.param<i64>
  %nr = transform.tune.knob<"nr"> options = [16, 32, 64] {cwm.default = 32 : i64} -> !transform.param<i64>
  %kt = transform.tune.knob<"kt"> options = [1, 2, 4, 8, 16] {cwm.default = 4 : i64} -> !transform.param<i64>
  %rows = transform.tune.knob<"rows"> options = [1024] -> !transform.param<i64>
  %columns = transform.tune.knob<"columns"> options = [1024] -> !transform.param<i64>
  // Accumulators fill the register file without spilling.
  %fewest = transform.tune.knob<"fewest_elements"> options = [128] -> !transform.param<i64>
  %most = transform.tune.knob<"most_elements"> options = [448] -> !transform.param<i64>
  transform.smt.constrain_params(%mr, %nr, %fewest, %most) : (!transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>) -> () {
  ^bb0(%m: !smt.int, %n: !smt.int, %lower: !smt.int, %upper: !smt.int):
    %elements = smt.int.mul %m, %n
    %enough = smt.int.cmp ge %elements, %lower
    %fits = smt.int.cmp le %elements, %upper
    smt.assert %enough
    smt.assert %fits
    smt.yield
  }

  %func, %mnk = transform.include @cwm_isolate failures(propagate) (%root) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  %last = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]} in %func {cwm.bind = {op_attrs = {knob = "last_attributes", options = [{iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]}]}}} : (!transform.any_op) -> !transform.any_op
  %part = transform.tune.alternatives<"threads"> -> !transform.any_op {
    transform.yield %last : !transform.any_op
  }, {
    %shared = transform.include @cwm_share failures(propagate) (%func, %last) : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield %shared : !transform.any_op
  }
  transform.tune.alternatives<"order"> {
    %tile, %loops:2 = transform.structured.fuse %part tile_sizes [8, 32] interchange [0, 1] {cwm.bind = {static_tile_sizes = ["mr", "nr"]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  }, {
    // Where one tile spans a dimension there is one order.
    transform.smt.constrain_params(%mr, %nr, %rows, %columns) : (!transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>) -> () {
    ^bb0(%m: !smt.int, %n: !smt.int, %all_m: !smt.int, %all_n: !smt.int):
      %several_m = smt.int.cmp lt %m, %all_m
      %several_n = smt.int.cmp lt %n, %all_n
      smt.assert %several_m
      smt.assert %several_n
      smt.yield
    }
    %tile, %loops:2 = transform.structured.fuse %part tile_sizes [8, 32] interchange [1, 0] {cwm.bind = {static_tile_sizes = ["mr", "nr"]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  }
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  %tiles = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]} in %func : (!transform.any_op) -> !transform.any_op
  // The order in which a contraction of vectors is one of outer products.
  %ordered = transform.structured.interchange %tiles iterator_interchange = [0, 1, 2] {cwm.bind = {iterator_interchange = {knob = "inner_order", options = [array<i64: 0, 1, 2>]}}} : (!transform.any_op) -> !transform.any_op
  %slices, %k_loop = transform.structured.tile_using_for %ordered tile_sizes [0, 0, 4] {cwm.bind = {static_sizes = [0, 0, "kt"]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  // Incomplete tiles at the ends get code of their own.
  %peeled = transform.include @cwm_peel_all failures(propagate) (%func) : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_clean_up failures(propagate) (%peeled) : (!transform.any_op) -> ()

  transform.include @cwm_fold_unit_dims failures(propagate) (%peeled) : (!transform.any_op) -> ()
  transform.include @cwm_vectorise failures(propagate) (%peeled) : (!transform.any_op) -> ()
  transform.include @cwm_hoist failures(propagate) (%peeled) : (!transform.any_op) -> ()
  %lowered = transform.include @cwm_bufferise failures(propagate) (%root) : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_lower_vectors failures(propagate) (%lowered) : (!transform.any_op) -> ()
  transform.yield
}
}
