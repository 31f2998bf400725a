// Convolution over an image of one to three dimensions, in groups or not, with
// channels outside of the image or innermost, as PyTorch has them; any stride,
// dilation and padding, with a bias and an elementwise op on the result. Vectors
// run along the output channels: the filter is packed into panels of f of them,
// the input stays as it is and comes as scalars. Each input element that is
// loaded serves f multiply-adds, whatever the stride. Where channels are not
// innermost the result is transposed in registers.
//
// Knobs of the search:
//   f, w   register tile: output channels (vectorised) and output columns
//   c      input channels of the unrolled innermost step; must divide C
//   order  loops over output channels outside of those over the image (0), or
//          inside (1)
// Structure, from the payload (one option each, set by lib/Sketches; what stands
// here is for NCHW and FCHW):
//   window, loops  iterators of the convolution; its loops in the order of the
//                  result and, reductions, of the filter
//   packed         dimension that becomes panels
//   panels         filter dimensions with the panels outermost
//   panel          step of packing
//   tile, step     of the result, and of the reductions
//   features_outside, features_inside  the orders
//   features, width  output channels; columns, but more where the image has rows
//   packed_window  iterators of the packed convolution
//   input_rows, filter_rows  steps of padding
//   packed_bias    1 for a bias, if f divides F; tiles of others are transposed
//   bias, bias_step, bias_vector, bias_scalable  how it is packed
//   find           the last op, maybe below a reshape
//   strided        1 where the stride is not: needs an op of cwm
//   most_elements  of a register tile
//   threads, share  1 where parts of the result are shared out among threads, and
//                  their sizes

