//===- PolynomialMath.cpp - Polynomials instead of libm ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace cwm {
#define GEN_PASS_DEF_POLYNOMIALMATH
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

/// `element` with the vector shape of `like`, if it has one.
static Type getTypeLike(Type like, Type element) {
  auto shaped = dyn_cast<ShapedType>(like);
  return shaped ? shaped.clone(element) : element;
}

/// The constant `value` as a scalar or splat of `type`.
static Value makeConstant(ImplicitLocOpBuilder &builder, Type type,
                          TypedAttr value) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return arith::ConstantOp::create(builder,
                                     SplatElementsAttr::get(shaped, value));
  return arith::ConstantOp::create(builder, value);
}

static Value makeFloat(ImplicitLocOpBuilder &builder, Type type, float value) {
  return makeConstant(builder, type, builder.getF32FloatAttr(value));
}

static Value makeInteger(ImplicitLocOpBuilder &builder, Type type,
                         int32_t value) {
  return makeConstant(builder, type, builder.getI32IntegerAttr(value));
}

/// `whenTrue` where `predicate` holds between `left` and `right`.
static Value selectWhere(ImplicitLocOpBuilder &builder,
                         arith::CmpFPredicate predicate, Value left,
                         Value right, Value whenTrue, Value whenFalse) {
  Value condition = arith::CmpFOp::create(builder, predicate, left, right);
  return arith::SelectOp::create(builder, condition, whenTrue, whenFalse);
}

namespace {
/// exp(x) = 2^n * exp(r), |r| <= ln(2)/2, with the polynomial of Cephes' expf.
/// Upstream's approximation gives 0 where the result is subnormal; this one
/// scales in two steps. No conversion to integer sees a NaN: that is poison.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    Type integers = getTypeLike(type, rewriter.getI32Type());
    auto constant = [&](float value) {
      return makeFloat(builder, type, value);
    };
    auto fma = [&](Value a, Value b, Value c) -> Value {
      return math::FmaOp::create(builder, a, b, c);
    };

    // Beyond these the result is 0 or infinity. A NaN passes both selects. For
    // results of 0 something else is computed: on the way to them the numbers
    // are subnormal, which takes more than a hundred cycles, and masks make
    // many.
    Value zero = constant(0.0F), most = constant(89.0F);
    Value x = op.getOperand();
    Value isZero = arith::CmpFOp::create(builder, arith::CmpFPredicate::OLT, x,
                                         constant(-104.0F));
    x = arith::SelectOp::create(builder, isZero, zero, x);
    x = selectWhere(builder, arith::CmpFPredicate::OGT, x, most, most, x);

    // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
    Value magic = constant(0x1.8p23F);
    Value shifted = fma(x, constant(0x1.715476p+0F), magic);
    Value n = arith::SubFOp::create(builder, shifted, magic);
    Value power = arith::SubIOp::create(
        builder, arith::BitcastOp::create(builder, integers, shifted),
        arith::BitcastOp::create(builder, integers, magic));

    // ln(2) in two parts: the first has few bits, so that n * ln2 is exact.
    Value r = fma(n, constant(-0.693359375F), x);
    r = fma(n, constant(2.12194440e-4F), r);
    Value p = constant(1.9875691500e-4F);
    for (float coefficient :
         {1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F,
          1.6666665459e-1F, 5.0000001201e-1F})
      p = fma(p, r, constant(coefficient));
    Value square = arith::MulFOp::create(builder, r, r);
    Value y = fma(p, square, r);
    y = arith::AddFOp::create(builder, y, constant(1.0F));

    auto exponentiate = [&](Value exponent) -> Value {
      Value biased = arith::AddIOp::create(builder, exponent,
                                           makeInteger(builder, integers, 127));
      Value bits = arith::ShLIOp::create(builder, biased,
                                         makeInteger(builder, integers, 23));
      return arith::BitcastOp::create(builder, type, bits);
    };
    Value half = arith::ShRSIOp::create(builder, power,
                                        makeInteger(builder, integers, 1));
    Value rest = arith::SubIOp::create(builder, power, half);
    y = arith::MulFOp::create(builder, y, exponentiate(half));
    y = arith::MulFOp::create(builder, y, exponentiate(rest));
    y = arith::SelectOp::create(builder, isZero, zero, y);
    rewriter.replaceOp(op, y);
    return success();
  }
};
} // namespace

/// Upstream's logarithms take a subnormal for the least normal number. Scales
/// such operands up and corrects the result. `unit` is the logarithm of 2.
static void scaleSubnormals(Operation *op, float unit) {
  Type type = op->getResult(0).getType();
  if (!getElementTypeOrSelf(type).isF32())
    return;
  constexpr int shift = 23;
  OpBuilder plain(op);
  ImplicitLocOpBuilder builder(op->getLoc(), plain);
  Value x = op->getOperand(0);
  Value isSmall = arith::CmpFOp::create(builder, arith::CmpFPredicate::OLT, x,
                                        makeFloat(builder, type, 0x1p-126F));
  Value scaled =
      arith::MulFOp::create(builder, x, makeFloat(builder, type, 0x1p23F));
  op->setOperand(0, arith::SelectOp::create(builder, isSmall, scaled, x));
  builder.setInsertionPointAfter(op);
  Value correction = makeFloat(builder, type, shift * unit);
  Value zero = makeFloat(builder, type, 0.0F);
  Value offset = arith::SelectOp::create(builder, isSmall, correction, zero);
  auto corrected = arith::SubFOp::create(builder, op->getResult(0), offset);
  op->getResult(0).replaceAllUsesExcept(corrected, corrected);
}

namespace {
struct PolynomialMath : cwm::impl::PolynomialMathBase<PolynomialMath> {
  void runOnOperation() override {
    SmallVector<std::pair<Operation *, float>> logarithms;
    getOperation()->walk([&](Operation *op) {
      if (isa<math::LogOp>(op))
        logarithms.emplace_back(op, 0x1.62e43p-1F);
      else if (isa<math::Log2Op>(op))
        logarithms.emplace_back(op, 1.0F);
    });
    for (auto [op, unit] : logarithms)
      scaleSubnormals(op, unit);

    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExp>(&getContext());
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return name == math::ExpM1Op::getOperationName() ||
             name == math::TanhOp::getOperationName() ||
             name == math::ErfOp::getOperationName() ||
             name == math::LogOp::getOperationName() ||
             name == math::Log2Op::getOperationName() ||
             name == math::Log1pOp::getOperationName();
    });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
