//===- CwmDialect.h - The cwm dialect ---------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_DIALECT_CWM_CWMDIALECT_H
#define CWM_DIALECT_CWM_CWMDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"

#include "cwm/Dialect/Cwm/CwmDialect.h.inc"
#include "cwm/Dialect/Cwm/CwmEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "cwm/Dialect/Cwm/CwmAttrs.h.inc"

#define GET_OP_CLASSES
#include "cwm/Dialect/Cwm/CwmOps.h.inc"

#endif // CWM_DIALECT_CWM_CWMDIALECT_H
