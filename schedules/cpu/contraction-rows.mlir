// Contraction that reads one operand in place, row by row, and packs the other:
// the activations of a dense layer with transposed weights [N, K]. The weights
// come from memory once and are never copied. Here m is the dimension of the
// operand in place, n that of the packed one, whichever side they are on, so the
// result is computed transposed: n is its outer dimension and vectorised. The
// elementwise op works on packed tiles, which are transposed when stored.
//
// Knobs of the search:
//   mr, nr  register tile; nr is the vectorised one. mr must divide M
//   kt      depth of the unrolled innermost step. Must divide K
// Structure, from the payload, besides that of @cwm_isolate:
//   rhs, rhs_order  number of the packed operand; its order as (n, k)
//   inner_order     iterators of a tile (m, N/nr, k, nr) in the order in which
//                   its vector form lowers to outer products
//   threads, parallel  1 and true where packing and tiles are shared out among
//                      threads

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
  %mr = transform.tune.knob<"mr"> options = [4, 6, 8, 10, 12, 14] {cwm.default = 8 : i64} -> !transform.param<i64>
  %nr = transform.tune.knob<"nr"> options = [16, 32, 64] {cwm.default = 32 : i64} -> !transform.param<i64>
  %kt = transform.tune.knob<"kt"> options = [1, 2, 4, 8, 16] {cwm.default = 4 : i64} -> !transform.param<i64>
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

  // The right operand becomes [N/nr][K][nr], the result [N/nr][M][nr].
  %packed = transform.structured.pack %mnk packed_sizes = [0, 32, 0] {cwm.bind = {static_packed_sizes = [0, "nr", 0]}} : (!transform.any_op) -> !transform.op<"linalg.generic">
  %rhs = transform.get_producer_of_operand %packed[1] {cwm.bind = {operand_number = {knob = "rhs", options = [1]}}} : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.pack">
  %packed1, %rhs1, %unused1 = transform.structured.pack_transpose %rhs with_compute_op(%packed) outer_perm = [1, 0] {cwm.bind = {outer_perm = {knob = "rhs_order", options = [array<i64: 1, 0>]}}} : (!transform.op<"linalg.pack">, !transform.op<"linalg.generic">) -> (!transform.op<"linalg.generic">, !transform.op<"linalg.pack">, !transform.any_op)
  %elementwise = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>]} in %func : (!transform.any_op) -> !transform.any_op
  transform.foreach %elementwise : !transform.any_op {
  ^bb0(%op: !transform.any_op):
    %packed_elementwise = transform.structured.pack %op packed_sizes = [32, 0] {cwm.bind = {static_packed_sizes = ["nr", 0]}} : (!transform.any_op) -> !transform.op<"linalg.generic">
  }
  transform.apply_patterns to %func {
    transform.apply_patterns.canonicalization
    transform.apply_patterns.linalg.fold_pack_unpack_into_empty
    transform.apply_patterns.tensor.fold_into_pack_and_unpack
  } : !transform.any_op
  transform.apply_cse to %func : !transform.any_op
  %rhs2 = transform.structured.match ops{["linalg.pack"]} in %func : (!transform.any_op) -> !transform.any_op
  %rhs2_part = transform.tune.alternatives<"threads"> -> !transform.any_op {
    transform.yield %rhs2 : !transform.any_op
  }, {
    %step, %step_loop = transform.structured.tile_using_forall %rhs2 tile_sizes [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield %step : !transform.any_op
  }
  %rhs_tile, %rhs_loops:2 = transform.structured.tile_using_for %rhs2_part tile_sizes [1, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.structured.vectorize %rhs_tile vector_sizes [1, 16, %nr] : !transform.any_op, !transform.param<i64>

  // Rows of the left operand outermost: they come from memory once.
  %unpack = transform.structured.match ops{["linalg.unpack"]} in %func : (!transform.any_op) -> !transform.any_op
  %tile, %loops:2 = transform.structured.fuse %unpack tile_sizes [32, 8] interchange [1, 0] {cwm.bind = {static_tile_sizes = ["nr", "mr"], use_forall = {knob = "parallel", options = [false]}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  %rows = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>]} in %func : (!transform.any_op) -> !transform.any_op
  // The order in which a contraction of vectors is one of outer products.
  %ordered = transform.structured.interchange %rows iterator_interchange = [1, 3, 0, 2] {cwm.bind = {iterator_interchange = {knob = "inner_order", options = [array<i64: 1, 3, 0, 2>]}}} : (!transform.any_op) -> !transform.any_op
  %slices, %k_loop = transform.structured.tile_using_for %ordered tile_sizes [0, 0, 0, 4] {cwm.bind = {static_sizes = [0, 0, 0, "kt"]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  %unpack_tile = transform.structured.match ops{["linalg.unpack"]} in %func : (!transform.any_op) -> !transform.any_op
  transform.structured.vectorize %unpack_tile vector_sizes [1, %mr, %nr] : !transform.any_op, !transform.param<i64>, !transform.param<i64>
  %elementwise_tile = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>]} in %func : (!transform.any_op) -> !transform.any_op
  %vector, %vector_loops:2 = transform.structured.tile_using_for %elementwise_tile tile_sizes [1, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)

  transform.include @cwm_fold_unit_dims failures(propagate) (%func) : (!transform.any_op) -> ()
  transform.include @cwm_vectorise failures(propagate) (%func) : (!transform.any_op) -> ()
  transform.include @cwm_hoist failures(propagate) (%func) : (!transform.any_op) -> ()
  // The unit dimension of packed tiles is the leading one, where folding slices
  // into transfers is right: the accumulators go to the result without a buffer.
  transform.apply_patterns to %func {
    transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
    transform.apply_patterns.canonicalization
  } : !transform.any_op
  %lowered = transform.include @cwm_bufferise failures(propagate) (%root) : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_lower_vectors failures(propagate) (%lowered) : (!transform.any_op) -> ()
  transform.yield
}
}
