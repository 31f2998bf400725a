// A matmul as our sketches treat it: pack, fuse into loops over tiles,
// vectorise, hoist, bufferise, lower vectors. With knobs of each kind.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @clean_up(%func: !transform.any_op {transform.readonly}) {
    transform.apply_patterns to %func {
      transform.apply_patterns.linalg.tiling_canonicalization
      transform.apply_patterns.scf.for_loop_canonicalization
      transform.apply_patterns.canonicalization
      transform.apply_patterns.tensor.merge_consecutive_insert_extract_slice
    } : !transform.any_op
    transform.apply_cse to %func : !transform.any_op
    transform.yield
  }
  transform.named_sequence @pack(%matmul: !transform.any_op {transform.consumed}) -> !transform.any_op {
    %packed = transform.structured.pack %matmul packed_sizes = [8, 32, 4] {cwm.bind = {static_packed_sizes = ["mr", "nr", 4]}} : (!transform.any_op) -> !transform.op<"linalg.generic">
    %rhs = transform.get_producer_of_operand %packed[1] : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.pack">
    %packed1, %rhs1, %no_unpack1 = transform.structured.pack_transpose %rhs with_compute_op(%packed) outer_perm = [1, 0] inner_perm = [1, 0] : (!transform.op<"linalg.pack">, !transform.op<"linalg.generic">) -> (!transform.op<"linalg.generic">, !transform.op<"linalg.pack">, !transform.any_op)
    %lhs = transform.get_producer_of_operand %packed1[0] : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.pack">
    %packed2, %lhs1, %no_unpack2 = transform.structured.pack_transpose %lhs with_compute_op(%packed1) inner_perm = [1, 0] : (!transform.op<"linalg.pack">, !transform.op<"linalg.generic">) -> (!transform.op<"linalg.generic">, !transform.op<"linalg.pack">, !transform.any_op)
    %any = transform.cast %packed2 : !transform.op<"linalg.generic"> to !transform.any_op
    transform.yield %any : !transform.any_op
  }

  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    %mr = transform.tune.knob<"mr"> options = [4 : i64, 8 : i64] {cwm.default = 8 : i64} -> !transform.param<i64>
    %nr = transform.tune.knob<"nr"> options = [16 : i64, 32 : i64] -> !transform.param<i64>
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %packed = transform.include @pack failures(propagate) (%matmul) : (!transform.any_op) -> !transform.any_op
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.include @clean_up failures(propagate) (%func) : (!transform.any_op) -> ()

    %packs = transform.structured.match ops{["linalg.pack"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.foreach %packs : !transform.any_op {
    ^bb0(%pack: !transform.any_op):
      %tile, %loops:2 = transform.structured.tile_using_for %pack tile_sizes [1, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    }
    %outer, %outer_loops:2 = transform.structured.fuse %packed tile_sizes [1, 1, 0, 0, 0, 0] interchange [1, 0, 2, 3, 4, 5] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %inner, %inner_loop = transform.structured.tile_using_for %outer tile_sizes [0, 0, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.tune.alternatives<"unroll"> {
      transform.yield
    }, {
      transform.loop.unroll %inner_loop {factor = 2 : i64, cwm.bind = {factor = {knob = "factor", options = [2, 4]}}} : !transform.any_op
      transform.yield
    }
    %unpack = transform.structured.match ops{["linalg.unpack"]} in %root : (!transform.any_op) -> !transform.any_op
    %u, %unpack_loops:2 = transform.structured.tile_using_for %unpack tile_sizes [%mr, %nr] : (!transform.any_op, !transform.param<i64>, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.include @clean_up failures(propagate) (%func) : (!transform.any_op) -> ()
    %vectorised = transform.structured.vectorize_children_and_apply_patterns %func : (!transform.any_op) -> !transform.any_op
    transform.include @clean_up failures(propagate) (%vectorised) : (!transform.any_op) -> ()

    %all_loops = transform.structured.match ops{["scf.for"]} in %vectorised : (!transform.any_op) -> !transform.any_op
    transform.foreach %all_loops : !transform.any_op {
    ^bb0(%loop: !transform.any_op):
      transform.loop.hoist_loop_invariant_subsets %loop : !transform.any_op
    }
    transform.apply_licm to %all_loops : !transform.any_op
    transform.structured.eliminate_empty_tensors %vectorised : !transform.any_op
    %bufferised = transform.bufferization.one_shot_bufferize layout{IdentityLayoutMap} %root {bufferize_function_boundaries = true, allow_return_allocs_from_loops = true} : (!transform.any_op) -> !transform.any_op
    %lowered = transform.structured.match ops{["func.func"]} in %bufferised : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %lowered {
      transform.apply_patterns.vector.lower_contraction lowering_strategy = "outerproduct"
      transform.apply_patterns.vector.lower_outerproduct
    } : !transform.any_op
    transform.yield
  }
}
