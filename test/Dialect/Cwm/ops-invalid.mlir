// RUN: cwm-opt %s -verify-diagnostics -split-input-file

// expected-error @below {{'cwm.trajectory' op expected at least one 'cwm.state'}}
cwm.trajectory workload "aa" status ok {
}

// -----

// expected-error @below {{expected the workload to be the hash of state 0}}
cwm.trajectory workload "aa" status ok {
  cwm.state 0 "bb"
}

// -----

cwm.trajectory workload "aa" status ok {
  cwm.state 0 "aa"
  // expected-error @below {{'cwm.state' op expected index 1, found 2}}
  cwm.state 2 "bb"
}

// -----

cwm.trajectory workload "aa" status ok {
  cwm.state 0 "aa"
  // expected-error @below {{'builtin.module' op is neither a state, a step nor an action}}
  builtin.module {}
}

// -----

cwm.trajectory workload "aa" status ok {
  cwm.state 0 "aa"
  // expected-error @below {{names state 1 as its state after, but the trajectory has 1}}
  cwm.step 0 depth 0 action "apply_cse" ok states 0 -> 1 {text = "apply_cse"}
}

// -----

cwm.trajectory workload "aa" status ok {
  cwm.state 0 "aa"
  cwm.step 3 depth 0 handle "get_parent_op" ok
  // expected-error @below {{expected an index above 3, found 3}}
  cwm.step 3 depth 0 handle "get_parent_op" ok
}

// -----

cwm.trajectory workload "aa" status ok {
  cwm.state 0 "aa"
  // expected-error @below {{names step 1 as its parent, which does not precede it}}
  cwm.step 0 in 1 depth 1 handle "get_parent_op" ok
}

// -----

cwm.trajectory workload "aa" status ok {
  cwm.state 0 "aa"
  cwm.step 0 depth 0 control "foreach" ok
  // expected-error @below {{expected depth 1 below its parent, found 2}}
  cwm.step 1 in 0 depth 2 handle "get_parent_op" ok
}

// -----

cwm.trajectory workload "aa" status ok {
  cwm.state 0 "aa"
  cwm.state 1 "bb"
  // expected-error @below {{was skipped and yet changed the state}}
  cwm.step 0 depth 0 action "apply_cse" skipped states 0 -> 1 {text = "apply_cse"}
}

// -----

cwm.trajectory workload "aa" status ok {
  cwm.state 0 "aa"
  // expected-error @below {{expected the states before and after together}}
  cwm.step 0 depth 0 handle "get_parent_op" ok {before = 0 : i64}
}

// -----

cwm.trajectory workload "aa" status ok {
  cwm.state 0 "aa"
  // expected-error @below {{expected the text of an action}}
  cwm.step 0 depth 0 action "apply_cse" ok
}

// -----

cwm.trajectory workload "aa" status ok {
  cwm.state 0 "aa"
  // expected-error @below {{expected index 0, found 1}}
  cwm.action 1 "apply_cse"
}

// -----

cwm.trajectory workload "aa" status ok {
  cwm.state 0 "aa"
  // expected-error @below {{names state 7 as its state, but the trajectory has 1}}
  cwm.action 0 "apply_cse" state 7
}

// -----

cwm.trajectory workload "aa" status ok {
  cwm.state 0 "aa"
  // expected-error @below {{names step 0, which is not in the trajectory}}
  cwm.action 0 "apply_cse" step 0
}

// -----

cwm.trajectory workload "aa" status ok {
  cwm.state 0 "aa"
  cwm.step 0 depth 0 action "apply_cse" ok {rolled_back, text = "apply_cse"}
  // expected-error @below {{names step 0, which was rolled back}}
  cwm.action 0 "apply_cse" step 0
}

// -----

cwm.trajectory workload "aa" status ok {
  // expected-error @below {{expected one op as its payload}}
  cwm.state 0 "aa" payload {
    builtin.module {}
    builtin.module {}
  }
}

// -----

// expected-error @below {{expected a candidate to name its space}}
func.func private @f() attributes {cwm.candidate = #cwm.candidate<"", {}>}

// -----

// expected-error @below {{'cwm.state' op expects parent op 'cwm.trajectory'}}
cwm.state 0 "aa"
