// Windows that slide over each channel by itself: depthwise convolution and
// pooling over an image of one to three dimensions, any stride, dilation and
// padding, with a bias and an elementwise op on the result. Vectors run along the
// innermost dimension of the result: rows of the image, one channel at a time, or
// channels, a block of them at a time, so that their padded image stays in cache.
// As window-inside (cut = 1), the result is computed in parts: where windows lie
// within the image they read it in place, and only borders are padded.
//
// Knobs of the search:
//   block    channels of a block where they are innermost
//   rows, v  tile of the result in registers: vectors of v elements from so many
//            rows of the image or, where channels are innermost, columns
// Structure, from the payload (one option each, set by lib/Sketches; what stands
// here is for NCHW):
//   cut, inside, inside_sizes  0 for the whole result; else where its inside is,
//            for an op of cwm
//   window, loops  iterators of the op; its loops in the order of the result, the
//            window last
//   image    a block: 1 for each other dimension
//   input_rows  step of padding
//   tile, step  of the result, and of the window
//   tile_window  iterators after that
//   unroll, kernel_d, kernel_h, kernel_w  loops over the window, unrolled
//   find     the last op, maybe below a reshape
//   strided  1 where the stride is not: needs an op of cwm
//   most_elements  of a tile
//   parallel  blocks are shared out among threads
//   threads, share  1 where these are too few and parts of a block are, and their
//            sizes

