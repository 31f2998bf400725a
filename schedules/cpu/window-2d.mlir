// Depthwise convolution and pooling with channels outside of the image (NCHW),
// any stride, dilation and padding, with an elementwise op on the result. One
// channel at a time, so that its padded image stays in cache; vectors run along
// the rows of the image.
//
// Knobs of the search:
//   h, w   tile of the result that is kept in registers
// Structure, from the payload (one option each, set by lib/Sketches):
//   loops    order of the op's loops as image, channel, row, column, window
//   kernel_h, kernel_w  loops over the window, unrolled
//   strided  1 where the stride is not: needs an op of cwm
//   most_elements  of a tile

module attributes {transform.with_named_sequence} {

transform.named_sequence @cwm_normalise(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_producer(!transform.any_op {transform.readonly}) -> !transform.any_op
transform.named_sequence @cwm_peel(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_clean_up(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_fold_unit_dims(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_vectorise(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_hoist(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_bufferise(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_lower_vectors(!transform.any_op {transform.readonly})

transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
  %h = transform.tune.knob<"h"> options = [1, 2, 4, 7, 8, 14] {cwm.default = 4 : i64} -> !transform.param<i64>
  %w = transform.tune.knob<"w"> options = [8, 16, 32] {cwm.default = 16 : i64} -> !transform.param<i64>
  %most = transform.tune.knob<"most_elements"> options = [448] -> !transform.param<i64>
  // The tile fits the register file.
  transform.smt.constrain_params(%h, %w, %most) : (!transform.param<i64>, !transform.param<i64>, !transform.param<i64>) -> () {
  ^bb0(%rows: !smt.int, %columns: !smt.int, %upper: !smt.int):
    %elements = smt.int.mul %rows, %columns
    %fits = smt.int.cmp le %elements, %upper
    smt.assert %fits
    smt.yield
  }

  %func0 = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
  %func = transform.include @cwm_normalise failures(propagate) (%func0) : (!transform.any_op) -> !transform.any_op
  %named = transform.structured.match ops{["linalg.depthwise_conv_2d_nchw_chw", "linalg.pooling_nchw_max", "linalg.pooling_nchw_sum"]} in %func : (!transform.any_op) -> !transform.any_op
  %generic = transform.structured.generalize %named : (!transform.any_op) -> !transform.any_op
  %ordered = transform.structured.interchange %generic iterator_interchange = [0, 1, 2, 3, 4, 5] {cwm.bind = {iterator_interchange = {knob = "loops", options = [array<i64: 0, 1, 2, 3, 4, 5>]}}} : (!transform.any_op) -> !transform.any_op

  // A channel: padding, window, elementwise op.
  %last = transform.include @cwm_producer failures(propagate) (%func) : (!transform.any_op) -> !transform.any_op
  %channel, %channel_loops:2 = transform.structured.fuse %last tile_sizes [1, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  %pad = transform.structured.match ops{["tensor.pad"]} in %func : (!transform.any_op) -> !transform.any_op
  %padded = transform.structured.rewrite_in_destination_passing_style %pad : (!transform.any_op) -> !transform.any_op
  %border = transform.get_producer_of_operand %padded[1] : (!transform.any_op) -> !transform.any_op
  %border_row, %border_loop = transform.structured.tile_using_for %border tile_sizes [0, 0, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  %inside = transform.structured.insert_slice_to_copy %padded : (!transform.any_op) -> !transform.any_op
  %inside_row, %inside_loop = transform.structured.tile_using_for %inside tile_sizes [0, 0, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)

  %tile, %loops:2 = transform.structured.fuse %channel tile_sizes [0, 0, 4, 16] {cwm.bind = {static_tile_sizes = [0, 0, "h", "w"]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.include @cwm_peel failures(propagate) (%func) : (!transform.any_op) -> ()
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  %tiles = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>]} in %func : (!transform.any_op) -> !transform.any_op
  %steps, %step_loops:2 = transform.structured.tile_using_for %tiles tile_sizes [0, 0, 0, 0, 1, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  // Rows are loaded once for all elements of the window; and LLVM takes vectors
  // of odd lengths apart where a loop carries them.
  transform.loop.unroll %step_loops#1 {factor = 3, cwm.bind = {factor = {knob = "kernel_w", options = [3]}}} : !transform.any_op
  transform.loop.unroll %step_loops#0 {factor = 3, cwm.bind = {factor = {knob = "kernel_h", options = [3]}}} : !transform.any_op
  %fills = transform.structured.match ops{["linalg.fill", "linalg.copy"]} in %func : (!transform.any_op) -> !transform.any_op
  %generic_fills = transform.structured.generalize %fills : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  transform.include @cwm_fold_unit_dims failures(propagate) (%func) : (!transform.any_op) -> ()
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

}
