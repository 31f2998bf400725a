//===- CwmOps.td - Operations of the cwm dialect ----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_DIALECT_CWM_CWMOPS_TD
#define CWM_DIALECT_CWM_CWMOPS_TD

include "cwm/Dialect/Cwm/CwmAttrs.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/RegionKindInterface.td"

class Cwm_Op<string mnemonic, list<Trait> traits = []>
    : Op<Cwm_Dialect, mnemonic, traits>;

def TrajectoryOp : Cwm_Op<"trajectory", [
    NoTerminator, SingleBlock, IsolatedFromAbove,
    DeclareOpInterfaceMethods<RegionKindInterface>]> {
  let summary = "what a schedule did to a payload, step by step";
  let description = [{
    Holds, in this order within each kind: the states that the payload went
    through (`cwm.state`), the steps of the schedule as the interpreter took
    them (`cwm.step`), and the effective history: the actions that led from
    the first state to the last (`cwm.action`).

    `workload` is the hash of the first state's text. `candidate` says which
    knobs the schedule was bound with. `status` and `message` tell how the
    schedule ended.

    The verifier checks that states, steps and actions are numbered in order,
    that each reference to a state, parent step or step names one that is there,
    that a nested step is one deeper than its parent, and that a skipped step
    left the state as it was.

    ```mlir
    cwm.trajectory workload "99aa06d3014798d86001c324468d497f" status ok {
      cwm.state 0 "99aa06d3014798d86001c324468d497f"
      cwm.state 1 "0a7e60a8ab3d7bd2f1e0c0a5ce0a1f7b"
      cwm.step 0 depth 0 control "named_sequence" ok states 0 -> 1
      cwm.step 1 in 0 depth 1 action "apply_cse" ok states 0 -> 1
      cwm.action 0 "apply_cse on root" step 1 state 1
    }
    ```
  }];
  let arguments = (ins StrAttr:$workload,
                       OptionalAttr<Cwm_CandidateAttr>:$candidate,
                       Cwm_StepStatusAttr:$status,
                       OptionalAttr<StrAttr>:$message);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `workload` $workload (`candidate` $candidate^)? `status` $status
    (`message` $message^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def StateOp : Cwm_Op<"state", [NoTerminator, IsolatedFromAbove,
    HasParent<"TrajectoryOp">]> {
  let summary = "the payload between two actions";
  let description = [{
    A state is identified by the hash of its canonical text, which may be given
    too, or the payload itself in the region: one op. A `detached` state is a
    part of the payload that a step saw by itself: `transform.alternatives`
    works on clones.
  }];
  let arguments = (ins I64Attr:$index, StrAttr:$hash,
                       OptionalAttr<StrAttr>:$text, UnitAttr:$detached);
  let regions = (region AnyRegion:$payload);
  let assemblyFormat = [{
    $index $hash (`detached` $detached^)? (`text` $text^)?
    (`payload` $payload^)? attr-dict
  }];
  let hasVerifier = 1;
}

def StepOp : Cwm_Op<"step", [HasParent<"TrajectoryOp">]> {
  let summary = "one application of a transform op";
  let description = [{
    `name` is the op's, without the dialect prefix. `states A -> B` are the
    states before and after; equal means that nothing changed; absent means
    that the payload was not looked at.

    Optional attributes: `text` (an action's canonical text), `message` (of a
    failure), `operands` and `results` (what handles and parameters held),
    `iteration` (in its parent: of a loop, or which alternative), `patterns`
    (successful rewrites by pattern), `detached` (worked on clones),
    `rolled_back` (in an alternative that was given up), `invalid` (what the
    verifier says about the state it left), `location` (in the schedule).
  }];
  let arguments = (ins I64Attr:$index, OptionalAttr<I64Attr>:$parent,
                       I64Attr:$depth, Cwm_StepKindAttr:$kind, StrAttr:$name,
                       Cwm_StepStatusAttr:$status,
                       OptionalAttr<I64Attr>:$before,
                       OptionalAttr<I64Attr>:$after,
                       OptionalAttr<StrAttr>:$text,
                       OptionalAttr<StrAttr>:$message,
                       OptionalAttr<StrArrayAttr>:$operands,
                       OptionalAttr<StrArrayAttr>:$results,
                       OptionalAttr<I64Attr>:$iteration,
                       OptionalAttr<DictionaryAttr>:$patterns,
                       OptionalAttr<StrAttr>:$invalid,
                       OptionalAttr<StrAttr>:$location,
                       UnitAttr:$detached, UnitAttr:$rolled_back);
  let assemblyFormat = [{
    $index (`in` $parent^)? `depth` $depth $kind $name $status
    (`states` $before^ `->` $after)? attr-dict
  }];
  let extraClassDeclaration = [{
    /// True when the step is known to have changed the payload.
    bool isChanged() { return getBefore() != getAfter(); }
  }];
  let hasVerifier = 1;
}

def ActionOp : Cwm_Op<"action", [HasParent<"TrajectoryOp">]> {
  let summary = "one action of the effective history";
  let description = [{
    Actions are what the transition model rolls forward over: those that led
    from the first state to the last, loop bodies once, without what
    `transform.alternatives` rolled back. Their texts equal those derived from
    the bound schedule alone. `step` is the (first) step that applied it.
    `state` is the state of the whole payload behind it; absent where there is
    none, inside of a body that ran several times or on detached clones.
  }];
  let arguments = (ins I64Attr:$index, StrAttr:$text,
                       OptionalAttr<I64Attr>:$step,
                       OptionalAttr<I64Attr>:$state);
  let assemblyFormat = [{
    $index $text (`step` $step^)? (`state` $state^)? attr-dict
  }];
}

#endif // CWM_DIALECT_CWM_CWMOPS_TD
