// RUN: cwm-opt --cwm-space="sample=1" %s -split-input-file -verify-diagnostics -o /dev/null

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{knob "k" has an empty list of options}}
    %k = transform.tune.knob<"k"> options = [] -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{knob "k" has type !transform.any_param; expected the type of its options, such as !transform.param<i64>}}
    %k = transform.tune.knob<"k"> options = [1, 2] -> !transform.any_param
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-note @below {{first declared here}}
    %k = transform.tune.knob<"k"> options = [1, 2] -> !transform.param<i64>
    // expected-error @below {{knob "k" is declared with two different lists of options; one name is one decision}}
    %l = transform.tune.knob<"k"> options = [1, 2, 3] -> !transform.param<i64>
    transform.yield
  }
}

// -----

// The same name may not stand for a number and for one of three regions.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-note @below {{first declared here}}
    %k = transform.tune.knob<"k"> options = [0, 1] -> !transform.param<i64>
    // expected-error @below {{knob "k" is declared with two different lists of options; one name is one decision}}
    transform.tune.alternatives<"k"> {
    }, {
    }, {
    }
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{'cwm.bind' names knob "nobody", which is not declared}}
    transform.loop.unroll %root {factor = 2 : i64, cwm.bind = {factor = "nobody"}} : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{'cwm.bind' names 'faktor', which is not an attribute of 'transform.loop.unroll'; it has 'factor'}}
    transform.loop.unroll %root {factor = 2 : i64, cwm.bind = {faktor = {knob = "k", options = [1, 2]}}} : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{'cwm.bind' cannot be used on 'transform.tune.knob'}}
    %k = transform.tune.knob<"k"> options = [1, 2] {cwm.bind = {selected = "k"}} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{'cwm.bind' must be a dictionary {ATTRIBUTE = VALUE}}}
    transform.loop.unroll %root {factor = 2 : i64, cwm.bind = "factor"} : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{knob "k" in 'cwm.bind' has an entry 'option'; expected 'knob', 'options' and 'default'}}
    transform.loop.unroll %root {factor = 2 : i64, cwm.bind = {factor = {knob = "k", option = [1, 2]}}} : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{attribute 'factor' of 'transform.loop.unroll' cannot be "four" (option four of knob "k")}}
    transform.loop.unroll %root {factor = 2 : i64, cwm.bind = {factor = {knob = "k", options = [2, "four"]}}} : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // A list of sizes cannot be an element of a list of sizes.
    // expected-error @below {{attribute 'static_sizes' of 'transform.structured.tile_using_for' cannot be [array<i64: 1, 2>, 0] (option [1,2] of knob "k")}}
    %0, %l = transform.structured.tile_using_for %root tile_sizes [1, 0]
      {cwm.bind = {static_sizes = [{knob = "k", options = [8, array<i64: 1, 2>]}, 0]}}
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{range of knob "k" has 'divisible_by' = 0; expected a positive integer}}
    %k = transform.tune.knob<"k"> options = {lower_bound = 1, upper_bound = 4, divisible_by = 0} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{range of knob "k" is empty: no multiple of 4 in [5, 7]}}
    %k = transform.tune.knob<"k"> options = {lower_bound = 5, upper_bound = 7, divisible_by = 4} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{range of knob "k" needs 'lower_bound' and 'upper_bound'}}
    %k = transform.tune.knob<"k"> options = {lower_bound = 5} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{range of knob "k" has an entry 'lower'; expected 'lower_bound', 'upper_bound', 'divisible_by', 'divides' or 'options'}}
    %k = transform.tune.knob<"k"> options = {lower = 5, upper_bound = 8} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{range of knob "k" does not fit type 'i8'}}
    %k = transform.tune.knob<"k"> options = {lower_bound = 5, upper_bound = 800} -> !transform.param<i8>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{options of knob "k" must be a list or {lower_bound, upper_bound, divisible_by}, got 4 : i64}}
    %k = transform.tune.knob<"k"> options = 4 -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{option "big" of knob "k" is not of type 'i64', which its parameter needs}}
    %k = transform.tune.knob<"k"> options = [4, "big"] -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    // expected-error @below {{default 5 : i64 of knob "k" is not one of its options}}
    %k = transform.tune.knob<"k"> options = [4, 6] {cwm.default = 5} -> !transform.param<i64>
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %k = transform.tune.knob<"k"> options = [4, 6] {cwm.default = 4} -> !transform.param<i64>
    // expected-error @below {{knob "k" has two different defaults}}
    %l = transform.tune.knob<"k"> options = [4, 6] {cwm.default = 6} -> !transform.param<i64>
    transform.yield
  }
}

// -----

// expected-error @below {{schedule has no named sequence '@__transform_main'}}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @main(%root: !transform.any_op) {
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @matcher(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @action(%op: !transform.any_op {transform.readonly}) {
    transform.tune.alternatives<"again"> {
    }, {
      // expected-error @below {{named sequence '@action' includes itself}}
      transform.foreach_match in %op @matcher -> @action : (!transform.any_op) -> !transform.any_op
    }
    transform.yield
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    transform.include @action failures(propagate) (%root) : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %k = transform.tune.knob<"k"> options = [0, 2] -> !transform.param<i64>
    // expected-error @below {{option 2 of knob "k" is not one of the 2 regions of alternatives "alt"}}
    transform.tune.alternatives<"alt"> selected_region = %k : !transform.param<i64> {
    }, {
    }
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %k = transform.tune.knob<"k"> options = [1, 2] -> !transform.param<i64>
    transform.smt.constrain_params(%k) : (!transform.param<i64>) -> () {
    ^bb0(%x: !smt.int):
      // expected-error @below {{'smt.int2bv' in a constraint cannot be evaluated}}
      %b = smt.int2bv %x : !smt.bv<8>
    }
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %k = transform.tune.knob<"k"> options = [1, 2] -> !transform.param<i64>
    transform.smt.constrain_params(%k) : (!transform.param<i64>) -> () {
    ^bb0(%x: !smt.int):
      // expected-error @below {{'smt.declare_fun' in a constraint needs an asserted 'smt.eq' with an expression over the parameters that defines it}}
      %y = smt.declare_fun : !smt.int
      %l = smt.int.cmp lt %x, %y
      smt.assert %l
    }
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %n = transform.num_associations %root : (!transform.any_op) -> !transform.param<i64>
    // expected-error @below {{operand #0 of the constraint is not a knob, an integer constant or computed from these by constraints}}
    transform.smt.constrain_params(%n) : (!transform.param<i64>) -> () {
    ^bb0(%x: !smt.int):
    }
    transform.yield
  }
}

// -----

// expected-error-re @below {{{{^}}constraint '(k * k) < k' at {{.*}} holds for no options of its knobs{{$}}}}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %k = transform.tune.knob<"k"> options = [1, 2] -> !transform.param<i64>
    transform.smt.constrain_params(%k) : (!transform.param<i64>) -> () {
    ^bb0(%x: !smt.int):
      %p = smt.int.mul %x, %x
      %l = smt.int.cmp lt %p, %x
      smt.assert %l
    }
    transform.yield
  }
}
