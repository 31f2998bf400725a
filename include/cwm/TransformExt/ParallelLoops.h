//===- ParallelLoops.h - Check of parallel loops ----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRANSFORMEXT_PARALLELLOOPS_H
#define CWM_TRANSFORMEXT_PARALLELLOOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "cwm/TransformExt/ParallelLoops.h.inc"

namespace cwm {

/// How what findSharedElements returns begins, to tell it from other errors.
extern const llvm::StringLiteral sharedElementsRule;

/// Why two iterations of a loop may write the same elements, or one reads what
/// another writes; nothing when each is shown to have its own.
std::optional<std::string> findSharedElements(mlir::scf::ForallOp loop);

/// The first loop on tensors within `root` of which that cannot be shown.
std::optional<std::pair<mlir::scf::ForallOp, std::string>>
findSharedElementsWithin(mlir::Operation *root);

} // namespace cwm

#endif // CWM_TRANSFORMEXT_PARALLELLOOPS_H
