// Contraction that reads its left operand in place and packs the right one,
// whose dimension n is vectorised: a few activation rows times a big weight
// matrix. Here m is the dimension of the weights whichever operand they are, so
// a transposed weight [N, K] streams through the caches once, row by row.
// The elementwise op works on packed tiles, which are transposed when stored.

module attributes {transform.with_named_sequence} {

transform.named_sequence @cwm_normalise(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_clean_up(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_fold_unit_dims(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_vectorise(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_hoist(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_bufferise(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_lower_vectors(!transform.any_op {transform.readonly})

// The init is a fill unless it is an argument or a broadcast bias.
transform.named_sequence @name_init(%contraction: !transform.any_op {transform.readonly}) {
  %init = transform.get_producer_of_operand %contraction[2] : (!transform.any_op) -> !transform.any_op
  %named = transform.structured.specialize %init : (!transform.any_op) -> !transform.any_op
  transform.yield
}

transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
  %mr = transform.tune.knob<"mr"> options = [4, 6, 8, 10, 12, 14] {cwm.default = 8 : i64} -> !transform.param<i64>
  %nr = transform.tune.knob<"nr"> options = [16, 32, 64] {cwm.default = 32 : i64} -> !transform.param<i64>
  %kt = transform.tune.knob<"kt"> options = [1, 2, 4, 8, 16] {cwm.default = 4 : i64} -> !transform.param<i64>
  // Accumulators fill the register file without spilling.
  transform.smt.constrain_params(%mr, %nr) : (!transform.param<i64>, !transform.param<i64>) -> () {
  ^bb0(%m: !smt.int, %n: !smt.int):
    %elements = smt.int.mul %m, %n
    %fewest = smt.int.constant 128
    %most = smt.int.constant 448
    %enough = smt.int.cmp ge %elements, %fewest
    %fits = smt.int.cmp le %elements, %most
    smt.assert %enough
    smt.assert %fits
    smt.yield
  }

  %func0 = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
  %func = transform.include @cwm_normalise failures(propagate) (%func0) : (!transform.any_op) -> !transform.any_op
  %contraction = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]} in %func {cwm.bind = {op_attrs = {knob = "contraction", options = [{iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]}]}}} : (!transform.any_op) -> !transform.any_op
  %mnk = transform.structured.interchange %contraction iterator_interchange = [0, 1, 2] {cwm.bind = {iterator_interchange = {knob = "permutation", options = [array<i64: 0, 1, 2>]}}} : (!transform.any_op) -> !transform.any_op

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
  %rhs_tile, %rhs_loops:2 = transform.structured.tile_using_for %rhs2 tile_sizes [1, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.structured.vectorize %rhs_tile vector_sizes [1, 16, %nr] : !transform.any_op, !transform.param<i64>

  // Rows of the left operand outermost: they come from memory once.
  %unpack = transform.structured.match ops{["linalg.unpack"]} in %func : (!transform.any_op) -> !transform.any_op
  %tile, %loops:2 = transform.structured.fuse %unpack tile_sizes [32, 8] interchange [1, 0] {cwm.bind = {static_tile_sizes = ["nr", "mr"]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  %rows = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>]} in %func : (!transform.any_op) -> !transform.any_op
  // The order in which a contraction of vectors is one of outer products.
  %ordered = transform.structured.interchange %rows iterator_interchange = [1, 0, 3, 2] {cwm.bind = {iterator_interchange = {knob = "inner_order", options = [array<i64: 1, 0, 3, 2>]}}} : (!transform.any_op) -> !transform.any_op
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
