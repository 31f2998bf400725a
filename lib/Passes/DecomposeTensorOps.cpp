//===- DecomposeTensorOps.cpp - What cannot be bufferised -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace cwm {
#define GEN_PASS_DEF_DECOMPOSETENSOROPS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

namespace {
struct LowerPack : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::PackOp op,
                                PatternRewriter &rewriter) const override {
    return linalg::lowerPack(rewriter, op);
  }
};

struct LowerUnPack : OpRewritePattern<linalg::UnPackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::UnPackOp op,
                                PatternRewriter &rewriter) const override {
    return linalg::lowerUnPack(rewriter, op);
  }
};

/// linalg.softmax and its like know how to write themselves out.
struct Decompose : OpInterfaceRewritePattern<linalg::AggregatedOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::AggregatedOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (isa<linalg::PackOp, linalg::UnPackOp>(op))
      return rewriter.notifyMatchFailure(op, "has a pattern of its own");
    FailureOr<SmallVector<Value>> values = op.decomposeOperation(rewriter);
    if (failed(values))
      return rewriter.notifyMatchFailure(op, "does not decompose");
    rewriter.replaceOp(op, *values);
    return success();
  }
};

struct DecomposeTensorOps
    : cwm::impl::DecomposeTensorOpsBase<DecomposeTensorOps> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Decompose, LowerPack, LowerUnPack>(&getContext());
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    // Only these operations: no folding of what a schedule has prepared.
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false);
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
