//===- WidenSums.cpp - Sums of f16 and bf16 in f32 --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/TransformExt/PatternOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

static bool isHalf(Type type) { return type.isF16() || type.isBF16(); }

/// The fill that `op` starts from, where op is a sum of products in f16 or bf16
/// and has one result.
static linalg::FillOp getFill(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 ||
      op.getNumDpsInits() != 1 || op.getNumDpsInputs() != 2 ||
      !isHalf(getElementTypeOrSelf(op.getDpsInits().front())))
    return nullptr;
  Block &body = op->getRegion(0).front();
  Type type = getElementTypeOrSelf(op.getDpsInits().front());
  for (BlockArgument argument : body.getArguments())
    if (argument.getType() != type)
      return nullptr;
  if (body.getOperations().size() != 3 || !isa<arith::MulFOp>(body.front()) ||
      !isa<arith::AddFOp>(*std::next(body.begin())))
    return nullptr;
  return op.getDpsInits().front().getDefiningOp<linalg::FillOp>();
}

namespace {
struct WidenSum : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    linalg::FillOp fill = getFill(op);
    if (!fill || !linalg::isaContractionOpInterface(op))
      return rewriter.notifyMatchFailure(
          op,
          "not a sum of products in half precision that starts from a fill");
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op.getDpsInits().front().getType());
    Type wide = rewriter.getF32Type();
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), wide);
    Value start = arith::ExtFOp::create(rewriter, loc, wide, fill.value());
    Value init =
        linalg::FillOp::create(rewriter, loc, start, empty).getResult(0);
    auto multiply = [&](OpBuilder &builder, Location bodyLoc, ValueRange args) {
      Value left = arith::ExtFOp::create(builder, bodyLoc, wide, args[0]);
      Value right = arith::ExtFOp::create(builder, bodyLoc, wide, args[1]);
      Value product = arith::MulFOp::create(builder, bodyLoc, left, right);
      Value sum = arith::AddFOp::create(builder, bodyLoc, args[2], product);
      linalg::YieldOp::create(builder, bodyLoc, sum);
    };
    Value sum = linalg::GenericOp::create(rewriter, loc, init.getType(),
                                          op.getDpsInputs(), ValueRange{init},
                                          op.getIndexingMapsArray(),
                                          op.getIteratorTypesArray(), multiply)
                    .getResult(0);
    Value narrow = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                           type.getElementType());
    SmallVector<AffineMap> maps(
        2, rewriter.getMultiDimIdentityMap(unsigned(type.getRank())));
    SmallVector<utils::IteratorType> iterators(size_t(type.getRank()),
                                               utils::IteratorType::parallel);
    auto round = [&](OpBuilder &builder, Location bodyLoc, ValueRange args) {
      Value value = arith::TruncFOp::create(builder, bodyLoc,
                                            type.getElementType(), args[0]);
      linalg::YieldOp::create(builder, bodyLoc, value);
    };
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, TypeRange{type}, sum, narrow, maps, iterators, round);
    return success();
  }
};
} // namespace

void cwm::populateWidenSumsPatterns(RewritePatternSet &patterns) {
  patterns.add<WidenSum>(patterns.getContext());
}
