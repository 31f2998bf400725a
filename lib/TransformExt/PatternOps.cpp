//===- PatternOps.cpp - Patterns for schedules ------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/TransformExt/PatternOps.h"

#include "cwm/TransformExt/FuseResultsOp.h"
#include "cwm/TransformExt/ParallelLoops.h"
#include "cwm/TransformExt/SplitBoxOp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace cwm;

#define GET_OP_CLASSES
#include "cwm/TransformExt/PatternOps.cpp.inc"

namespace {
/// What a map reads of an operand: dimension `dim` of the loops in steps of
/// `stride`.
struct Access {
  unsigned dim;
  int64_t stride;
};
} // namespace

static std::optional<Access> getAccess(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return Access{dim.getPosition(), 1};
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!product || product.getKind() != AffineExprKind::Mul)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(product.getLHS());
  auto stride = dyn_cast<AffineConstantExpr>(product.getRHS());
  if (!dim || !stride || stride.getValue() < 1)
    return std::nullopt;
  return Access{dim.getPosition(), stride.getValue()};
}

/// The accesses of `map` if there is a stride among them.
static std::optional<SmallVector<Access>> getStridedAccesses(AffineMap map) {
  SmallVector<Access> accesses;
  bool strided = false;
  for (AffineExpr expr : map.getResults()) {
    std::optional<Access> access = getAccess(expr);
    if (!access)
      return std::nullopt;
    strided |= access->stride > 1;
    accesses.push_back(*access);
  }
  if (!strided)
    return std::nullopt;
  return accesses;
}

namespace {
struct StridedMapsToSlices : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    SmallVector<std::pair<OpOperand *, Value>> slices;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand->get().getType());
      if (!type || !type.hasStaticShape())
        continue;
      AffineMap &map = maps[operand->getOperandNumber()];
      std::optional<SmallVector<Access>> accesses = getStridedAccesses(map);
      if (!accesses)
        continue;
      SmallVector<int64_t> shape;
      SmallVector<OpFoldResult> offsets, sizes, strides;
      SmallVector<AffineExpr> results;
      for (Access access : *accesses) {
        shape.push_back(extents[access.dim]);
        offsets.push_back(rewriter.getIndexAttr(0));
        sizes.push_back(rewriter.getIndexAttr(shape.back()));
        strides.push_back(rewriter.getIndexAttr(access.stride));
        results.push_back(rewriter.getAffineDimExpr(access.dim));
      }
      map = AffineMap::get(map.getNumDims(), 0, results, op.getContext());
      slices.emplace_back(operand,
                          tensor::ExtractSliceOp::create(
                              rewriter, op.getLoc(), type.clone(shape),
                              operand->get(), offsets, sizes, strides));
    }
    if (slices.empty())
      return rewriter.notifyMatchFailure(op, "no input is read with a stride");
    rewriter.modifyOpInPlace(op, [&] {
      for (auto [operand, slice] : slices)
        operand->set(slice);
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
    return success();
  }
};
} // namespace

void cwm::ApplyStridedMapsToSlicesPatternsOp::populatePatterns(
    RewritePatternSet &patterns) {
  patterns.add<StridedMapsToSlices>(patterns.getContext());
}

void cwm::ApplySeparateInitialValuesPatternsOp::populatePatterns(
    RewritePatternSet &patterns) {
  populateSeparateInitialValuesPatterns(patterns);
}

void cwm::ApplySplitResultsPatternsOp::populatePatterns(
    RewritePatternSet &patterns) {
  populateSplitResultsPatterns(patterns);
}

void cwm::ApplyWidenSumsPatternsOp::populatePatterns(
    RewritePatternSet &patterns) {
  populateWidenSumsPatterns(patterns);
}

namespace {
class CwmTransformExtension
    : public transform::TransformDialectExtension<CwmTransformExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CwmTransformExtension)

  CwmTransformExtension() {
    declareGeneratedDialect<arith::ArithDialect>();
    declareGeneratedDialect<linalg::LinalgDialect>();
    declareGeneratedDialect<scf::SCFDialect>();
    declareGeneratedDialect<tensor::TensorDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "cwm/TransformExt/PatternOps.cpp.inc"
        >();
    registerTransformOps<
#define GET_OP_LIST
#include "cwm/TransformExt/FuseResultsOp.cpp.inc"
        >();
    registerTransformOps<
#define GET_OP_LIST
#include "cwm/TransformExt/ParallelLoops.cpp.inc"
        >();
    registerTransformOps<
#define GET_OP_LIST
#include "cwm/TransformExt/SplitBoxOp.cpp.inc"
        >();
  }
};
} // namespace

void cwm::registerTransformExtension(DialectRegistry &registry) {
  registry.addExtensions<CwmTransformExtension>();
}
