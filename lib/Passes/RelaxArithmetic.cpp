//===- RelaxArithmetic.cpp - Divisions and maxima of vectors ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace cwm {
#define GEN_PASS_DEF_RELAXARITHMETIC
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

/// The scalar that every element of `vector` equals, or null.
static Value getSplat(Value vector, RewriterBase &rewriter) {
  if (auto broadcast = vector.getDefiningOp<vector::BroadcastOp>()) {
    Value source = broadcast.getSource();
    return isa<VectorType>(source.getType()) ? getSplat(source, rewriter)
                                             : source;
  }
  DenseFPElementsAttr constant;
  if (matchPattern(vector, m_Constant(&constant)) && constant.isSplat())
    return arith::ConstantOp::create(
        rewriter, vector.getLoc(),
        FloatAttr::get(constant.getElementType(),
                       constant.getSplatValue<APFloat>()));
  return {};
}

/// x / s as (x * r) * c with c a power of two and r = 1 / (s * c): c is 1
/// unless r or 1 / s would leave the normal numbers. One division for the
/// vector instead of one for each element.
static void replaceDivision(arith::DivFOp op, RewriterBase &rewriter) {
  auto type = dyn_cast<VectorType>(op.getType());
  if (!type || !type.getElementType().isF32() || type.getNumElements() < 2)
    return;
  rewriter.setInsertionPoint(op);
  Value divisor = getSplat(op.getRhs(), rewriter);
  // A reciprocal (1 / x) gains nothing.
  if (!divisor)
    return;
  ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
  // Right behind the divisor, so that loops do not repeat it.
  builder.setInsertionPointAfterValue(divisor);
  auto constant = [&](float value) -> Value {
    return arith::ConstantOp::create(builder, builder.getF32FloatAttr(value));
  };
  Value magnitude = arith::BitcastOp::create(
      builder, builder.getF32Type(),
      arith::AndIOp::create(
          builder,
          arith::BitcastOp::create(builder, builder.getI32Type(), divisor),
          arith::ConstantOp::create(builder,
                                    builder.getI32IntegerAttr(0x7fffffff))));
  auto where = [&](arith::CmpFPredicate predicate, float bound, float yes,
                   Value no) -> Value {
    Value condition =
        arith::CmpFOp::create(builder, predicate, magnitude, constant(bound));
    return arith::SelectOp::create(builder, condition, constant(yes), no);
  };
  Value scale =
      where(arith::CmpFPredicate::OLT, 0x1p-100F, 0x1p60F, constant(1.0F));
  scale = where(arith::CmpFPredicate::OGT, 0x1p100F, 0x1p-60F, scale);
  Value reciprocal = arith::DivFOp::create(
      builder, constant(1.0F), arith::MulFOp::create(builder, divisor, scale));
  builder.setInsertionPoint(op);
  Value product = arith::MulFOp::create(
      builder, op.getLhs(),
      vector::BroadcastOp::create(builder, type, reciprocal));
  rewriter.replaceOp(op, arith::MulFOp::create(builder, product,
                                               vector::BroadcastOp::create(
                                                   builder, type, scale)));
}

/// Looks for a NaN once, and then combines the lanes without regard to it.
static void replaceReduction(vector::ReductionOp op, RewriterBase &rewriter) {
  bool isMaximum = op.getKind() == vector::CombiningKind::MAXIMUMF;
  if (!isMaximum && op.getKind() != vector::CombiningKind::MINIMUMF)
    return;
  VectorType type = op.getSourceVectorType();
  if (type.getRank() != 1 || type.isScalable() || type.getNumElements() < 4 ||
      bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::nnan) ||
      isa<vector::MaskOp>(op->getParentOp()))
    return;
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
  Value isNaN = arith::CmpFOp::create(builder, arith::CmpFPredicate::UNO,
                                      op.getVector(), op.getVector());
  Value any =
      vector::ReductionOp::create(builder, vector::CombiningKind::OR, isNaN);
  arith::FastMathFlags flags =
      arith::FastMathFlags::nnan | arith::FastMathFlags::nsz;
  Value best =
      vector::ReductionOp::create(builder, op.getKind(), op.getVector(), flags);
  auto element = cast<FloatType>(type.getElementType());
  Value nan = arith::ConstantOp::create(
      builder,
      FloatAttr::get(element, APFloat::getNaN(element.getFloatSemantics())));
  best = arith::SelectOp::create(builder, any, nan, best);
  if (Value acc = op.getAcc()) {
    auto nsz = arith::FastMathFlags::nsz;
    best = isMaximum
               ? Value(arith::MaximumFOp::create(builder, best, acc, nsz))
               : Value(arith::MinimumFOp::create(builder, best, acc, nsz));
  }
  rewriter.replaceOp(op, best);
}

namespace {
struct RelaxArithmetic : cwm::impl::RelaxArithmeticBase<RelaxArithmetic> {
  void runOnOperation() override {
    SmallVector<arith::DivFOp> divisions;
    SmallVector<vector::ReductionOp> reductions;
    getOperation()->walk([&](Operation *op) {
      if (auto division = dyn_cast<arith::DivFOp>(op))
        divisions.push_back(division);
      else if (auto reduction = dyn_cast<vector::ReductionOp>(op))
        reductions.push_back(reduction);
      else if (isa<arith::MaximumFOp, arith::MinimumFOp>(op))
        ignoreZeroSigns(cast<arith::ArithFastMathInterface>(op));
    });
    IRRewriter rewriter(&getContext());
    for (arith::DivFOp division : divisions)
      replaceDivision(division, rewriter);
    for (vector::ReductionOp reduction : reductions)
      replaceReduction(reduction, rewriter);
  }

  static void ignoreZeroSigns(arith::ArithFastMathInterface op) {
    arith::FastMathFlags flags =
        op.getFastMathFlagsAttr().getValue() | arith::FastMathFlags::nsz;
    op->setAttr(op.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(op->getContext(), flags));
  }
};
} // namespace
