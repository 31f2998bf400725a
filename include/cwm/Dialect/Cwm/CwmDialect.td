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
}

#endif // CWM_DIALECT_CWM_CWMDIALECT_TD
