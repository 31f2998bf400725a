//===- CwmDialect.td - The cwm dialect --------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_DIALECT_CWM_CWMDIALECT_TD
#define CWM_DIALECT_CWM_CWMDIALECT_TD

include "mlir/IR/OpBase.td"

def Cwm_Dialect : Dialect {
  let name = "cwm";
  let cppNamespace = "::cwm";
  let summary = "trajectories, states and candidates of the compiler world model";
  let description = [{
    Data about the tuning of a payload, as IR: which candidate of which space
    (`#cwm.candidate`), what its schedule did step by step (`cwm.trajectory`),
    and the states that the payload went through (`cwm.state`). Nothing of this
    is executable; `--cwm-record` writes it.

    The dialect also reserves discardable attributes:

    | attribute | on | meaning |
    |---|---|---|
    | `cwm.constant` | argument of a payload's entry | a weight, the same at each call |
    | `cwm.domain` | argument of a payload's entry | the values it may take |
    | `cwm.upper_bound` | argument with `cwm.domain = "index"` | its elements are below |
    | `cwm.bind` | op of a schedule | binds attributes to knobs |
    | `cwm.default` | knob of a schedule | its default option |
  }];
  let useDefaultAttributePrinterParser = 1;
}

#endif // CWM_DIALECT_CWM_CWMDIALECT_TD
