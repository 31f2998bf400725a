// Sequences shared by the sketches for CPUs. A sketch declares those it uses
// (`transform.named_sequence @name(...)` without a body); the loader in
// lib/Sketches copies the bodies in, so that a bound script stands alone.

module attributes {transform.with_named_sequence} {

// Named contractions, convolutions, pools and data movements become generics and
// the movements of operands and the elementwise consumers fuse: one op with
// reductions that reads its operands in whatever layout they came, at most one
// elementwise op after it.
// linalg.fill keeps its name: patterns on linalg.pack look for it.
// Structure, from the payload:
//   elementwise  1 where there is arithmetic on whole tensors
transform.named_sequence @cwm_normalise(%func: !transform.any_op {transform.consumed}) -> !transform.any_op {
  %named = transform.structured.match ops{["linalg.matmul", "linalg.batch_matmul",
      "linalg.matvec", "linalg.vecmat", "linalg.batch_matvec", "linalg.batch_vecmat",
      "linalg.dot", "linalg.batch_reduce_matmul", "linalg.mmt4d", "linalg.contract",
      "linalg.conv_1d", "linalg.conv_1d_nwc_wcf", "linalg.conv_1d_ncw_fcw",
      "linalg.conv_2d", "linalg.conv_2d_nhwc_hwcf", "linalg.conv_2d_nhwc_fhwc",
      "linalg.conv_2d_nchw_fchw", "linalg.conv_2d_ngchw_fgchw",
      "linalg.conv_2d_ngchw_gfchw", "linalg.conv_2d_nhwgc_gfhwc",
      "linalg.conv_3d", "linalg.conv_3d_ndhwc_dhwcf", "linalg.conv_3d_ncdhw_fcdhw",
      "linalg.depthwise_conv_1d_nwc_wc", "linalg.depthwise_conv_1d_ncw_cw",
      "linalg.depthwise_conv_1d_nwc_wcm", "linalg.depthwise_conv_2d_nchw_chw",
      "linalg.depthwise_conv_2d_nhwc_hwc", "linalg.depthwise_conv_2d_nhwc_hwcm",
      "linalg.depthwise_conv_3d_ndhwc_dhwc", "linalg.depthwise_conv_3d_ncdhw_cdhw",
      "linalg.depthwise_conv_3d_ndhwc_dhwcm",
      "linalg.pooling_nhwc_sum", "linalg.pooling_nhwc_max", "linalg.pooling_nhwc_min",
      "linalg.pooling_nhwc_max_unsigned", "linalg.pooling_nhwc_min_unsigned",
      "linalg.pooling_nchw_sum", "linalg.pooling_nchw_max",
      "linalg.pooling_nwc_sum", "linalg.pooling_nwc_max", "linalg.pooling_nwc_min",
      "linalg.pooling_nwc_max_unsigned", "linalg.pooling_nwc_min_unsigned",
      "linalg.pooling_ncw_sum", "linalg.pooling_ncw_max",
      "linalg.pooling_ndhwc_sum", "linalg.pooling_ndhwc_max", "linalg.pooling_ndhwc_min",
      "linalg.transpose", "linalg.broadcast", "linalg.map", "linalg.elementwise",
      "linalg.add", "linalg.sub", "linalg.mul", "linalg.div", "linalg.max", "linalg.min",
      "linalg.exp", "linalg.log", "linalg.abs", "linalg.ceil", "linalg.floor",
      "linalg.negf", "linalg.reciprocal", "linalg.round", "linalg.sqrt", "linalg.rsqrt",
      "linalg.square", "linalg.tanh", "linalg.erf", "linalg.select", "linalg.powf",
      "linalg.copy"]} in %func
      : (!transform.any_op) -> !transform.any_op
  %generic = transform.structured.generalize %named : (!transform.any_op) -> !transform.any_op
  %fused_linalg = transform.apply_registered_pass "linalg-fuse-elementwise-ops" to %func
      : (!transform.any_op) -> !transform.any_op
  %fused = transform.tune.alternatives<"elementwise"> -> !transform.any_op {
    transform.yield %fused_linalg : !transform.any_op
  }, {
    %linalg = transform.apply_registered_pass "convert-elementwise-to-linalg" to %fused_linalg : (!transform.any_op) -> !transform.any_op
    %fused_all = transform.apply_registered_pass "linalg-fuse-elementwise-ops" to %linalg : (!transform.any_op) -> !transform.any_op
    transform.yield %fused_all : !transform.any_op
  }
  transform.bufferization.eliminate_empty_tensors %fused : !transform.any_op
  transform.yield %fused : !transform.any_op
}

// The same, and dimensions that lie together are one: a convolution with a filter
// of one element is a product. Needs a pass of cwm.
transform.named_sequence @cwm_normalise_collapsed(%func: !transform.any_op {transform.consumed}) -> !transform.any_op {
  %normalised = transform.include @cwm_normalise failures(propagate) (%func) : (!transform.any_op) -> !transform.any_op
  %folded = transform.apply_registered_pass "linalg-fold-unit-extent-dims" to %normalised
      : (!transform.any_op) -> !transform.any_op
  %collapsed = transform.apply_registered_pass "cwm-collapse-dims" to %folded
      : (!transform.any_op) -> !transform.any_op
  transform.yield %collapsed : !transform.any_op
}

// Brings the payload to one contraction over m, n and k (in this order) and at
// most one elementwise op after it: dimensions that are neither m, n nor k
// become loops. Structure, from the payload (set by lib/Sketches):
//   outer        tile sizes of the last op: 1 for each dimension but m and n
//   outer_parallel  these loops run on several threads
//   initial_value  1 where it is not a fill, 2 where f16 or bf16 are to be added
//                  up in f32 as well: needs an op of cwm
//   normalise, find  sequences that normalise the function and find the last op
//   contraction, permutation  iterators after that; their order as m, n, k
transform.named_sequence @cwm_isolate(%root: !transform.any_op {transform.readonly}) -> (!transform.any_op, !transform.any_op) {
  %func0 = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
  transform.tune.alternatives<"initial_value"> {
    transform.yield
  }, {
    transform.apply_patterns to %func0 {
      transform.apply_patterns.cwm.separate_initial_values
    } : !transform.any_op
    transform.yield
  }, {
    transform.apply_patterns to %func0 {
      transform.apply_patterns.cwm.separate_initial_values
      transform.apply_patterns.cwm.widen_sums
    } : !transform.any_op
    transform.yield
  }
  %func = transform.include @cwm_normalise failures(propagate) (%func0) {cwm.bind = {target = {knob = "normalise", options = [@cwm_normalise]}}} : (!transform.any_op) -> !transform.any_op
  %last = transform.include @cwm_producer failures(propagate) (%func) {cwm.bind = {target = {knob = "find", options = [@cwm_producer]}}} : (!transform.any_op) -> !transform.any_op
  %outer = transform.structured.fuse %last tile_sizes [0, 0, 0] {cwm.bind = {static_tile_sizes = {knob = "outer", options = [array<i64: 0, 0, 0>]}, use_forall = {knob = "outer_parallel", options = [false]}}} : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  // Unit dimensions fold out of generics only; packing folds into named fills.
  %fill = transform.structured.match ops{["linalg.fill"]} in %func : (!transform.any_op) -> !transform.any_op
  %generic_fill = transform.structured.generalize %fill : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_fold_unit_dims failures(propagate) (%func) : (!transform.any_op) -> ()
  %contraction = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]} in %func {cwm.bind = {op_attrs = {knob = "contraction", options = [{iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]}]}}} : (!transform.any_op) -> !transform.any_op
  %mnk = transform.structured.interchange %contraction iterator_interchange = [0, 1, 2] {cwm.bind = {iterator_interchange = {knob = "permutation", options = [array<i64: 0, 1, 2>]}}} : (!transform.any_op) -> !transform.any_op
  %init = transform.get_producer_of_operand %mnk[2] : (!transform.any_op) -> !transform.any_op
  %named_fill = transform.structured.specialize %init : (!transform.any_op) -> !transform.any_op
  transform.yield %func, %mnk : !transform.any_op, !transform.any_op
}

