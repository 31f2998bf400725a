//===- NdebugStubs.cpp - Symbols missing from an NDEBUG libMLIR -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Debian's libMLIR is built with NDEBUG, which compiles these two checks out of
// it, while MLIR's headers reference them from our code when it keeps its
// assertions.
#ifndef NDEBUG
#include "mlir/Dialect/Transform/IR/TransformDialect.h"

namespace mlir::transform::detail {
void checkImplementsTransformOpInterface(StringRef name, MLIRContext *context) {
}
void checkImplementsTransformHandleTypeInterface(TypeID typeID,
                                                 MLIRContext *context) {}
} // namespace mlir::transform::detail
#endif
