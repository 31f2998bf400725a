// A space of nine million candidates of 20 actions in front of the lowering, for benchmarks/scoring.py: only scored,
// never applied. The knobs come one after the other, as in a search that decides step by step.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %mm = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %fill = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %t0, %l0:2 = transform.structured.tile_using_for %mm tile_sizes [128, 256, 0] {cwm.bind = {
        static_sizes = [{knob = "mc", options = [32, 64, 96, 128, 192, 256]}, {knob = "nc", options = [64, 128, 192, 256, 384, 512]}, 0],
        interchange = {knob = "outer", options = [[0, 1, 2], [1, 0, 2]]}}}
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.apply_cse to %root : !transform.any_op
    transform.apply_licm to %l0#0 : !transform.any_op
    %t1, %l1 = transform.structured.tile_using_for %t0 tile_sizes [0, 0, 64] {cwm.bind = {
        static_sizes = [0, 0, {knob = "kc", options = [16, 32, 48, 64, 96, 128, 192, 256]}]}}
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.apply_patterns to %root { transform.apply_patterns.canonicalization } : !transform.any_op
    transform.apply_cse to %root : !transform.any_op
    transform.apply_licm to %l1 : !transform.any_op
    %t2, %l2:2 = transform.structured.tile_using_for %t1 tile_sizes [6, 32, 0] {cwm.bind = {
        static_sizes = [{knob = "mr", options = [1, 2, 4, 6, 8, 12, 14, 16]}, {knob = "nr", options = [8, 16, 32, 48, 64, 80, 96, 128]}, 0],
        interchange = {knob = "inner", options = [[0, 1, 2], [1, 0, 2]]}}}
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.apply_patterns to %root { transform.apply_patterns.canonicalization } : !transform.any_op
    transform.apply_cse to %root : !transform.any_op
    %t3, %l3 = transform.structured.tile_using_for %t2 tile_sizes [0, 0, 4] {cwm.bind = {
        static_sizes = [0, 0, {knob = "kr", options = [1, 2, 4, 8, 16]}]}}
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %f0, %fl = transform.structured.tile_using_for %fill tile_sizes [8, 0] {cwm.bind = {
        static_sizes = [{knob = "fr", options = [1, 2, 4, 8, 16, 32]}, 0]}}
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.structured.vectorize %t3 vector_sizes [6, 32, 4] {cwm.bind = {static_vector_sizes = ["mr", "nr", "kr"]}} : !transform.any_op
    transform.structured.vectorize %f0 : !transform.any_op
    transform.apply_licm to %l2#1 : !transform.any_op
    transform.loop.unroll %l3 {factor = 2 : i64, cwm.bind = {factor = {knob = "unroll", options = [1, 2, 4, 8]}}} : !transform.any_op
    transform.apply_patterns to %root { transform.apply_patterns.vector.transfer_permutation_patterns } : !transform.any_op
    transform.apply_patterns to %root { transform.apply_patterns.vector.cast_away_vector_leading_one_dim } : !transform.any_op
    transform.apply_patterns to %root { transform.apply_patterns.canonicalization } : !transform.any_op
    transform.apply_cse to %root : !transform.any_op
    transform.yield
  }
}
