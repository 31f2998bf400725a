//===- FuseResultsOp.h - Several results in one loop -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRANSFORMEXT_FUSERESULTSOP_H
#define CWM_TRANSFORMEXT_FUSERESULTSOP_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpImplementation.h"

#define GET_OP_CLASSES
#include "cwm/TransformExt/FuseResultsOp.h.inc"

#endif // CWM_TRANSFORMEXT_FUSERESULTSOP_H
