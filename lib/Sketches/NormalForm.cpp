//===- NormalForm.cpp - Payloads as the sketches see them -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NormalForm.h"

#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

OwningOpRef<ModuleOp>
cwm::normalise(const Payload &payload,
               llvm::function_ref<bool(linalg::LinalgOp)> keepsName,
               bool foldUnitExtents) {
  OwningOpRef<ModuleOp> module(payload.getModule().clone());
  SmallVector<linalg::LinalgOp> named;
  module->walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp, linalg::FillOp>(op) && !keepsName(op))
      named.push_back(op);
  });
  IRRewriter rewriter(module->getContext());
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return {};
  }
  PassManager manager(module->getContext());
  manager.addPass(createLinalgElementwiseOpFusionPass());
  if (foldUnitExtents)
    manager.addPass(createLinalgFoldUnitExtentDimsPass());
  if (failed(manager.run(*module)))
    return {};
  return module;
}
