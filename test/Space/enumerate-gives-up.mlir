// RUN: not cwm-opt --cwm-space=enumerate=2 %s 2>&1 | FileCheck %s
// RUN: not cwm-opt --cwm-space=sample=2 %s 2>&1 | FileCheck %s --check-prefix=SAMPLE

// 10^18 pairs of which hardly any satisfies the constraint.
// CHECK: error: gave up the enumeration: too many options were looked at without finding a further candidate that satisfies all constraints
// SAMPLE: error: found no candidate that satisfies all constraints
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %a = transform.tune.knob<"a"> options = {lower_bound = 1, upper_bound = 1000000000} -> !transform.param<i64>
    %b = transform.tune.knob<"b"> options = {lower_bound = 1, upper_bound = 1000000000} -> !transform.param<i64>
    transform.smt.constrain_params(%a, %b) : (!transform.param<i64>, !transform.param<i64>) -> () {
    ^bb0(%x: !smt.int, %y: !smt.int):
      %product = smt.int.constant 998244353998244353
      %z = smt.int.mul %x, %y
      %equal = smt.eq %z, %product : !smt.int
      smt.assert %equal
    }
    transform.yield
  }
}
