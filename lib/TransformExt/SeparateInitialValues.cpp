//===- SeparateInitialValues.cpp - Reductions from neutral ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/TransformExt/PatternOps.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace {
struct SeparateInitialValue : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  /// The one operation that reduces, where it has a neutral element.
  static Operation *findCombiner(linalg::LinalgOp op,
                                 std::optional<TypedAttr> &neutral) {
    SmallVector<Operation *, 4> combiners;
    if (!matchReduction(op.getRegionOutputArgs(), 0, combiners) ||
        combiners.size() != 1)
      return nullptr;
    neutral = arith::getNeutralElement(combiners.front());
    return neutral ? combiners.front() : nullptr;
  }

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 ||
        op.getNumDpsInits() != 1)
      return rewriter.notifyMatchFailure(op, "not a reduction on tensors");
    OpOperand *init = op.getDpsInitOperand(0);
    AffineMap map = op.getMatchingIndexingMap(init);
    auto type = dyn_cast<RankedTensorType>(init->get().getType());
    if (!type || !type.hasStaticShape() || !map.isProjectedPermutation() ||
        map.getNumResults() != op.getNumParallelLoops())
      return rewriter.notifyMatchFailure(op, "the result is indexed otherwise");
    if (init->get().getDefiningOp<linalg::FillOp>() ||
        init->get().getDefiningOp<tensor::EmptyOp>())
      return rewriter.notifyMatchFailure(op, "starts from a fill already");
    // The same number everywhere is what a fill says, and patterns look for it.
    DenseElementsAttr constant;
    bool isSplat =
        matchPattern(init->get(), m_Constant(&constant)) && constant.isSplat();
    std::optional<TypedAttr> neutral;
    Operation *combiner = isSplat ? nullptr : findCombiner(op, neutral);
    if (!isSplat && !combiner)
      return rewriter.notifyMatchFailure(op, "no single combiner with a "
                                             "neutral element");

    Location loc = op.getLoc();
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                          type.getElementType());
    Value start = arith::ConstantOp::create(
        rewriter, loc,
        isSplat ? constant.getSplatValue<TypedAttr>() : *neutral);
    Value fill =
        linalg::FillOp::create(rewriter, loc, start, empty).getResult(0);
    if (isSplat) {
      rewriter.modifyOpInPlace(op, [&] { init->set(fill); });
      return success();
    }
    Operation *reduction = rewriter.clone(*op);
    reduction->setOperand(init->getOperandNumber(), fill);

    SmallVector<AffineMap> maps(3, rewriter.getMultiDimIdentityMap(
                                       static_cast<unsigned>(type.getRank())));
    SmallVector<utils::IteratorType> iterators(
        static_cast<size_t>(type.getRank()), utils::IteratorType::parallel);
    auto combine = [&](OpBuilder &builder, Location bodyLoc, ValueRange args) {
      Operation *inner = builder.clone(*combiner);
      inner->setOperands({args[0], args[1]});
      linalg::YieldOp::create(builder, bodyLoc, inner->getResults());
    };
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, TypeRange{type}, ValueRange{init->get(), reduction->getResult(0)},
        ValueRange{empty}, maps, iterators, combine);
    return success();
  }
};

/// An elementwise operation that reads what it overwrites.
struct SeparateElementwiseInput : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
        op.getNumParallelLoops() != op.getNumLoops())
      return rewriter.notifyMatchFailure(op, "not elementwise on tensors");
    OpOperand *init = op.getDpsInitOperand(0);
    auto type = cast<RankedTensorType>(init->get().getType());
    if (!type.hasStaticShape() || !op.payloadUsesValueFromOperand(init))
      return rewriter.notifyMatchFailure(op, "does not read its initial value");

    SmallVector<Value> inputs(op.getInputs());
    inputs.push_back(init->get());
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps.push_back(maps.back());
    Value empty = tensor::EmptyOp::create(
        rewriter, op.getLoc(), type.getShape(), type.getElementType());
    auto separate = linalg::GenericOp::create(
        rewriter, op.getLoc(), TypeRange{type}, inputs, ValueRange{empty}, maps,
        op.getIteratorTypesArray());
    Region &body = separate.getRegion();
    rewriter.inlineRegionBefore(op.getRegion(), body, body.begin());
    // The old last argument is that of the new input.
    body.front().addArgument(type.getElementType(), op.getLoc());
    rewriter.replaceOp(op, separate);
    return success();
  }
};
} // namespace

void cwm::populateSeparateInitialValuesPatterns(RewritePatternSet &patterns) {
  patterns.add<SeparateElementwiseInput, SeparateInitialValue>(
      patterns.getContext());
}
