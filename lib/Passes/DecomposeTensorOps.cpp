//===- DecomposeTensorOps.cpp - What cannot be bufferised -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"
#include "cwm/Sketches/PartialWrites.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// Writes of single elements, each of which keeps the others: bufferisation
/// takes the initial value for overwritten otherwise.
struct LowerPartialWrites : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!cwm::writesInPart(op))
      return rewriter.notifyMatchFailure(op, "writes its result whole");
    Location loc = op.getLoc();
    auto constant = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(rewriter, loc, value);
    };
    SmallVector<Value> ends =
        llvm::map_to_vector(op.getStaticLoopRanges(), constant);
    SmallVector<Value> starts(ends.size(), constant(0));
    SmallVector<Value> steps(ends.size(), constant(1));
    scf::LoopNest nest =
        scf::buildLoopNest(rewriter, loc, starts, ends, steps, op.getDpsInits(),
                           [&](OpBuilder &builder, Location, ValueRange loops,
                               ValueRange results) -> scf::ValueVector {
                             return writeElements(op, builder, loops, results);
                           });
    rewriter.replaceOp(op, nest.results);
    return success();
  }

  static scf::ValueVector writeElements(linalg::LinalgOp op, OpBuilder &builder,
                                        ValueRange loops, ValueRange results) {
    Location loc = op.getLoc();
    SmallVector<OpFoldResult> positions = getAsOpFoldResult(loops);
    auto getIndices = [&](OpOperand &operand) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      SmallVector<OpFoldResult> indices =
          affine::makeComposedFoldedMultiResultAffineApply(builder, loc, map,
                                                           positions);
      return getValueOrCreateConstantIndexOp(builder, loc, indices);
    };
    IRMapping mapping;
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(&operand);
      Value source = operand.get();
      if (op.isDpsInit(&operand))
        source = results[operand.getOperandNumber() - op.getNumDpsInputs()];
      if (argument.use_empty())
        continue;
      if (isa<RankedTensorType>(source.getType()))
        source = tensor::ExtractOp::create(builder, loc, source,
                                           getIndices(operand));
      mapping.map(argument, source);
    }
    for (Operation &inner : op.getBlock()->without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        mapping.map(index.getResult(), loops[index.getDim()]);
      else
        builder.clone(inner, mapping);
    }
    scf::ValueVector written;
    for (auto [value, init, result] :
         llvm::zip_equal(op.getBlock()->getTerminator()->getOperands(),
                         op.getDpsInitsMutable(), results))
      written.push_back(tensor::InsertOp::create(builder, loc,
                                                 mapping.lookupOrDefault(value),
                                                 result, getIndices(init)));
    return written;
  }
};

struct DecomposeTensorOps
    : cwm::impl::DecomposeTensorOpsBase<DecomposeTensorOps> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<Decompose, LowerPack, LowerPartialWrites, LowerUnPack>(
        &getContext());
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