module attributes {transform.with_named_sequence} {

transform.named_sequence @cwm_normalise(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_producer(!transform.any_op {transform.readonly}) -> !transform.any_op
transform.named_sequence @cwm_reshaped_producer(!transform.any_op {transform.readonly}) -> !transform.any_op
transform.named_sequence @cwm_lower_pad(!transform.any_op {transform.consumed}) -> (!transform.any_op, !transform.any_op)
transform.named_sequence @cwm_peel_all(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_share(!transform.any_op {transform.readonly}, !transform.any_op {transform.consumed}) -> !transform.any_op
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
  %features = transform.tune.knob<"features"> options = [1024] -> !transform.param<i64>
  %width = transform.tune.knob<"width"> options = [1024] -> !transform.param<i64>
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
  %border, %inside = transform.include @cwm_lower_pad failures(propagate) (%pad) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  %border_part = transform.tune.alternatives<"threads"> -> !transform.any_op {
    transform.yield %border : !transform.any_op
  }, {
    %row, %row_loop = transform.structured.tile_using_forall %border tile_sizes [1, 1, 1] {cwm.bind = {static_tile_sizes = {knob = "input_rows"}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield %row : !transform.any_op
  }
  %border_row, %border_loops:3 = transform.structured.tile_using_for %border_part tile_sizes [1, 1, 1] {cwm.bind = {static_sizes = {knob = "input_rows", options = [[1, 1, 1]]}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  %inside_part = transform.tune.alternatives<"threads"> -> !transform.any_op {
    transform.yield %inside : !transform.any_op
  }, {
    %row, %row_loop = transform.structured.tile_using_forall %inside tile_sizes [1, 1, 1] {cwm.bind = {static_tile_sizes = {knob = "input_rows"}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield %row : !transform.any_op
  }
  %inside_row, %inside_loops:3 = transform.structured.tile_using_for %inside_part tile_sizes [1, 1, 1] {cwm.bind = {static_sizes = {knob = "input_rows"}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)

  %window = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>]} in %func {cwm.bind = {op_attrs = {knob = "window", options = [{iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>]}]}}} : (!transform.any_op) -> !transform.any_op
  %ordered = transform.structured.interchange %window iterator_interchange = [0, 1, 2, 3, 4, 5, 6] {cwm.bind = {iterator_interchange = {knob = "loops", options = [array<i64: 0, 1, 2, 3, 4, 5, 6>]}}} : (!transform.any_op) -> !transform.any_op
  transform.tune.alternatives<"packed_bias"> {
    transform.yield
  }, {
    transform.include @pack_bias failures(propagate) (%ordered) : (!transform.any_op) -> ()
    transform.yield
  }
  %packed = transform.structured.pack %ordered packed_sizes = [0, 32, 0, 0, 0, 0, 0] {cwm.bind = {static_packed_sizes = {knob = "packed", options = [[0, "f", 0, 0, 0, 0, 0]]}}} : (!transform.any_op) -> !transform.op<"linalg.generic">
  %filter = transform.get_producer_of_operand %packed[1] : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.pack">
  %outermost, %filter1, %unused = transform.structured.pack_transpose %filter with_compute_op(%packed) outer_perm = [0, 1, 2, 3] {cwm.bind = {outer_perm = {knob = "panels", options = [array<i64: 0, 1, 2, 3>]}}} : (!transform.op<"linalg.pack">, !transform.op<"linalg.generic">) -> (!transform.op<"linalg.generic">, !transform.op<"linalg.pack">, !transform.any_op)
  %filter_pads, %expand, %transpose = transform.structured.lower_pack %filter1 : (!transform.op<"linalg.pack">) -> (!transform.op<"tensor.pad">, !transform.op<"tensor.expand_shape">, !transform.op<"linalg.transpose">)
  %transpose_tile, %transpose_loops:3 = transform.structured.tile_using_for %transpose tile_sizes [1, 16, 1] {cwm.bind = {static_sizes = {knob = "panel", options = [[1, 16, 1]]}}} : (!transform.op<"linalg.transpose">) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  transform.apply_patterns to %func {
    transform.apply_patterns.canonicalization
    transform.apply_patterns.linalg.fold_pack_unpack_into_empty
    transform.apply_patterns.tensor.fold_into_pack_and_unpack
  } : !transform.any_op
  transform.apply_cse to %func : !transform.any_op
  // F that f does not divide.
  %filter_pad = transform.structured.match ops{["tensor.pad"]} in %func : (!transform.any_op) -> !transform.any_op
  %filter_border, %filter_inside = transform.include @cwm_lower_pad failures(propagate) (%filter_pad) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  %filter_border_row, %filter_border_loops:3 = transform.structured.tile_using_for %filter_border tile_sizes [1, 1, 1] {cwm.bind = {static_sizes = {knob = "filter_rows", options = [[1, 1, 1]]}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  %filter_row, %filter_loops:3 = transform.structured.tile_using_for %filter_inside tile_sizes [1, 1, 1] {cwm.bind = {static_sizes = {knob = "filter_rows"}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)

  %last = transform.include @cwm_producer failures(propagate) (%func) {cwm.bind = {target = {knob = "find", options = [@cwm_producer]}}} : (!transform.any_op) -> !transform.any_op
  %part = transform.tune.alternatives<"threads"> -> !transform.any_op {
    transform.yield %last : !transform.any_op
  }, {
    %shared = transform.include @cwm_share failures(propagate) (%func, %last) : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield %shared : !transform.any_op
  }
  transform.tune.alternatives<"order"> {
    %tile, %loops:4 = transform.structured.fuse %part tile_sizes [1, 32, 1, 14] interchange [0, 1, 2, 3] {cwm.bind = {static_tile_sizes = {knob = "tile", options = [[1, "f", 1, "w"]]}, static_tile_interchange = {knob = "features_outside", options = [array<i64: 0, 1, 2, 3>]}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  }, {
    // Where one tile spans all channels, or the image, there is one order.
    transform.smt.constrain_params(%f, %w, %features, %width) : (!transform.param<i64>, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>) -> () {
    ^bb0(%rows: !smt.int, %columns: !smt.int, %all_rows: !smt.int, %all_columns: !smt.int):
      %several_rows = smt.int.cmp lt %rows, %all_rows
      %several_columns = smt.int.cmp lt %columns, %all_columns
      smt.assert %several_rows
      smt.assert %several_columns
      smt.yield
    }
    %tile, %loops:4 = transform.structured.fuse %part tile_sizes [1, 32, 1, 14] interchange [0, 2, 3, 1] {cwm.bind = {static_tile_sizes = {knob = "tile"}, static_tile_interchange = {knob = "features_inside", options = [array<i64: 0, 2, 3, 1>]}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  }
  // Incomplete tiles at the ends get code of their own.
  %peeled = transform.include @cwm_peel_all failures(propagate) (%func) : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_clean_up failures(propagate) (%peeled) : (!transform.any_op) -> ()
  %tiles = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>]} in %peeled {cwm.bind = {op_attrs = {knob = "packed_window", options = [{iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>]}]}}} : (!transform.any_op) -> !transform.any_op
  %steps, %step_loops:3 = transform.structured.tile_using_for %tiles tile_sizes [0, 0, 0, 0, 4, 1, 1] {cwm.bind = {static_sizes = {knob = "step", options = [[0, 0, 0, 0, "c", 1, 1]]}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  transform.include @cwm_unpack_tiles failures(propagate) (%peeled) : (!transform.any_op) -> ()

  transform.include @cwm_clean_up failures(propagate) (%peeled) : (!transform.any_op) -> ()
  transform.include @cwm_fold_unit_dims failures(propagate) (%peeled) : (!transform.any_op) -> ()
  // Reshapes of tiles would keep vectors from being forwarded to their readers.
  transform.apply_patterns to %peeled {
    transform.apply_patterns.tensor.bubble_up_extract_slice
    transform.apply_patterns.tensor.reassociative_reshape_folding
    transform.apply_patterns.canonicalization
    transform.apply_patterns.tensor.merge_consecutive_insert_extract_slice
  } : !transform.any_op
  transform.tune.alternatives<"strided"> {
    transform.yield
  }, {
    transform.apply_patterns to %peeled {
      transform.apply_patterns.cwm.strided_maps_to_slices
    } : !transform.any_op
    transform.yield
  }
  transform.include @cwm_vectorise failures(propagate) (%peeled) : (!transform.any_op) -> ()
  transform.include @cwm_hoist failures(propagate) (%peeled) : (!transform.any_op) -> ()
  %lowered = transform.include @cwm_bufferise failures(propagate) (%root) : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_lower_vectors failures(propagate) (%lowered) : (!transform.any_op) -> ()
  transform.yield
}

// A bias that is broadcast to the initial value is packed like the result.
transform.named_sequence @pack_bias(%window: !transform.any_op {transform.readonly}) {
  %bias = transform.get_producer_of_operand %window[2] : (!transform.any_op) -> !transform.op<"linalg.generic">
  %packed = transform.structured.pack %bias packed_sizes = [0, 32, 0, 0] {cwm.bind = {static_packed_sizes = {knob = "bias", options = [[0, "f", 0, 0]]}}} : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.generic">
  %channels = transform.get_producer_of_operand %packed[0] : (!transform.op<"linalg.generic">) -> !transform.any_op
  %tile, %loop = transform.structured.tile_using_for %channels tile_sizes [1] {cwm.bind = {static_sizes = {knob = "bias_step", options = [[1]]}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.structured.vectorize %tile vector_sizes [1, 32] {cwm.bind = {static_vector_sizes = {knob = "bias_vector", options = [[1, "f"]]}, scalable_sizes = {knob = "bias_scalable", options = [[0, 0]]}}} : !transform.any_op
  transform.yield
}

}
