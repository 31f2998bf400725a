//===- NormalForm.cpp - Payloads as the sketches see them -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NormalForm.h"

#include "cwm/Sketches/CollapseDims.h"
#include "cwm/TransformExt/PatternOps.h"

#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

bool cwm::isReshape(Operation *op) {
  return isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op);
}

bool cwm::hasSoftmax(const Payload &payload) {
  WalkResult walk = payload.getModule()->walk(
      [](linalg::SoftmaxOp) { return WalkResult::interrupt(); });
  return walk.wasInterrupted();
}

bool cwm::hasTensorArithmetic(const Payload &payload) {
  WalkResult walk = payload.getModule()->walk([](Operation *op) {
    bool found = OpTrait::hasElementwiseMappableTraits(op) &&
                 llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

OwningOpRef<ModuleOp>
cwm::normalise(const Payload &payload,
               llvm::function_ref<bool(linalg::LinalgOp)> keepsName,
               const NormalFormOptions &options) {
  OwningOpRef<ModuleOp> module(payload.getModule().clone());
  if (options.separateInitialValues || options.widenSums) {
    RewritePatternSet patterns(module->getContext());
    if (options.separateInitialValues)
      populateSeparateInitialValuesPatterns(patterns);
    if (options.splitResults)
      populateSplitResultsPatterns(patterns);
    if (options.widenSums)
      populateWidenSumsPatterns(patterns);
    if (failed(applyPatternsGreedily(*module, std::move(patterns))))
      return {};
  }
  IRRewriter rewriter(module->getContext());
  SmallVector<linalg::SoftmaxOp> softmaxes;
  module->walk([&](linalg::SoftmaxOp op) { softmaxes.push_back(op); });
  for (linalg::SoftmaxOp op : softmaxes) {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return {};
    rewriter.replaceOp(op, *parts);
  }
  SmallVector<linalg::LinalgOp> named;
  module->walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp, linalg::FillOp>(op) && !keepsName(op))
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return {};
  }
  PassManager manager(module->getContext());
  if (options.fuse)
    manager.addPass(createLinalgElementwiseOpFusionPass());
  if (hasTensorArithmetic(payload)) {
    manager.addPass(createConvertElementwiseToLinalgPass());
    if (options.fuse)
      manager.addPass(createLinalgElementwiseOpFusionPass());
  }
  if (options.foldUnitExtents) {
    manager.addPass(createLinalgFoldUnitExtentDimsPass());
    // Each op has reshapes of its own.
    manager.addPass(createCSEPass());
  }
  if (failed(manager.run(*module)))
    return {};
  if (options.collapseDims)
    module->walk([](func::FuncOp function) { collapseDims(function); });
  return module;
}
