//===- CwmDialect.h - The cwm dialect ---------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_DIALECT_CWM_CWMDIALECT_H
#define CWM_DIALECT_CWM_CWMDIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"

#include "cwm/Dialect/Cwm/CwmDialect.h.inc"

#endif // CWM_DIALECT_CWM_CWMDIALECT_H
