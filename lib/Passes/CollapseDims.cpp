//===- CollapseDims.cpp - The pass cwm-collapse-dims ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Sketches/CollapseDims.h"
#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace cwm {
#define GEN_PASS_DEF_COLLAPSEDIMS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

namespace {
struct CollapseDims : cwm::impl::CollapseDimsBase<CollapseDims> {
  void runOnOperation() override { cwm::collapseDims(getOperation()); }
};
} // namespace
