// Contraction of narrow elements that are widened and summed up in 32 bits
// (bf16 to f32, i8 to i32): both operands packed into zero-padded panels in which
// neighbours along k stand together, as instructions for dot products want them.
// What is left is one vector.contract for each register tile, which
// cwm-dot-products lowers.
// Needs an extent of k that groups divide.
//
// Knobs of the search:
//   mr, nr  register tile; nr is the vectorised one
//   packing what is packed at once and what where it is used
//   order   0: n outermost keeps a panel of the right operand in cache; 1: m
//   mc      rows of the left operand that are packed together
// Structure, from the payload and the instructions (one option each, set by
// lib/Sketches), besides that of @cwm_isolate:
//   kv      elements of a group: 32 bits
//   kr, kt  groups of a slice of a panel; of the innermost step
//   rows, columns              extents of m and n
//   last_op, last_attributes   the last op after packing
//   lhs, rhs, lhs_order, rhs_order  operand numbers and orders as (m, k, group), (n, k, group)
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

// The op that computes the result from what is packed.
transform.named_sequence @last_op(%func: !transform.any_op {transform.readonly}) -> !transform.any_op {
  %last = transform.structured.match ops{["linalg.unpack"]} attributes {} in %func {cwm.bind = {ops = {knob = "last_op", options = [["linalg.unpack"]]}, op_attrs = {knob = "last_attributes", options = [{}]}}} : (!transform.any_op) -> !transform.any_op
  transform.yield %last : !transform.any_op
}

transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
  %mr = transform.tune.knob<"mr"> options = [16, 32] {cwm.default = 32 : i64} -> !transform.param<i64>
  %nr = transform.tune.knob<"nr"> options = [16, 32, 64] {cwm.default = 32 : i64} -> !transform.param<i64>
  %kr = transform.tune.knob<"kr"> options = [16] -> !transform.param<i64>
  %kv = transform.tune.knob<"kv"> options = [2] -> !transform.param<i64>
  %rows = transform.tune.knob<"rows"> options = [1024] -> !transform.param<i64>
  %columns = transform.tune.knob<"columns"> options = [1024] -> !transform.param<i64>
  // Accumulators fill the register file without spilling.
  %fewest = transform.tune.knob<"fewest_elements"> options = [512] -> !transform.param<i64>
  %most = transform.tune.knob<"most_elements"> options = [1024] -> !transform.param<i64>
  transform.smt.constrain_params(%mr, %nr, %fewest, %most) : (!transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>) -> () {
  ^bb0(%m: !smt.int, %n: !smt.int, %lower: !smt.int, %upper: !smt.int):
    %elements = smt.int.mul %m, %n
    %enough = smt.int.cmp ge %elements, %lower
    %fits = smt.int.cmp le %elements, %upper
    smt.assert %enough
    smt.assert %fits
    smt.yield
  }

  %isolated, %mnk = transform.include @cwm_isolate failures(propagate) (%root) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)

  // k becomes (k, group): reshapes, and transpositions that the op reads through.
  %groups = transform.structured.pack %mnk packed_sizes = [0, 0, 2] {cwm.bind = {static_packed_sizes = [0, 0, "kv"]}} : (!transform.any_op) -> !transform.op<"linalg.generic">
  %grouped = transform.structured.match ops{["linalg.pack"]} in %isolated : (!transform.any_op) -> !transform.op<"linalg.pack">
  %pads, %expansions, %transposes = transform.structured.lower_pack %grouped : (!transform.op<"linalg.pack">) -> (!transform.op<"tensor.pad">, !transform.op<"tensor.expand_shape">, !transform.op<"linalg.transpose">)
  %movements = transform.structured.match ops{["linalg.transpose"]} in %isolated : (!transform.any_op) -> !transform.any_op
  %generics = transform.structured.generalize %movements : (!transform.any_op) -> !transform.any_op
  %func = transform.apply_registered_pass "linalg-fuse-elementwise-ops" to %isolated : (!transform.any_op) -> !transform.any_op
  %mnkg = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>]} in %func : (!transform.any_op) -> !transform.any_op

  // Panels [M/mr][K/kr][1][mr][kr][kv] and [N/nr][K/kr][1][kr][nr][kv].
  %packed = transform.structured.pack %mnkg packed_sizes = [32, 32, 16, 2] {cwm.bind = {static_packed_sizes = ["mr", "nr", "kr", "kv"]}} : (!transform.any_op) -> !transform.op<"linalg.generic">
  %rhs = transform.get_producer_of_operand %packed[1] {cwm.bind = {operand_number = {knob = "rhs", options = [1]}}} : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.pack">
  %packed1, %rhs1, %unused1 = transform.structured.pack_transpose %rhs with_compute_op(%packed) outer_perm = [2, 0, 1] inner_perm = [1, 0, 2] {cwm.bind = {outer_perm = {knob = "rhs_order", options = [array<i64: 2, 0, 1>]}}} : (!transform.op<"linalg.pack">, !transform.op<"linalg.generic">) -> (!transform.op<"linalg.generic">, !transform.op<"linalg.pack">, !transform.any_op)
  %lhs = transform.get_producer_of_operand %packed1[0] {cwm.bind = {operand_number = {knob = "lhs", options = [0]}}} : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.pack">
  %packed2, %lhs1, %unused2 = transform.structured.pack_transpose %lhs with_compute_op(%packed1) outer_perm = [0, 1, 2] inner_perm = [0, 1, 2] {cwm.bind = {outer_perm = {knob = "lhs_order", options = [array<i64: 0, 1, 2>]}}} : (!transform.op<"linalg.pack">, !transform.op<"linalg.generic">) -> (!transform.op<"linalg.generic">, !transform.op<"linalg.pack">, !transform.any_op)
  %lhs2 = transform.get_producer_of_operand %packed2[0] {cwm.bind = {operand_number = "lhs"}} : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.pack">
  %rhs2 = transform.get_producer_of_operand %packed2[1] {cwm.bind = {operand_number = "rhs"}} : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.pack">
  // Which operand is packed at once and which in pieces, where it is used.
  transform.tune.alternatives<"packing"> {
    // Both at once, the register tiles in either order.
    %lhs2_part = transform.tune.alternatives<"threads"> -> !transform.op<"linalg.pack"> {
      transform.yield %lhs2 : !transform.op<"linalg.pack">
    }, {
      %step, %step_loop = transform.structured.tile_using_forall %lhs2 tile_sizes [1] : (!transform.op<"linalg.pack">) -> (!transform.op<"linalg.pack">, !transform.any_op)
      transform.yield %step : !transform.op<"linalg.pack">
    }
    %lhs_tile, %lhs_tile_loops:2 = transform.structured.tile_using_for %lhs2_part tile_sizes [1, 1] : (!transform.op<"linalg.pack">) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.structured.vectorize %lhs_tile vector_sizes [1, 1, 1, %mr, %kr, %kv] : !transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>
    %rhs2_part = transform.tune.alternatives<"threads"> -> !transform.op<"linalg.pack"> {
      transform.yield %rhs2 : !transform.op<"linalg.pack">
    }, {
      %step, %step_loop = transform.structured.tile_using_forall %rhs2 tile_sizes [1] : (!transform.op<"linalg.pack">) -> (!transform.op<"linalg.pack">, !transform.any_op)
      transform.yield %step : !transform.op<"linalg.pack">
    }
    %rhs_tile, %rhs_tile_loops:2 = transform.structured.tile_using_for %rhs2_part tile_sizes [1, 1] : (!transform.op<"linalg.pack">) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.structured.vectorize %rhs_tile vector_sizes [1, 1, 1, %kr, %nr, %kv] : !transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>
    transform.apply_patterns to %func {
      transform.apply_patterns.canonicalization
      transform.apply_patterns.linalg.fold_pack_unpack_into_empty
      transform.apply_patterns.tensor.fold_into_pack_and_unpack
    } : !transform.any_op
    %last = transform.include @last_op failures(propagate) (%func) : (!transform.any_op) -> !transform.any_op
    transform.tune.alternatives<"order"> {
      %tile, %loops:2 = transform.structured.fuse %last tile_sizes [6, 64] interchange [1, 0] {cwm.bind = {static_tile_sizes = ["mr", "nr"], use_forall = {knob = "parallel", options = [false]}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
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
      %tile, %loops:2 = transform.structured.fuse %last tile_sizes [6, 64] interchange [0, 1] {cwm.bind = {static_tile_sizes = ["mr", "nr"], use_forall = {knob = "parallel"}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    }
  }, {
    // A panel of the right operand at a time: it is used from cache and comes
    // from memory once. For large right operands (weights).
    %lhs2_part = transform.tune.alternatives<"threads"> -> !transform.op<"linalg.pack"> {
      transform.yield %lhs2 : !transform.op<"linalg.pack">
    }, {
      %step, %step_loop = transform.structured.tile_using_forall %lhs2 tile_sizes [1] : (!transform.op<"linalg.pack">) -> (!transform.op<"linalg.pack">, !transform.any_op)
      transform.yield %step : !transform.op<"linalg.pack">
    }
    %lhs_tile, %lhs_tile_loops:2 = transform.structured.tile_using_for %lhs2_part tile_sizes [1, 1] : (!transform.op<"linalg.pack">) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.structured.vectorize %lhs_tile vector_sizes [1, 1, 1, %mr, %kr, %kv] : !transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>
    transform.apply_patterns to %func {
      transform.apply_patterns.canonicalization
      transform.apply_patterns.linalg.fold_pack_unpack_into_empty
      transform.apply_patterns.tensor.fold_into_pack_and_unpack
    } : !transform.any_op
    %last = transform.include @last_op failures(propagate) (%func) : (!transform.any_op) -> !transform.any_op
    %panel, %panel_loop = transform.structured.fuse %last tile_sizes [0, 64] {cwm.bind = {static_tile_sizes = [0, "nr"], use_forall = {knob = "parallel"}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
    %pack = transform.structured.match ops{["linalg.pack"]} in %func : (!transform.any_op) -> !transform.op<"linalg.pack">
    %rhs_tile, %rhs_tile_loops:2 = transform.structured.tile_using_for %pack tile_sizes [1, 1] : (!transform.op<"linalg.pack">) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.structured.vectorize %rhs_tile vector_sizes [1, 1, 1, %kr, %nr, %kv] : !transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>
    %last_of_panel = transform.include @last_op failures(propagate) (%func) : (!transform.any_op) -> !transform.any_op
    %tile, %loop = transform.structured.fuse %last_of_panel tile_sizes [6, 0] {cwm.bind = {static_tile_sizes = ["mr", 0]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  }, {
    // A block of rows of the left operand at a time, which stays in the
    // second-level cache while the panels of the right operand pass. For large
    // left operands.
    %mc = transform.tune.knob<"mc"> options = [48, 96, 192, 384] {cwm.default = 96 : i64} -> !transform.param<i64>
    transform.smt.constrain_params(%mc, %mr) : (!transform.param<i64>, !transform.param<i64>) -> () {
    ^bb0(%block: !smt.int, %m: !smt.int):
      %zero = smt.int.constant 0
      %rest = smt.int.mod %block, %m
      %whole = smt.eq %rest, %zero : !smt.int
      smt.assert %whole
      smt.yield
    }
    %rhs2_part = transform.tune.alternatives<"threads"> -> !transform.op<"linalg.pack"> {
      transform.yield %rhs2 : !transform.op<"linalg.pack">
    }, {
      %step, %step_loop = transform.structured.tile_using_forall %rhs2 tile_sizes [1] : (!transform.op<"linalg.pack">) -> (!transform.op<"linalg.pack">, !transform.any_op)
      transform.yield %step : !transform.op<"linalg.pack">
    }
    %rhs_tile, %rhs_tile_loops:2 = transform.structured.tile_using_for %rhs2_part tile_sizes [1, 1] : (!transform.op<"linalg.pack">) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.structured.vectorize %rhs_tile vector_sizes [1, 1, 1, %kr, %nr, %kv] : !transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>
    transform.apply_patterns to %func {
      transform.apply_patterns.canonicalization
      transform.apply_patterns.linalg.fold_pack_unpack_into_empty
      transform.apply_patterns.tensor.fold_into_pack_and_unpack
    } : !transform.any_op
    %last = transform.include @last_op failures(propagate) (%func) : (!transform.any_op) -> !transform.any_op
    %block, %block_loop = transform.structured.fuse %last tile_sizes [96, 0] {cwm.bind = {static_tile_sizes = ["mc", 0], use_forall = {knob = "parallel"}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
    %pack = transform.structured.match ops{["linalg.pack"]} in %func : (!transform.any_op) -> !transform.op<"linalg.pack">
    %lhs_tile, %lhs_tile_loops:2 = transform.structured.tile_using_for %pack tile_sizes [1, 1] : (!transform.op<"linalg.pack">) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.structured.vectorize %lhs_tile vector_sizes [1, 1, 1, %mr, %kr, %kv] : !transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>
    %last_of_block = transform.include @last_op failures(propagate) (%func) : (!transform.any_op) -> !transform.any_op
    %tile, %loops:2 = transform.structured.fuse %last_of_block tile_sizes [6, 64] interchange [1, 0] {cwm.bind = {static_tile_sizes = ["mr", "nr"]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  }
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()

  %panels = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>]} in %func : (!transform.any_op) -> !transform.any_op
  %slices, %k_loops:2 = transform.structured.tile_using_for %panels tile_sizes [0, 0, 1, 0, 0, 0, 16] {cwm.bind = {static_sizes = [0, 0, 1, 0, 0, 0, {knob = "kt", options = [16]}]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  %unpack = transform.structured.match ops{["linalg.unpack"]} in %func : (!transform.any_op) -> !transform.any_op
  transform.structured.vectorize %unpack vector_sizes [1, 1, %mr, %nr] : !transform.any_op, !transform.param<i64>, !transform.param<i64>
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
  transform.apply_patterns to %lowered {
    transform.apply_patterns.vector.lower_masked_transfers
    transform.apply_patterns.canonicalization
  } : !transform.any_op
  %module = transform.get_parent_op %lowered {op_name = "builtin.module"} : (!transform.any_op) -> !transform.any_op
  %dots = transform.apply_registered_pass "cwm-dot-products" with options = {instruction = "amx-bf16"} to %module {cwm.bind = {options = {knob = "instruction", options = [{instruction = "amx-bf16"}]}}} : (!transform.any_op) -> !transform.any_op
  transform.apply_patterns to %dots {
    transform.apply_patterns.vector.transfer_permutation_patterns
    transform.apply_patterns.vector.split_transfer_full_partial split_transfer_strategy = "none"
    transform.apply_patterns.vector.lower_masks
    transform.apply_patterns.canonicalization
  } : !transform.any_op
  transform.yield
}

}
