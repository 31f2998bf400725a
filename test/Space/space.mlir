// RUN: cwm-opt --cwm-space="list enumerate=3 sample=2 seed=4" %s -o %t.mlir | FileCheck %s
// RUN: cwm-opt --cwm-space="sample=2 seed=4" %s -o %t.mlir | FileCheck %s --check-prefix=SAME
// The schedule itself is left as it is.
// RUN: FileCheck %s --check-prefix=KEPT --input-file %t.mlir
// KEPT: cwm.bind

// 10^12 candidates of which some violate a constraint: counted at once.
// CHECK: 898700000000 candidates of 1000000000000 before constraints
// CHECK-NEXT: knob a (param): 1 to 1000000; default 1
// CHECK-NEXT: knob b (param): 1000 to 1000000 by 1000; default 1000
// CHECK-NEXT: knob c (param): 1, 2, 4, 8, 16, 32, 64, 128, 256, 512; default 4
// CHECK-NEXT: knob d (binding): 1 to 100; default 1
// CHECK-NEXT: schedule{a=1,b=1000,c=1,d=1}
// CHECK-NEXT: schedule{a=1,b=1000,c=1,d=2}
// CHECK-NEXT: schedule{a=1,b=1000,c=1,d=3}
// CHECK-NEXT: [[FIRST:schedule{a=[0-9]+,b=[0-9]+000,c=[0-9]+,d=[0-9]+}]]
// CHECK-NEXT: schedule{
// CHECK-NOT: schedule{
// SAME: candidates
// SAME-NEXT: schedule{
// SAME-NEXT: schedule{
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %a = transform.tune.knob<"a"> options = {lower_bound = 1, upper_bound = 1000000} -> !transform.param<i64>
    %b = transform.tune.knob<"b"> options = {lower_bound = 1, upper_bound = 1000000, divisible_by = 1000} -> !transform.param<i64>
    %c = transform.tune.knob<"c"> options = {options = [1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512], divides = 512} {cwm.default = 4} -> !transform.param<i64>
    %0 = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.loop.unroll %0 {factor = 1 : i64, cwm.bind = {factor = {knob = "d", options = {lower_bound = 1, upper_bound = 100}}}} : !transform.any_op
    // c * 1000 <= b: for c = 2^i, 1000 - 2^i + 1 of the 1000 values of b; that
    // makes 10 * 1001 - 1023 = 8987 pairs, times 10^6 times 100.
    transform.smt.constrain_params(%b, %c) : (!transform.param<i64>, !transform.param<i64>) -> () {
    ^bb0(%x: !smt.int, %y: !smt.int):
      %k = smt.int.constant 1000
      %z = smt.int.mul %y, %k
      %l = smt.int.cmp le %z, %x
      smt.assert %l
    }
    transform.yield
  }
}
