// Fits every payload: one loop nest for each op, vectorised by the lowering
// (cwm-vectorize-linalg) or, with upstream passes only and where it cannot, by
// LLVM. Reductions whose innermost loop would jump through memory are interchanged
// so that it runs along the rows of the result; a factor of 10 and more on
// transposed weights and big convolutions.
//
// Knobs of the search:
//   fusion  elementwise ops in one loop nest, or each in its own (the fused form
//           may repeat work of an outer loop in an inner one)

// Structure, from the payload:
//   softmax  1 where there is a linalg.softmax, which has no loops of its own
//   elementwise  1 where there is arithmetic on whole tensors
//   partial  1 where an op writes its result in part and keeps what is there
//            besides: upstream's fusion and bufferisation would lose that

module attributes {transform.with_named_sequence} {

transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
  %func0 = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
  %func = transform.tune.alternatives<"elementwise"> -> !transform.any_op {
    transform.yield %func0 : !transform.any_op
  }, {
    %linalg = transform.apply_registered_pass "convert-elementwise-to-linalg" to %func0 : (!transform.any_op) -> !transform.any_op
    transform.yield %linalg : !transform.any_op
  }
  transform.tune.alternatives<"softmax"> {
    transform.yield
  }, {
    %softmax = transform.structured.match ops{["linalg.softmax"]} in %func : (!transform.any_op) -> !transform.any_op
    %parts = transform.structured.decompose_interface %softmax : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
  %whole = transform.tune.alternatives<"partial"> -> !transform.any_op {
    transform.yield %func : !transform.any_op
  }, {
    %loops = transform.apply_registered_pass "cwm-decompose-tensor-ops" to %func : (!transform.any_op) -> !transform.any_op
    transform.yield %loops : !transform.any_op
  }
  %ordered = transform.include @interchange failures(propagate) (%whole) : (!transform.any_op) -> !transform.any_op
  transform.tune.alternatives<"fusion"> {
    transform.yield
  }, {
    %fused = transform.apply_registered_pass "linalg-fuse-elementwise-ops" to %ordered : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
  transform.yield
}

transform.named_sequence @interchange(%func: !transform.any_op {transform.readonly}) -> !transform.any_op {
  %matmul = transform.structured.match ops{["linalg.matmul"]} in %func : (!transform.any_op) -> !transform.any_op
  %matmul_generic = transform.structured.generalize %matmul : (!transform.any_op) -> !transform.any_op
  %matmul_ordered = transform.structured.interchange %matmul_generic iterator_interchange = [0, 2, 1] : (!transform.any_op) -> !transform.any_op
  %batch = transform.structured.match ops{["linalg.batch_matmul"]} in %func : (!transform.any_op) -> !transform.any_op
  %batch_generic = transform.structured.generalize %batch : (!transform.any_op) -> !transform.any_op
  %batch_ordered = transform.structured.interchange %batch_generic iterator_interchange = [0, 1, 3, 2] : (!transform.any_op) -> !transform.any_op
  // n, f, h, w, c, kh, kw
  %conv = transform.structured.match ops{["linalg.conv_2d_nchw_fchw"]} in %func : (!transform.any_op) -> !transform.any_op
  %conv_generic = transform.structured.generalize %conv : (!transform.any_op) -> !transform.any_op
  %conv_ordered = transform.structured.interchange %conv_generic iterator_interchange = [0, 1, 2, 4, 5, 6, 3] : (!transform.any_op) -> !transform.any_op
  // n, f, d, h, w, c, kd, kh, kw
  %conv3d = transform.structured.match ops{["linalg.conv_3d_ncdhw_fcdhw"]} in %func : (!transform.any_op) -> !transform.any_op
  %conv3d_generic = transform.structured.generalize %conv3d : (!transform.any_op) -> !transform.any_op
  %conv3d_ordered = transform.structured.interchange %conv3d_generic iterator_interchange = [0, 1, 2, 3, 5, 6, 7, 8, 4] : (!transform.any_op) -> !transform.any_op
  // n, h, w, c, kh, kw
  %depthwise = transform.structured.match ops{["linalg.depthwise_conv_2d_nchw_chw"]} in %func : (!transform.any_op) -> !transform.any_op
  %depthwise_generic = transform.structured.generalize %depthwise : (!transform.any_op) -> !transform.any_op
  %depthwise_ordered = transform.structured.interchange %depthwise_generic iterator_interchange = [0, 3, 1, 4, 5, 2] : (!transform.any_op) -> !transform.any_op
  // n, c, h, w, kh, kw
  %pool = transform.structured.match ops{["linalg.pooling_nchw_max", "linalg.pooling_nchw_sum"]} in %func : (!transform.any_op) -> !transform.any_op
  %pool_generic = transform.structured.generalize %pool : (!transform.any_op) -> !transform.any_op
  %pool_ordered = transform.structured.interchange %pool_generic iterator_interchange = [0, 1, 2, 4, 5, 3] : (!transform.any_op) -> !transform.any_op
  transform.yield %func : !transform.any_op
}

}