// The outermost loops of a kernel on several threads: each iteration computes
// part of the op's result and what it takes. Structure, from the payload:
//   share  sizes of the parts; 0 for dimensions that are not shared out
transform.named_sequence @cwm_share(%func: !transform.any_op {transform.readonly}, %op: !transform.any_op {transform.consumed}) -> !transform.any_op {
  %part, %loop = transform.structured.fuse %op tile_sizes [1] {use_forall, cwm.bind = {static_tile_sizes = {knob = "share", options = [array<i64: 1>]}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  transform.yield %part : !transform.any_op
}

// What tiling leaves behind.
transform.named_sequence @cwm_clean_up(%func: !transform.any_op {transform.readonly}) {
  transform.apply_patterns to %func {
    transform.apply_patterns.linalg.tiling_canonicalization
    transform.apply_patterns.scf.for_loop_canonicalization
    transform.apply_patterns.canonicalization
    transform.apply_patterns.tensor.fold_tensor_empty
    transform.apply_patterns.tensor.merge_consecutive_insert_extract_slice
  } : !transform.any_op
  transform.apply_cse to %func : !transform.any_op
  transform.yield
}

// Rank-reducing slices instead of unit dimensions: contractions on 1x1x1xMxNxK
// lower to thousands of lines.
transform.named_sequence @cwm_fold_unit_dims(%func: !transform.any_op {transform.readonly}) {
  transform.apply_patterns to %func {
    transform.apply_patterns.linalg.fold_unit_extent_dims_via_slices
    transform.apply_patterns.canonicalization
    transform.apply_patterns.tensor.merge_consecutive_insert_extract_slice
  } : !transform.any_op
  transform.apply_cse to %func : !transform.any_op
  transform.yield
}

// Vectorises every linalg op that is left, each by itself: the upstream op for
// whole functions also takes tensor.insert_slice and copies the result. All
// ops must have static shapes of a register tile's size by now.
transform.named_sequence @cwm_vectorise(%func: !transform.any_op {transform.readonly}) {
  %ops = transform.structured.match interface{LinalgOp} in %func
      : (!transform.any_op) -> !transform.any_op
  transform.foreach %ops : !transform.any_op {
  ^bb0(%op: !transform.any_op):
    transform.structured.vectorize %op : !transform.any_op
  }
  transform.apply_patterns to %func {
    transform.apply_patterns.vector.reduction_to_contract
    transform.apply_patterns.vector.transfer_permutation_patterns
    transform.apply_patterns.vector.sink_ops
    transform.apply_patterns.vector.cast_away_vector_leading_one_dim
    transform.apply_patterns.canonicalization
  } : !transform.any_op
  transform.apply_cse to %func : !transform.any_op
  transform.yield
}

// The same for chains. Sums of products stay what they are: a contraction without
// a product of two of its dimensions lowers to sums of single elements.
transform.named_sequence @cwm_vectorise_chain(%func: !transform.any_op {transform.readonly}) {
  %ops = transform.structured.match interface{LinalgOp} in %func
      : (!transform.any_op) -> !transform.any_op
  transform.foreach %ops : !transform.any_op {
  ^bb0(%op: !transform.any_op):
    transform.structured.vectorize %op : !transform.any_op
  }
  transform.apply_patterns to %func {
    transform.apply_patterns.vector.transfer_permutation_patterns
    transform.apply_patterns.vector.sink_ops
    transform.apply_patterns.vector.cast_away_vector_leading_one_dim
    transform.apply_patterns.canonicalization
  } : !transform.any_op
  transform.apply_cse to %func : !transform.any_op
  transform.yield
}

// Accumulators become loop-carried vectors. Innermost loops come first in the
// order of matching, so one sweep carries a tile through a whole nest.
transform.named_sequence @cwm_hoist(%func: !transform.any_op {transform.readonly}) {
  %loops = transform.structured.match ops{["scf.for"]} in %func
      : (!transform.any_op) -> !transform.any_op
  transform.foreach %loops : !transform.any_op {
  ^bb0(%loop: !transform.any_op):
    transform.loop.hoist_loop_invariant_subsets %loop : !transform.any_op
  }
  transform.apply_patterns to %func {
    transform.apply_patterns.canonicalization
  } : !transform.any_op
  transform.yield
}

transform.named_sequence @cwm_bufferise(%root: !transform.any_op {transform.consumed}) -> !transform.any_op {
  transform.bufferization.eliminate_empty_tensors %root : !transform.any_op
  %bufferised = transform.bufferization.one_shot_bufferize layout{IdentityLayoutMap} %root
      {bufferize_function_boundaries = true, allow_return_allocs_from_loops = true}
      : (!transform.any_op) -> !transform.any_op
  %func = transform.structured.match ops{["func.func"]} in %bufferised
      : (!transform.any_op) -> !transform.any_op
  transform.apply_patterns to %func {
    transform.apply_patterns.canonicalization
  } : !transform.any_op
  transform.apply_cse to %func : !transform.any_op
  transform.apply_patterns to %func {
    transform.apply_patterns.canonicalization
  } : !transform.any_op
  // Not before: on tensors the initial value of an accumulator would leave its
  // loop and be copied back in.
  %loops = transform.structured.match ops{["scf.for"]} in %func
      : (!transform.any_op) -> !transform.any_op
  transform.apply_licm to %loops : !transform.any_op
  transform.yield %func : !transform.any_op
}

// Contractions to vector.fma, everything else to operations on rank 1.
transform.named_sequence @cwm_lower_vectors(%func: !transform.any_op {transform.readonly}) {
  transform.apply_patterns to %func {
    transform.apply_patterns.vector.lower_contraction lowering_strategy = "outerproduct"
    transform.apply_patterns.vector.transfer_permutation_patterns
    transform.apply_patterns.vector.lower_multi_reduction lowering_strategy = "innerparallel"
    transform.apply_patterns.vector.lower_outerproduct
  } : !transform.any_op
  transform.apply_patterns to %func {
    transform.apply_patterns.vector.split_transfer_full_partial split_transfer_strategy = "none"
    transform.apply_patterns.vector.lower_masked_transfers
    transform.apply_patterns.vector.lower_masks
    transform.apply_patterns.canonicalization
  } : !transform.any_op
  transform.yield
}

// Chains of elementwise ops and reductions: named ops become generics,
// elementwise ops fuse, unit dimensions go (tiling does not fuse producers whose
// results are read at a constant index). Structure, from the payload:
//   softmax        1 where there is a linalg.softmax
//   initial_value  1 where one is neither a fill nor empty, or where a reduction
//                  has several results: needs an op of cwm
transform.named_sequence @cwm_normalise_chain(%func: !transform.any_op {transform.consumed}) -> !transform.any_op {
  transform.tune.alternatives<"initial_value"> {
    transform.yield
  }, {
    transform.apply_patterns to %func {
      transform.apply_patterns.cwm.separate_initial_values
      transform.apply_patterns.cwm.split_results
    } : !transform.any_op
    transform.yield
  }
  transform.tune.alternatives<"softmax"> {
    transform.yield
  }, {
    %softmax = transform.structured.match ops{["linalg.softmax"]} in %func : (!transform.any_op) -> !transform.any_op
    %parts = transform.structured.decompose_interface %softmax : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
  %named = transform.structured.match ops{["linalg.transpose", "linalg.broadcast",
      "linalg.reduce", "linalg.map", "linalg.elementwise", "linalg.copy",
      "linalg.add", "linalg.sub", "linalg.mul", "linalg.div", "linalg.div_unsigned",
      "linalg.max", "linalg.min", "linalg.exp", "linalg.log", "linalg.abs",
      "linalg.ceil", "linalg.floor", "linalg.negf", "linalg.reciprocal",
      "linalg.round", "linalg.sqrt", "linalg.rsqrt", "linalg.square", "linalg.tanh",
      "linalg.erf", "linalg.select", "linalg.powf",
      "linalg.matmul", "linalg.batch_matmul", "linalg.matvec", "linalg.vecmat",
      "linalg.batch_matvec", "linalg.batch_vecmat", "linalg.dot",
      "linalg.batch_reduce_matmul", "linalg.mmt4d", "linalg.batch_mmt4d",
      "linalg.contract"]} in %func
      : (!transform.any_op) -> !transform.any_op
  %generic = transform.structured.generalize %named : (!transform.any_op) -> !transform.any_op
  %fused_linalg = transform.apply_registered_pass "linalg-fuse-elementwise-ops" to %func
      : (!transform.any_op) -> !transform.any_op
  %fused = transform.tune.alternatives<"elementwise"> -> !transform.any_op {
    transform.yield %fused_linalg : !transform.any_op
  }, {
    %linalg = transform.apply_registered_pass "convert-elementwise-to-linalg" to %fused_linalg : (!transform.any_op) -> !transform.any_op
    %fused_all = transform.apply_registered_pass "linalg-fuse-elementwise-ops" to %linalg : (!transform.any_op) -> !transform.any_op
    transform.yield %fused_all : !transform.any_op
  }
  %folded = transform.apply_registered_pass "linalg-fold-unit-extent-dims" to %fused
      : (!transform.any_op) -> !transform.any_op
  // Each op has reshapes of its own.
  transform.apply_cse to %folded : !transform.any_op
  transform.yield %folded : !transform.any_op
}

// The op whose result the function returns, as it is or with unit dimensions
// put back.
transform.named_sequence @cwm_producer(%func: !transform.any_op {transform.readonly}) -> !transform.any_op {
  %return = transform.structured.match ops{["func.return"]} in %func : (!transform.any_op) -> !transform.any_op
  %last = transform.get_producer_of_operand %return[0] : (!transform.any_op) -> !transform.any_op
  transform.yield %last : !transform.any_op
}
transform.named_sequence @cwm_reshaped_producer(%func: !transform.any_op {transform.readonly}) -> !transform.any_op {
  %return = transform.structured.match ops{["func.return"]} in %func : (!transform.any_op) -> !transform.any_op
  %reshape = transform.get_producer_of_operand %return[0] : (!transform.any_op) -> !transform.any_op
  %last = transform.get_producer_of_operand %reshape[0] : (!transform.any_op) -> !transform.any_op
  transform.yield %last : !transform.any_op
}
// The same for one of several results. Structure, from the payload:
//   last  which one
transform.named_sequence @cwm_result_producer(%func: !transform.any_op {transform.readonly}) -> !transform.any_op {
  %return = transform.structured.match ops{["func.return"]} in %func : (!transform.any_op) -> !transform.any_op
  %last = transform.get_producer_of_operand %return[0] {cwm.bind = {operand_number = {knob = "last", options = [0]}}} : (!transform.any_op) -> !transform.any_op
  transform.yield %last : !transform.any_op
}
transform.named_sequence @cwm_reshaped_result_producer(%func: !transform.any_op {transform.readonly}) -> !transform.any_op {
  %reshape = transform.include @cwm_result_producer failures(propagate) (%func) : (!transform.any_op) -> !transform.any_op
  %last = transform.get_producer_of_operand %reshape[0] : (!transform.any_op) -> !transform.any_op
  transform.yield %last : !transform.any_op
}

// Steps that do not divide: the last, shorter one gets static shapes. A pass,
// since peeling by transform ops fails on loops whose step divides.
transform.named_sequence @cwm_peel_all(%func: !transform.any_op {transform.consumed}) -> !transform.any_op {
  %peeled = transform.apply_registered_pass "scf-for-loop-peeling" with options = {"skip-partial" = false} to %func : (!transform.any_op) -> !transform.any_op
  transform.yield %peeled : !transform.any_op
}

// Padding as a fill and a copy, for the caller to tile.
transform.named_sequence @cwm_lower_pad(%pad: !transform.any_op {transform.consumed}) -> (!transform.any_op, !transform.any_op) {
  %padded = transform.structured.rewrite_in_destination_passing_style %pad : (!transform.any_op) -> !transform.any_op
  %border = transform.get_producer_of_operand %padded[1] : (!transform.any_op) -> !transform.any_op
  %inside = transform.structured.insert_slice_to_copy %padded : (!transform.any_op) -> !transform.any_op
  transform.yield %border, %inside : !transform.any_op, !transform.any_op
}

// Packing and unpacking of register tiles, as transpositions; generics of what
// is named.
transform.named_sequence @cwm_unpack_tiles(%func: !transform.any_op {transform.readonly}) {
  %pack = transform.structured.match ops{["linalg.pack"]} in %func : (!transform.any_op) -> !transform.op<"linalg.pack">
  %pads, %expand, %pack_transpose = transform.structured.lower_pack %pack : (!transform.op<"linalg.pack">) -> (!transform.op<"tensor.pad">, !transform.op<"tensor.expand_shape">, !transform.op<"linalg.transpose">)
  transform.apply_patterns to %func {
    transform.apply_patterns.canonicalization
  } : !transform.any_op
  %pad = transform.structured.match ops{["tensor.pad"]} in %func : (!transform.any_op) -> !transform.any_op
  %padded = transform.structured.rewrite_in_destination_passing_style %pad : (!transform.any_op) -> !transform.any_op
  %unpack = transform.structured.match ops{["linalg.unpack"]} in %func : (!transform.any_op) -> !transform.op<"linalg.unpack">
  %empty, %unpack_transpose, %collapse, %slice = transform.structured.lower_unpack %unpack : (!transform.op<"linalg.unpack">) -> (!transform.op<"tensor.empty">, !transform.op<"linalg.transpose">, !transform.op<"tensor.collapse_shape">, !transform.op<"tensor.extract_slice">)
  %named = transform.structured.match ops{["linalg.transpose", "linalg.broadcast", "linalg.fill", "linalg.copy"]} in %func : (!transform.any_op) -> !transform.any_op
  %generics = transform.structured.generalize %named : (!transform.any_op) -> !transform.any_op
  transform.yield
}

}
