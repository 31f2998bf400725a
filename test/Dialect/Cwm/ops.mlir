// RUN: cwm-opt %s | cwm-opt | FileCheck %s
// RUN: cwm-opt %s --mlir-print-op-generic | cwm-opt | FileCheck %s

// CHECK-LABEL: cwm.trajectory workload "aa"
// CHECK-SAME: candidate <"contraction", {mr = 6 : i64, nr = 64 : i64}> status definite message "handle is stale"
cwm.trajectory workload "aa"
    candidate #cwm.candidate<"contraction", {mr = 6 : i64, nr = 64 : i64}>
    status definite message "handle is stale" {
  // CHECK-NEXT: cwm.state 0 "aa" text "builtin.module {\0A}"
  cwm.state 0 "aa" text "builtin.module {\0A}"
  // CHECK-NEXT: cwm.state 1 "bb" detached {note = "kept"}
  cwm.state 1 "bb" detached {note = "kept"}
  // CHECK-NEXT: cwm.state 2 "cc" payload {
  // CHECK-NEXT: builtin.module {
  cwm.state 2 "cc" payload {
    builtin.module {
      func.func @f() {
        return
      }
    }
  }
  // CHECK: cwm.step 0 depth 0 control "named_sequence" ok states 0 -> 2
  cwm.step 0 depth 0 control "named_sequence" ok states 0 -> 2
  // CHECK-NEXT: cwm.step 1 in 0 depth 1 match "match.operation_name" silenceable {message = "wrong name"}
  cwm.step 1 in 0 depth 1 match "match.operation_name" silenceable {message = "wrong name"}
  // CHECK-NEXT: cwm.step 4 in 0 depth 1 action "apply_cse" ok states 0 -> 2
  // CHECK-SAME: operands = ["module"]
  // CHECK-SAME: patterns = {"(anonymous)" = 3 : i64}
  // CHECK-SAME: text = "apply_cse on root"
  cwm.step 4 in 0 depth 1 action "apply_cse" ok states 0 -> 2
      {text = "apply_cse on root", operands = ["module"],
       patterns = {"(anonymous)" = 3 : i64}}
  // CHECK-NEXT: cwm.step 5 in 0 depth 1 action "annotate" definite {detached, rolled_back, text = "annotate"}
  cwm.step 5 in 0 depth 1 action "annotate" definite
      {text = "annotate", detached, rolled_back}
  // CHECK-NEXT: cwm.step 6 in 0 depth 1 handle "get_parent_op" skipped
  cwm.step 6 in 0 depth 1 handle "get_parent_op" skipped
  // CHECK-NEXT: cwm.action 0 "apply_cse on root" step 4 state 2
  cwm.action 0 "apply_cse on root" step 4 state 2
  // CHECK-NEXT: cwm.action 1 "apply_dce on root"
  cwm.action 1 "apply_dce on root"
}
