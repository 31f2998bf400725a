//===- JoinGroups.h - Groups of narrow elements as rows ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_PASSES_JOINGROUPS_H
#define CWM_LIB_PASSES_JOINGROUPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cwm {

/// Vectors whose last dimension is a group of elements, 32 bits together, move
/// and are transposed as rows of groups: dimensions of two or four elements
/// would be moved one by one.
void joinGroups(mlir::func::FuncOp function);

} // namespace cwm

#endif // CWM_LIB_PASSES_JOINGROUPS_H