module attributes {transform.with_named_sequence} {

transform.named_sequence @cwm_normalise(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_producer(!transform.any_op {transform.readonly}) -> !transform.any_op
transform.named_sequence @cwm_reshaped_producer(!transform.any_op {transform.readonly}) -> !transform.any_op
transform.named_sequence @cwm_lower_pad(!transform.any_op {transform.consumed}) -> (!transform.any_op, !transform.any_op)
transform.named_sequence @cwm_peel_all(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_share(!transform.any_op {transform.readonly}, !transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_clean_up(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_fold_unit_dims(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_vectorise(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_hoist(!transform.any_op {transform.readonly})
transform.named_sequence @cwm_bufferise(!transform.any_op {transform.consumed}) -> !transform.any_op
transform.named_sequence @cwm_lower_vectors(!transform.any_op {transform.readonly})

transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
  %block = transform.tune.knob<"block"> options = [1] -> !transform.param<i64>
  %rows = transform.tune.knob<"rows"> options = [1, 2, 4, 7, 8, 14] {cwm.default = 4 : i64} -> !transform.param<i64>
  %v = transform.tune.knob<"v"> options = [8, 16, 32] {cwm.default = 16 : i64} -> !transform.param<i64>
  %most = transform.tune.knob<"most_elements"> options = [448] -> !transform.param<i64>
  // The tile fits the register file.
  transform.smt.constrain_params(%rows, %v, %most) : (!transform.param<i64>, !transform.param<i64>, !transform.param<i64>) -> () {
  ^bb0(%height: !smt.int, %width: !smt.int, %upper: !smt.int):
    %elements = smt.int.mul %height, %width
    %fits = smt.int.cmp le %elements, %upper
    smt.assert %fits
    smt.yield
  }

  %func0 = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
  %func = transform.include @cwm_normalise failures(propagate) (%func0) : (!transform.any_op) -> !transform.any_op
  %window = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>]} in %func {cwm.bind = {op_attrs = {knob = "window", options = [{iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>]}]}}} : (!transform.any_op) -> !transform.any_op
  %ordered = transform.structured.interchange %window iterator_interchange = [0, 1, 2, 3, 4, 5] {cwm.bind = {iterator_interchange = {knob = "loops", options = [array<i64: 0, 1, 2, 3, 4, 5>]}}} : (!transform.any_op) -> !transform.any_op

  // A block of channels: padding, window, elementwise op.
  %last = transform.include @cwm_producer failures(propagate) (%func) {cwm.bind = {target = {knob = "find", options = [@cwm_producer]}}} : (!transform.any_op) -> !transform.any_op
  // Where the window lies within the image it is read in place.
  %parts = transform.tune.alternatives<"cut"> -> !transform.any_op {
    transform.yield %last : !transform.any_op
  }, {
    %boxes = transform.cwm.split_box %last offsets = [0, 0, 1, 1] sizes = [1, 1, 1, 1] {cwm.bind = {offsets = {knob = "inside", options = [array<i64: 0, 0, 1, 1>]}, sizes = {knob = "inside_sizes", options = [array<i64: 1, 1, 1, 1>]}}} : (!transform.any_op) -> !transform.any_op
    transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
    transform.yield %boxes : !transform.any_op
  }
  %channel, %channel_loops:2 = transform.structured.fuse %parts tile_sizes [1, 1, 0, 0] {cwm.bind = {static_tile_sizes = {knob = "image", options = [[1, 1, 0, 0]]}, use_forall = {knob = "parallel", options = [false]}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.include @cwm_clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
  %pad = transform.structured.match ops{["tensor.pad"]} in %func : (!transform.any_op) -> !transform.any_op
  %border, %inside = transform.include @cwm_lower_pad failures(propagate) (%pad) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  %border_row, %border_loop = transform.structured.tile_using_for %border tile_sizes [0, 0, 1] {cwm.bind = {static_sizes = {knob = "input_rows", options = [[0, 0, 1]]}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  %inside_row, %inside_loop = transform.structured.tile_using_for %inside tile_sizes [0, 0, 1] {cwm.bind = {static_sizes = {knob = "input_rows"}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)

  %part = transform.tune.alternatives<"threads"> -> !transform.any_op {
    transform.yield %channel : !transform.any_op
  }, {
    %shared = transform.include @cwm_share failures(propagate) (%func, %channel) : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield %shared : !transform.any_op
  }
  %tile, %loops:2 = transform.structured.fuse %part tile_sizes [0, 0, 4, 16] {cwm.bind = {static_tile_sizes = {knob = "tile", options = [[0, 0, "rows", "v"]]}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  %peeled = transform.include @cwm_peel_all failures(propagate) (%func) : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_clean_up failures(propagate) (%peeled) : (!transform.any_op) -> ()
  %tiles = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>]} in %peeled {cwm.bind = {op_attrs = {knob = "tile_window", options = [{iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<reduction>]}]}}} : (!transform.any_op) -> !transform.any_op
  // Rows are loaded once for all elements of the window; and LLVM takes vectors
  // of odd lengths apart where a loop carries them.
  transform.include @unroll_2d failures(propagate) (%tiles) {cwm.bind = {target = {knob = "unroll", options = [@unroll_2d]}}} : (!transform.any_op) -> ()
  %fills = transform.structured.match ops{["linalg.fill", "linalg.copy"]} in %peeled : (!transform.any_op) -> !transform.any_op
  %generic_fills = transform.structured.generalize %fills : (!transform.any_op) -> !transform.any_op
  transform.include @cwm_clean_up failures(propagate) (%peeled) : (!transform.any_op) -> ()
  transform.include @cwm_fold_unit_dims failures(propagate) (%peeled) : (!transform.any_op) -> ()
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

// Windows of one, two and three dimensions, element by element.
transform.named_sequence @unroll_1d(%tiles: !transform.any_op {transform.consumed}) {
  %steps, %loop = transform.structured.tile_using_for %tiles tile_sizes [0, 0, 0, 1] {cwm.bind = {static_sizes = {knob = "step", options = [[0, 0, 0, 0, 1, 1]]}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.loop.unroll %loop {factor = 3, cwm.bind = {factor = {knob = "kernel_w", options = [3]}}} : !transform.any_op
  transform.yield
}
transform.named_sequence @unroll_2d(%tiles: !transform.any_op {transform.consumed}) {
  %steps, %loops:2 = transform.structured.tile_using_for %tiles tile_sizes [0, 0, 0, 0, 1, 1] {cwm.bind = {static_sizes = {knob = "step"}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.loop.unroll %loops#1 {factor = 3, cwm.bind = {factor = {knob = "kernel_w"}}} : !transform.any_op
  transform.loop.unroll %loops#0 {factor = 3, cwm.bind = {factor = {knob = "kernel_h", options = [3]}}} : !transform.any_op
  transform.yield
}
transform.named_sequence @unroll_3d(%tiles: !transform.any_op {transform.consumed}) {
  %steps, %loops:3 = transform.structured.tile_using_for %tiles tile_sizes [0, 0, 0, 0, 0, 1, 1, 1] {cwm.bind = {static_sizes = {knob = "step"}}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  transform.loop.unroll %loops#2 {factor = 3, cwm.bind = {factor = {knob = "kernel_w"}}} : !transform.any_op
  transform.loop.unroll %loops#1 {factor = 3, cwm.bind = {factor = {knob = "kernel_h"}}} : !transform.any_op
  transform.loop.unroll %loops#0 {factor = 3, cwm.bind = {factor = {knob = "kernel_d", options = [3]}}} : !transform.any_op
  transform.yield
}

}
