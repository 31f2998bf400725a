// RUN: cwm-opt --cwm-bind="knobs=K=8,perm=[1,0],outer=[0,2,1],op=linalg.generic,flag=true,how=@second,tag=7,unit=16,kind=1,sz=2" %s | FileCheck %s --check-prefix=LAST
// RUN: cwm-opt --cwm-bind %s | FileCheck %s --check-prefix=FIRST
// RUN: cwm-opt --cwm-space="list" %s -o /dev/null | FileCheck %s --check-prefix=SPACE

// Every kind of attribute: dense arrays, arrays of integers and strings,
// integers, flags, symbols, dictionaries, strings, and arrays that mix knobs
// and numbers; within included sequences, foreach bodies and alternatives.

// SPACE: 384 candidates
// SPACE: knob tag (param): 5, 7; default 5; live when how = @second

// FIRST: transform.named_sequence @first
// FIRST-NOT: transform.named_sequence @second
// LAST-NOT: transform.named_sequence @first
// LAST: transform.named_sequence @second
// LAST: transform.tune.knob<"tag"> = 7 : i64 from
module attributes {transform.with_named_sequence} {
  transform.named_sequence @first(%op: !transform.any_op {transform.readonly}) {
    // FIRST: transform.get_parent_op %{{.*}} {nth_parent = 2 : i64}
    %p = transform.get_parent_op %op {nth_parent = 4 : i64, cwm.bind = {nth_parent = {knob = "jam", options = [2, 3]}}} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
  transform.named_sequence @second(%op: !transform.any_op {transform.readonly}) {
    %tag = transform.tune.knob<"tag"> options = [5, 7] -> !transform.param<i64>
    transform.annotate %op "tag" = %tag : !transform.any_op, !transform.param<i64>
    transform.yield
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // FIRST: match ops{["linalg.matmul"]} attributes {lucky = 2 : i64} in
    // LAST: match ops{["linalg.generic"]} attributes {lucky = 2 : i64} in
    %0 = transform.structured.match ops{["linalg.matmul"]} attributes {lucky = 1 : i64} in %root
      {cwm.bind = {ops = [{knob = "op", options = ["linalg.matmul", "linalg.generic"]}], op_attrs = {lucky = {knob = "sz", options = [2]}}}}
      : (!transform.any_op) -> !transform.any_op
    // FIRST: pack %{{.*}} packed_sizes = [4, 16, 0]
    // LAST: pack %{{.*}} packed_sizes = [8, 16, 0]
    %1 = transform.structured.pack %0 packed_sizes = [1, 1, 1]
      {cwm.bind = {static_packed_sizes = [{knob = "K", options = {lower_bound = 4, upper_bound = 8, divisible_by = 2}}, {knob = "unit", options = [16]}, 0]}}
      : (!transform.any_op) -> (!transform.op<"linalg.generic">)
    %2 = transform.get_producer_of_operand %1[1] : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.pack">
    // FIRST: pack_transpose %{{.*}} outer_perm = [0, 1, 2] inner_perm = [0, 1]
    // LAST: pack_transpose %{{.*}} outer_perm = [0, 2, 1] inner_perm = [1, 0]
    %3:3 = transform.structured.pack_transpose %2 with_compute_op(%1) outer_perm = [0, 1, 2] inner_perm = [0, 1]
      {cwm.bind = {outer_perm = {knob = "outer", options = [array<i64: 0, 1, 2>, [0, 2, 1]]}, inner_perm = {knob = "perm", options = [[0, 1], [1, 0]]}}}
      : (!transform.op<"linalg.pack">, !transform.op<"linalg.generic">) -> (!transform.op<"linalg.generic">, !transform.op<"linalg.pack">, !transform.any_op)
    // FIRST: structured.interchange %{{.*}} iterator_interchange = [0, 1]
    // LAST: structured.interchange %{{.*}} iterator_interchange = [1, 0]
    %4 = transform.structured.interchange %3#0 {cwm.bind = {iterator_interchange = "perm"}} : (!transform.op<"linalg.generic">) -> !transform.any_op
    // FIRST: structured.pad %{{.*}} {{.*}}padding_dimensions = [0, 4]
    // LAST: structured.pad %{{.*}} {{.*}}padding_dimensions = [0, 8]
    %p, %q, %r = transform.structured.pad %4 {padding_dimensions = [0], cwm.bind = {padding_dimensions = [0, "K"]}} : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.foreach %p : !transform.any_op {
    ^bb0(%f: !transform.any_op):
      // FIRST: structured.vectorize_children_and_apply_patterns %{{.*}} :
      // LAST: structured.vectorize_children_and_apply_patterns %{{.*}} {vectorize_padding} :
      %v = transform.structured.vectorize_children_and_apply_patterns %f {cwm.bind = {vectorize_padding = {knob = "flag", options = [false, true]}}} : (!transform.any_op) -> !transform.any_op
    }
    // FIRST: match interface{LinalgOp} in
    // LAST: match interface{TilingInterface} in
    %m = transform.structured.match interface{LinalgOp} in %root {cwm.bind = {interface = {knob = "kind", options = [0 : i32, 1 : i32]}}} : (!transform.any_op) -> !transform.any_op
    // FIRST: transform.include @first
    // LAST: transform.include @second
    transform.include @first failures(propagate) (%m) {cwm.bind = {target = {knob = "how", options = [@first, @second]}}} : (!transform.any_op) -> ()
    transform.yield
  }
}
