//===- PartialWrites.h - Results that are not written whole -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SKETCHES_PARTIALWRITES_H
#define CWM_SKETCHES_PARTIALWRITES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace cwm {

/// True where `op`, on tensors of static shape, does not provably write all
/// elements of a result whose initial value its body does not use. Upstream
/// takes such an initial value for overwritten, so that the other elements
/// would be undefined: when elementwise ops are fused, and when bufferising.
bool writesInPart(mlir::linalg::LinalgOp op);

} // namespace cwm

#endif // CWM_SKETCHES_PARTIALWRITES_H
