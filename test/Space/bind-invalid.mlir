// RUN: split-file %s %t
// RUN: not cwm-opt --cwm-bind="knobs=kk=1" %t/one.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: the schedule has no knob "kk"
// RUN: not cwm-opt --cwm-bind="knobs=k=3" %t/one.mlir 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: '3' is not an option of knob "k"
// RUN: not cwm-opt --cwm-bind="knobs=k=1,k=2" %t/one.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: knob "k" is given twice
// RUN: not cwm-opt --cwm-bind="knobs=k" %t/one.mlir 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: expected KNOB=VALUE, got 'k'
// RUN: not cwm-opt --cwm-bind="knobs=schedule{k=3}" %t/one.mlir 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: error: 'schedule{k=3}' is not the key of a candidate
// RUN: not cwm-opt --cwm-bind="knobs=k=2" %t/one.mlir 2>&1 | FileCheck %s --check-prefix=CONSTRAINT
// CONSTRAINT: error: constraint 'k < 2' at {{.*}}one.mlir:8:7 does not hold for k = 2
// RUN: not cwm-opt --cwm-bind %t/never.mlir 2>&1 | FileCheck %s --check-prefix=NEVER
// NEVER: never.mlir:1:1: error: constraint 'k > 2' at {{.*}}never.mlir:8:7 holds for no options of its knobs
// RUN: not cwm-opt --cwm-bind %t/clash.mlir 2>&1 | FileCheck %s --check-prefix=CLASH
// CLASH: clash.mlir:1:1: error: no candidate satisfies all constraints; most often violated: constraint 'k {{[<>]}} 2' at {{.*}}clash.mlir
// RUN: not cwm-opt --cwm-bind="knobs=t=0" %t/loops.mlir 2>&1 | FileCheck %s --check-prefix=LOOPS
// LOOPS: loops.mlir:4:16: error: loop #1 is used but does not exist with tile sizes [4, 0, 4]; a handle that is used needs a size other than 0

//--- one.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %k = transform.tune.knob<"k"> options = [1, 2] -> !transform.param<i64>
    transform.smt.constrain_params(%k) : (!transform.param<i64>) -> () {
    ^bb0(%x: !smt.int):
      %c = smt.int.constant 2
      %l = smt.int.cmp lt %x, %c
      smt.assert %l
    }
    transform.yield
  }
}
//--- never.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %k = transform.tune.knob<"k"> options = [1, 2] -> !transform.param<i64>
    transform.smt.constrain_params(%k) : (!transform.param<i64>) -> () {
    ^bb0(%x: !smt.int):
      %c = smt.int.constant 2
      %l = smt.int.cmp gt %x, %c
      smt.assert %l
    }
    transform.yield
  }
}
//--- clash.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %k = transform.tune.knob<"k"> options = [1, 2, 3] -> !transform.param<i64>
    transform.smt.constrain_params(%k) : (!transform.param<i64>) -> () {
    ^bb0(%x: !smt.int):
      %c = smt.int.constant 2
      %l = smt.int.cmp gt %x, %c
      smt.assert %l
      %m = smt.int.cmp lt %x, %c
      smt.assert %m
    }
    transform.yield
  }
}
//--- loops.mlir
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %0 = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %1, %l:3 = transform.structured.tile_using_for %0 tile_sizes [4, 4, 4]
      {cwm.bind = {static_sizes = [4, {knob = "t", options = [4, 0]}, 4]}}
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.loop.unroll %l#1 {factor = 2 : i64} : !transform.any_op
    transform.yield
  }
}
