//===- CollapseDims.h - Dimensions that lie together ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SKETCHES_COLLAPSEDIMS_H
#define CWM_SKETCHES_COLLAPSEDIMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cwm {

/// Merges dimensions of linalg.generic ops that lie next to each other, in the
/// same order, in all operands of all such ops of `function` that have one of
/// them. Reshapes appear only where a value comes from or goes to elsewhere.
/// Returns whether anything changed.
bool collapseDims(mlir::func::FuncOp function);

} // namespace cwm

#endif // CWM_SKETCHES_COLLAPSEDIMS_H
