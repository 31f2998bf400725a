//===- CwmAttrs.td - Attributes of the cwm dialect --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_DIALECT_CWM_CWMATTRS_TD
#define CWM_DIALECT_CWM_CWMATTRS_TD

include "cwm/Dialect/Cwm/CwmDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Cwm_StepStatus : I32EnumAttr<"StepStatus", "outcome of a step", [
    I32EnumAttrCase<"Ok", 0, "ok">,
    I32EnumAttrCase<"Silenceable", 1, "silenceable">,
    I32EnumAttrCase<"Definite", 2, "definite">,
    I32EnumAttrCase<"Skipped", 3, "skipped">]> {
  let cppNamespace = "::cwm";
  let genSpecializedAttr = 0;
}

def Cwm_StepStatusAttr : EnumAttr<Cwm_Dialect, Cwm_StepStatus, "status"> {
  let summary = "outcome of a step";
  let description = [{
    `ok`; `silenceable` and `definite` failures as the transform interpreter
    defines them; `skipped` for an op in the body of a loop that did not run
    at all, which the history keeps with no effect: like the same op on an
    empty handle.
  }];
}

def Cwm_StepKind : I32EnumAttr<"StepKind", "role of a step", [
    I32EnumAttrCase<"Action", 0, "action">,
    I32EnumAttrCase<"Control", 1, "control">,
    I32EnumAttrCase<"Match", 2, "match">,
    I32EnumAttrCase<"Handle", 3, "handle">]> {
  let cppNamespace = "::cwm";
  let genSpecializedAttr = 0;
}

def Cwm_StepKindAttr : EnumAttr<Cwm_Dialect, Cwm_StepKind, "kind"> {
  let summary = "role of a step";
  let description = [{
    `action`: writes the payload, by its memory effects; `control`: runs other
    steps (`include`, `sequence`, `foreach`, `foreach_match`, `alternatives`,
    `tune.alternatives`, the entry point); `match`: part of a matcher;
    `handle`: everything else, which navigates or makes parameters.
  }];
}

def Cwm_CandidateAttr : AttrDef<Cwm_Dialect, "Candidate"> {
  let mnemonic = "candidate";
  let summary = "one assignment of the knobs of a space";
  let description = [{
    The space by name, and the selected option of each live knob.

    ```mlir
    #cwm.candidate<"contraction", {mr = 6 : i64, nr = 64 : i64}>
    ```
  }];
  let parameters = (ins StringRefParameter<"name of the space">:$space,
                        "::mlir::DictionaryAttr":$assignment);
  let assemblyFormat = "`<` $space `,` $assignment `>`";
  let genVerifyDecl = 1;
}

#endif // CWM_DIALECT_CWM_CWMATTRS_TD
