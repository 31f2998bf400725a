// Contraction with both operands packed into zero-padded panels: matrix
// products of any size, batched or not, operands transposed or not, with an
// elementwise op on the result. Goto's scheme with one level of cache blocking.
//
// Knobs of the search:
//   mr, nr  register tile; nr is the vectorised one
//   kr      depth of a slice of a panel, unrolled
//   order   n outermost keeps a panel of the right operand in cache
// Structure, from the payload (one option each, set by lib/Sketches):
//   outer      tile sizes of the last op: 1 for each dimension that is not m, n
//   reduction  tile sizes of the contraction: 1 for each reduction but the last
//   contraction, permutation   iterators after that; their order as m, n, k
//   last_op, last_attributes   the last op after packing
//   lhs, rhs, lhs_order, rhs_order  operand numbers and orders as (m, k), (n, k)

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
  %mr = transform.tune.knob<"mr"> options = [4, 6, 8, 10, 12, 14, 16] {cwm.default = 6 : i64} -> !transform.param<i64>
  %nr = transform.tune.knob<"nr"> options = [16, 32, 64] {cwm.default = 64 : i64} -> !transform.param<i64>
  %kr = transform.tune.knob<"kr"> options = [4, 8, 16] {cwm.default = 4 : i64} -> !transform.param<i64>
  %kt = transform.tune.knob<"kt"> options = [1, 2, 4, 8] {cwm.default = 4 : i64} -> !transform.param<i64>
  %kc = transform.tune.knob<"kc"> options = [8, 16, 32, 64, 1024] {cwm.default = 16 : i64} -> !transform.param<i64>
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

  // Dimensions other than m, n and k become loops.
  %return = transform.structured.match ops{["func.return"]} in %func : (!transform.any_op) -> !transform.any_op
  %last = transform.get_producer_of_operand %return[0] : (!transform.any_op) -> !transform.any_op
  %outer = transform.structured.fuse %last tile_sizes [0, 0, 0] {cwm.bind = {static_tile_sizes = {knob = "outer", options = [array<i64: 0, 0, 0>]}}} : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  // Unit dimensions fold out of generics only; packing folds into named fills.
  %fill = transform.structured.match ops{["linalg.fill"]} in %func : (!transform.any_op) -> !transform.any_op
  %generic_fill = transform.structured.generalize %fill : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_fold_unit_dims failures(propagate) (%func) : (!transform.any_op) -> ()

  %contraction = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]} in %func {cwm.bind = {op_attrs = {knob = "contraction", options = [{iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]}]}}} : (!transform.any_op) -> !transform.any_op
  %mnk = transform.structured.interchange %contraction iterator_interchange = [0, 1, 2] {cwm.bind = {iterator_interchange = {knob = "permutation", options = [array<i64: 0, 1, 2>]}}} : (!transform.any_op) -> !transform.any_op

  transform.include @name_init failures(suppress) (%mnk) : (!transform.any_op) -> ()

  // Panels [M/mr][K/kr][kr][mr] and [N/nr][K/kr][kr][nr].
  %packed = transform.structured.pack %mnk packed_sizes = [6, 64, 4] {cwm.bind = {static_packed_sizes = ["mr", "nr", "kr"]}} : (!transform.any_op) -> !transform.op<"linalg.generic">
  %rhs = transform.get_producer_of_operand %packed[1] {cwm.bind = {operand_number = {knob = "rhs", options = [1]}}} : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.pack">
  %packed1, %rhs1, %unused1 = transform.structured.pack_transpose %rhs with_compute_op(%packed) outer_perm = [1, 0] inner_perm = [1, 0] {cwm.bind = {outer_perm = {knob = "rhs_order", options = [array<i64: 1, 0>]}}} : (!transform.op<"linalg.pack">, !transform.op<"linalg.generic">) -> (!transform.op<"linalg.generic">, !transform.op<"linalg.pack">, !transform.any_op)
  %lhs = transform.get_producer_of_operand %packed1[0] {cwm.bind = {operand_number = {knob = "lhs", options = [0]}}} : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.pack">
  %packed2, %lhs1, %unused2 = transform.structured.pack_transpose %lhs with_compute_op(%packed1) outer_perm = [0, 1] inner_perm = [1, 0] {cwm.bind = {outer_perm = {knob = "lhs_order", options = [array<i64: 0, 1>]}}} : (!transform.op<"linalg.pack">, !transform.op<"linalg.generic">) -> (!transform.op<"linalg.generic">, !transform.op<"linalg.pack">, !transform.any_op)
  %lhs2 = transform.get_producer_of_operand %packed2[0] {cwm.bind = {operand_number = "lhs"}} : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.pack">
  %rhs2 = transform.get_producer_of_operand %packed2[1] {cwm.bind = {operand_number = "rhs"}} : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.pack">
  %lhs_tile, %lhs_loops:2 = transform.structured.tile_using_for %lhs2 tile_sizes [1, 1] : (!transform.op<"linalg.pack">) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.structured.vectorize %lhs_tile vector_sizes [1, 1, %kr, %mr] : !transform.any_op, !transform.param<i64>, !transform.param<i64>
  transform.apply_patterns to %func {
    transform.apply_patterns.canonicalization
    transform.apply_patterns.linalg.fold_pack_unpack_into_empty
    transform.apply_patterns.tensor.fold_into_pack_and_unpack
  } : !transform.any_op

  // One panel of the right operand, packed just before its use: a blocked
  // transposition when k is its contiguous dimension.
  %last1 = transform.structured.match ops{["linalg.unpack"]} attributes {} in %func {cwm.bind = {ops = {knob = "last_op", options = [["linalg.unpack"]]}, op_attrs = {knob = "last_attributes", options = [{}]}}} : (!transform.any_op) -> !transform.any_op
  %strip, %strip_loop = transform.structured.fuse %last1 tile_sizes [0, 64] {cwm.bind = {static_tile_sizes = [0, "nr"]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  %strip_panels = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]} in %func : (!transform.any_op) -> !transform.any_op
  %rhs3 = transform.get_producer_of_operand %strip_panels[1] {cwm.bind = {operand_number = "rhs"}} : (!transform.any_op) -> !transform.any_op
  %rhs_tile, %rhs_loop = transform.structured.tile_using_for %rhs3 tile_sizes [1] : (!transform.any_op) -> (!transform.op<"linalg.pack">, !transform.any_op)
  %pad, %expand, %transpose = transform.structured.lower_pack %rhs_tile : (!transform.op<"linalg.pack">) -> (!transform.op<"tensor.pad">, !transform.op<"tensor.expand_shape">, !transform.op<"linalg.transpose">)
  %block, %block_loops:3 = transform.structured.tile_using_for %transpose tile_sizes [0, 1, 16, 16] interchange = [0, 3, 1, 2] : (!transform.op<"linalg.transpose">) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()

  // Blocks of k, register tiles, slices.
  %panels = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]} in %func : (!transform.any_op) -> !transform.any_op
  %k_block, %k_block_loop = transform.structured.tile_using_for %panels tile_sizes [0, 0, 16] {cwm.bind = {static_sizes = [0, 0, "kc"]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  %tile, %m_loops:2 = transform.structured.tile_using_for %k_block tile_sizes [1, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  %slices, %k_loops:2 = transform.structured.tile_using_for %tile tile_sizes [0, 0, 1, 0, 0, 4] {cwm.bind = {static_sizes = [0, 0, 1, 0, 0, "kt"]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  %zero = transform.structured.match ops{["linalg.fill"]} in %func : (!transform.any_op) -> !transform.any_op
  %zero_row, %zero_loops:3 = transform.structured.tile_using_for %zero tile_sizes [1, 1, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  %last2 = transform.structured.match ops{["linalg.unpack"]} attributes {} in %func {cwm.bind = {ops = "last_op", op_attrs = "last_attributes"}} : (!transform.any_op) -> !transform.any_op
  %out, %loop = transform.structured.fuse %last2 tile_sizes [6, 0] {cwm.bind = {static_tile_sizes = ["mr", 0]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()

  %unpack = transform.structured.match ops{["linalg.unpack"]} in %func : (!transform.any_op) -> !transform.any_op
  transform.structured.vectorize %unpack vector_sizes [1, 1, %mr, %nr] : !transform.any_op, !transform.param<i64>, !transform.param<i64>
  %init = transform.structured.match ops{["linalg.pack"]} in %func : (!transform.any_op) -> !transform.any_op
  transform.structured.vectorize %init vector_sizes [1, 1, %mr, %nr] : !transform.any_op, !transform.param<i64>, !transform.param<i64>
  %elementwise = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>]} in %func : (!transform.any_op) -> !transform.any_op
  %row, %row_loop = transform.structured.tile_using_for %elementwise tile_sizes [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.structured.vectorize %row vector_sizes [1, %nr] : !transform.any_op, !transform.param<i64>

  transform.include @cwm_fold_unit_dims failures(propagate) (%func) : (!transform.any_op) -> ()
  transform.include @cwm_vectorise failures(propagate) (%func) : (!transform.any_op) -> ()
  transform.include @cwm_hoist failures(propagate) (%func) : (!transform.any_op) -> ()
  // The unit dimensions of packed tiles are leading ones, where folding slices
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
