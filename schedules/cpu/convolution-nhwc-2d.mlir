// 2-D convolution with channels innermost (NHWC, filter HWCF), any stride,
// dilation and padding, with a bias and an elementwise op on the result. Vectors
// run along the output channels: the filter is packed to [F/f][KH][KW][C][f], the
// input stays as it is and comes as scalars, nothing is transposed.
//
// Knobs of the search:
//   f, w   register tile: output channels (vectorised) and output columns
//   c      input channels of the unrolled innermost step; must divide C
//   order  loops over output channels outside of those over the image, or inside
// Structure, from the payload (one option each, set by lib/Sketches):
//   strided      1 where the stride is not: needs an op of cwm
//   packed_bias  1 for a bias, if f divides F; tiles of others are transposed
//   most_elements  of a register tile

module attributes {transform.with_named_sequence} {

transform.named_sequence @cwm_normalise(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_peel(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_clean_up(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_unpack_tiles(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_fold_unit_dims(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_vectorise(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_hoist(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_bufferise(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_lower_vectors(!transform.any_op {transform.readonly})

transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
  %f = transform.tune.knob<"f"> options = [16, 32, 64] {cwm.default = 32 : i64} -> !transform.param<i64>
  %w = transform.tune.knob<"w"> options = [1, 2, 4, 7, 14, 28] {cwm.default = 14 : i64} -> !transform.param<i64>
  %c = transform.tune.knob<"c"> options = [1, 2, 4, 8] {cwm.default = 4 : i64} -> !transform.param<i64>
  %most = transform.tune.knob<"most_elements"> options = [448] -> !transform.param<i64>
  // Accumulators fit the register file.
  transform.smt.constrain_params(%f, %w, %most) : (!transform.param<i64>, !transform.param<i64>, !transform.param<i64>) -> () {
  ^bb0(%rows: !smt.int, %columns: !smt.int, %upper: !smt.int):
    %elements = smt.int.mul %rows, %columns
    %fits = smt.int.cmp le %elements, %upper
    smt.assert %fits
    smt.yield
  }

  %func0 = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
  %func = transform.include @cwm_normalise failures(propagate) (%func0) : (!transform.any_op) -> !transform.any_op

  // The padded input, row by row.
  %pad = transform.structured.match ops{["tensor.pad"]} in %func : (!transform.any_op) -> !transform.any_op
  transform.include @pad_rows failures(propagate) (%pad) : (!transform.any_op) -> ()

  %conv = transform.structured.match ops{["linalg.conv_2d_nhwc_hwcf"]} in %func : (!transform.any_op) -> !transform.any_op
  transform.tune.alternatives<"packed_bias"> {
    transform.yield
  }, {
    transform.include @pack_bias failures(propagate) (%conv) : (!transform.any_op) -> ()
    transform.yield
  }
  %generic = transform.structured.generalize %conv : (!transform.any_op) -> !transform.any_op
  %packed = transform.structured.pack %generic packed_sizes = [0, 0, 0, 32, 0, 0, 0] {cwm.bind = {static_packed_sizes = [0, 0, 0, "f", 0, 0, 0]}} : (!transform.any_op) -> !transform.op<"linalg.generic">
  %filter = transform.get_producer_of_operand %packed[1] : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.pack">
  %outermost, %filter1, %unused = transform.structured.pack_transpose %filter with_compute_op(%packed) outer_perm = [3, 0, 1, 2] : (!transform.op<"linalg.pack">, !transform.op<"linalg.generic">) -> (!transform.op<"linalg.generic">, !transform.op<"linalg.pack">, !transform.any_op)
  %filter_pads, %expand, %transpose = transform.structured.lower_pack %filter1 : (!transform.op<"linalg.pack">) -> (!transform.op<"tensor.pad">, !transform.op<"tensor.expand_shape">, !transform.op<"linalg.transpose">)
  %transpose_tile, %transpose_loops:4 = transform.structured.tile_using_for %transpose tile_sizes [1, 1, 1, 1] : (!transform.op<"linalg.transpose">) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  transform.apply_patterns to %func {
    transform.apply_patterns.canonicalization
    transform.apply_patterns.linalg.fold_pack_unpack_into_empty
    transform.apply_patterns.tensor.fold_into_pack_and_unpack
  } : !transform.any_op
  transform.apply_cse to %func : !transform.any_op
  // F that f does not divide.
  %filter_pad = transform.structured.match ops{["tensor.pad"]} in %func : (!transform.any_op) -> !transform.any_op
  transform.include @pad_rows failures(propagate) (%filter_pad) : (!transform.any_op) -> ()

  %return = transform.structured.match ops{["func.return"]} in %func : (!transform.any_op) -> !transform.any_op
  %last = transform.get_producer_of_operand %return[0] : (!transform.any_op) -> !transform.any_op
  %tile, %loops:4 = transform.structured.fuse %last tile_sizes [1, 1, 14, 32] interchange [0, 3, 1, 2] {cwm.bind = {static_tile_sizes = [1, 1, "w", "f"], static_tile_interchange = {knob = "order", options = [array<i64: 0, 3, 1, 2>, array<i64: 0, 1, 2, 3>]}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  // Incomplete tiles at the ends get code of their own.
  transform.include @cwm_peel failures(propagate) (%func) : (!transform.any_op) -> ()
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  %tiles = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>]} in %func : (!transform.any_op) -> !transform.any_op
  %steps, %step_loops:3 = transform.structured.tile_using_for %tiles tile_sizes [0, 0, 0, 0, 1, 1, 4] {cwm.bind = {static_sizes = [0, 0, 0, 0, 1, 1, "c"]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  transform.include @cwm_unpack_tiles failures(propagate) (%func) : (!transform.any_op) -> ()

  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  transform.include @cwm_fold_unit_dims failures(propagate) (%func) : (!transform.any_op) -> ()
  // Reshapes of tiles would keep vectors from being forwarded to their readers.
  transform.apply_patterns to %func {
    transform.apply_patterns.tensor.bubble_up_extract_slice
    transform.apply_patterns.tensor.reassociative_reshape_folding
    transform.apply_patterns.canonicalization
    transform.apply_patterns.tensor.merge_consecutive_insert_extract_slice
  } : !transform.any_op
  transform.tune.alternatives<"strided"> {
    transform.yield
  }, {
    transform.apply_patterns to %func {
      transform.apply_patterns.cwm.strided_maps_to_slices
    } : !transform.any_op
    transform.yield
  }
  transform.include @cwm_vectorise failures(propagate) (%func) : (!transform.any_op) -> ()
  transform.include @cwm_hoist failures(propagate) (%func) : (!transform.any_op) -> ()
  %lowered = transform.include @cwm_bufferise failures(propagate) (%root) : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_lower_vectors failures(propagate) (%lowered) : (!transform.any_op) -> ()
  transform.yield
}

// Padding as a fill and a copy, row by row.
transform.named_sequence @pad_rows(%pad: !transform.any_op {transform.consumed}) {
  %padded = transform.structured.rewrite_in_destination_passing_style %pad : (!transform.any_op) -> !transform.any_op
  %border = transform.get_producer_of_operand %padded[1] : (!transform.any_op) -> !transform.any_op
  %border_row, %border_loops:3 = transform.structured.tile_using_for %border tile_sizes [1, 1, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  %inside = transform.structured.insert_slice_to_copy %padded : (!transform.any_op) -> !transform.any_op
  %inside_row, %inside_loops:3 = transform.structured.tile_using_for %inside tile_sizes [1, 1, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}

// A bias that is broadcast to the initial value is packed like the result.
transform.named_sequence @pack_bias(%conv: !transform.any_op {transform.readonly}) {
  %bias = transform.get_producer_of_operand %conv[2] : (!transform.any_op) -> !transform.op<"linalg.generic">
  %packed = transform.structured.pack %bias packed_sizes = [0, 0, 0, 32] {cwm.bind = {static_packed_sizes = [0, 0, 0, "f"]}} : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.generic">
  %channels = transform.get_producer_of_operand %packed[0] : (!transform.op<"linalg.generic">) -> !transform.any_op
  %tile, %loop = transform.structured.tile_using_for %channels tile_sizes [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.structured.vectorize %tile vector_sizes [1, 32] {cwm.bind = {static_vector_sizes = [1, "f"]}} : !transform.any_op
  transform.yield
}

}
