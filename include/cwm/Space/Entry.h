//===- Entry.h - Rules for the entry of a schedule --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SPACE_ENTRY_H
#define CWM_SPACE_ENTRY_H

#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace cwm {

/// Checks what the transform interpreter asks of `@__transform_main` when it
/// applies it to a payload module: one argument that holds the module, and a
/// body. Emits one error, so that no candidate is measured for nothing.
mlir::LogicalResult checkEntry(mlir::transform::NamedSequenceOp entry);

/// As above for the entry of `schedule`, which must have one.
mlir::LogicalResult checkEntry(mlir::ModuleOp schedule);

/// Emits the error of a schedule without an entry.
mlir::LogicalResult emitNoEntry(mlir::ModuleOp schedule);

} // namespace cwm

#endif // CWM_SPACE_ENTRY_H
