// RUN: split-file %s %t
// RUN: cwm-opt --cwm-bind %t/basic.mlir | FileCheck %s --check-prefix=DEFAULT
// RUN: cwm-opt --cwm-bind="knobs=mr=8,nr=12,perm=[0,1],UNROLL=4" %t/basic.mlir > %t/bound.mlir
// RUN: FileCheck %s --check-prefix=NAMED --input-file %t/bound.mlir
// What was bound is upstream MLIR.
// RUN: mlir-opt %t/bound.mlir | FileCheck %s --check-prefix=NAMED
// RUN: cwm-opt --cwm-bind="knobs=schedule{UNROLL=4,mr=8,nr=12,perm=[0,1]}" %t/basic.mlir | FileCheck %s --check-prefix=NAMED
// RUN: cwm-opt --cwm-bind="knobs=how=1" %t/alternatives.mlir | FileCheck %s --check-prefix=SECOND
// RUN: cwm-opt --cwm-bind %t/alternatives.mlir | FileCheck %s --check-prefix=FIRST

//--- basic.mlir
// DEFAULT-NOT: cwm.
// DEFAULT: transform.tune.knob<"mr"> = 6 : i64 from options = [4, 6, 8] -> !transform.param<i64>
// DEFAULT: transform.tune.knob<"nr"> = 4 : i64 from options = {divisible_by = 4 : i64, lower_bound = 1 : i64, upper_bound = 16 : i64}
// DEFAULT: tile_using_for %{{.*}} tile_sizes [6, 4, 0] interchange = [1, 0]
// DEFAULT-SAME: -> (!transform.any_op, !transform.any_op, !transform.any_op)
// DEFAULT: transform.loop.unroll %{{.*}} {factor = 1 : i64}
// NAMED: transform.tune.knob<"mr"> = 8 : i64 from
// NAMED: transform.tune.knob<"nr"> = 12 : i64 from
// NAMED: tile_using_for %{{.*}} tile_sizes [8, 12, 0] interchange = [0, 1]
// NAMED: transform.loop.unroll %{{.*}} {factor = 4 : i64}
module attributes {transform.with_named_sequence, cwm.note = "dropped"} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %mr = transform.tune.knob<"mr"> options = [4, 6, 8] {cwm.default = 6} -> !transform.param<i64>
    %nr = transform.tune.knob<"nr"> options = {lower_bound = 1, upper_bound = 16, divisible_by = 4} -> !transform.param<i64>
    %0 = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %1, %loops:2 = transform.structured.tile_using_for %0 tile_sizes [1, 1, 0] interchange = [0, 1]
      {cwm.bind = {static_sizes = ["mr", "nr", 0], interchange = {knob = "perm", options = [array<i64: 1, 0>, array<i64: 0, 1>]}}}
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.loop.unroll %loops#1 {factor = 2, cwm.bind = {factor = {knob = "UNROLL", options = [1, 2, 4]}}} : !transform.any_op
    transform.yield
  }
}

//--- alternatives.mlir
// FIRST-NOT: @unused
// FIRST-NOT: @second
// FIRST: transform.named_sequence @first
// FIRST-NEXT: transform.tune.knob<"a"> = 1 : i64 from
// FIRST: transform.named_sequence @__transform_main
// FIRST-NEXT: transform.include @first
// FIRST-NEXT: transform.yield
// SECOND-NOT: @unused
// SECOND-NOT: @first
// SECOND: transform.named_sequence @second
// SECOND: transform.named_sequence @__transform_main
// SECOND-NEXT: %[[H:.*]] = transform.structured.match
// SECOND-NEXT: transform.include @second failures(propagate) (%[[H]])
module attributes {transform.with_named_sequence} {
  transform.named_sequence @unused(%arg: !transform.any_op {transform.readonly}) {
    %a = transform.tune.knob<"nowhere"> options = [1, 2] -> !transform.param<i64>
    transform.yield
  }
  transform.named_sequence @first(%arg: !transform.any_op {transform.readonly}) {
    %a = transform.tune.knob<"a"> options = [1, 2] -> !transform.param<i64>
    transform.annotate %arg "a" = %a : !transform.any_op, !transform.param<i64>
    transform.yield
  }
  transform.named_sequence @second(%arg: !transform.any_op {transform.readonly}) {
    transform.annotate %arg "b" {cwm.bind = {name = {knob = "b", options = ["x", "y"]}}} : !transform.any_op
    transform.yield
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    transform.tune.alternatives<"how"> {
      transform.include @first failures(propagate) (%root) : (!transform.any_op) -> ()
    }, {
      %0 = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
      transform.include @second failures(propagate) (%0) : (!transform.any_op) -> ()
    }
    transform.yield
  }
}
