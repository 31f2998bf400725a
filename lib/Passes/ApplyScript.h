//===- ApplyScript.h - A bound script on a payload --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_PASSES_APPLYSCRIPT_H
#define CWM_LIB_PASSES_APPLYSCRIPT_H

#include "mlir/IR/BuiltinOps.h"

namespace cwm {

/// Interprets the script of one candidate on `payload`, as workers do. On
/// failure the payload is left half scheduled.
mlir::LogicalResult applyScript(mlir::ModuleOp payload, mlir::ModuleOp script);

/// Puts the script in the place of the payload.
void replaceByScript(mlir::ModuleOp payload, mlir::ModuleOp script);

} // namespace cwm

#endif // CWM_LIB_PASSES_APPLYSCRIPT_H
