//===- ExpandPowers.cpp - Powers with a constant exponent -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace cwm {
#define GEN_PASS_DEF_EXPANDPOWERS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

/// The exponent if it is one constant, for all lanes of a vector the same.
static std::optional<double> getExponent(Operation *op) {
  Value exponent = op->getOperand(1);
  // Of the payload, whose constants are broadcast where it is vectorised.
  APFloat number(0.0);
  if (matchPattern(exponent, m_ConstantFloat(&number))) {
    bool losesInfo = false;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return number.convertToDouble();
  }
  APInt integer;
  if (matchPattern(exponent, m_ConstantInt(&integer)) &&
      integer.isSignedIntN(64))
    return static_cast<double>(integer.getSExtValue());
  return std::nullopt;
}

static Value makeFloat(ImplicitLocOpBuilder &builder, Type type, double value) {
  TypedAttr attr = builder.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = SplatElementsAttr::get(shaped, attr);
  return arith::ConstantOp::create(builder, attr);
}

/// `base` to the power of `exponent`, from 1 to 4.
static Value multiply(ImplicitLocOpBuilder &builder, Value base,
                      unsigned exponent) {
  if (exponent == 1)
    return base;
  Value square = arith::MulFOp::create(builder, base, base);
  if (exponent == 2)
    return square;
  return arith::MulFOp::create(builder, square, exponent == 3 ? base : square);
}

/// `base` to the power of 1/2 or -1/2. A power of -0 is that of +0 and a power
/// of -inf is that of +inf, unlike the root.
static Value makeRoot(ImplicitLocOpBuilder &builder, Value base,
                      bool isReciprocal) {
  Type type = base.getType();
  Value positive =
      arith::AddFOp::create(builder, base, makeFloat(builder, type, 0.0));
  Value root = isReciprocal
                   ? math::RsqrtOp::create(builder, positive).getResult()
                   : math::SqrtOp::create(builder, positive).getResult();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value isLeast =
      arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, base,
                            makeFloat(builder, type, -infinity));
  Value atLeast = makeFloat(builder, type, isReciprocal ? 0.0 : infinity);
  return arith::SelectOp::create(builder, isLeast, atLeast, root);
}

namespace {
template <typename PowerOp> struct ExpandPower : OpRewritePattern<PowerOp> {
  using OpRewritePattern<PowerOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(PowerOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<double> exponent = getExponent(op);
    if (!exponent)
      return rewriter.notifyMatchFailure(op, "the exponent is not constant");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Value base = op->getOperand(0);
    Type type = base.getType();
    double size = std::abs(*exponent);
    Value result;
    if (size == 0.5) {
      result = makeRoot(builder, base, *exponent < 0);
    } else if (*exponent == 0.0) {
      result = makeFloat(builder, type, 1.0);
    } else if (size == 1.0 || size == 2.0 || size == 3.0 || size == 4.0) {
      // Not the reciprocal of the power, which may be out of range where its
      // reciprocal is not.
      if (*exponent < 0)
        base =
            arith::DivFOp::create(builder, makeFloat(builder, type, 1.0), base);
      result = multiply(builder, base, static_cast<unsigned>(size));
    } else {
      return rewriter.notifyMatchFailure(op, "no short product");
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ExpandPowers : cwm::impl::ExpandPowersBase<ExpandPowers> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandPower<math::PowFOp>, ExpandPower<math::FPowIOp>>(
        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
