//===- WidenBFloats.cpp - Arithmetic on bf16 in f32 -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

namespace cwm {
#define GEN_PASS_DEF_WIDENBFLOATS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

static bool isBFloat(Type type) { return getElementTypeOrSelf(type).isBF16(); }

static Type getTypeLike(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

/// The upper half of an f32. Not arith.extf: LLVM narrows f32 arithmetic
/// between fpext and fptrunc to bf16 where that rounds alike.
static Value extend(OpBuilder &builder, Location loc, Value value) {
  Type type = value.getType();
  Type half = getTypeLike(type, builder.getI16Type());
  Type full = getTypeLike(type, builder.getI32Type());
  TypedAttr count = builder.getI32IntegerAttr(16);
  if (auto vector = dyn_cast<VectorType>(full))
    count = SplatElementsAttr::get(vector, Attribute(count));
  Value bits = arith::BitcastOp::create(builder, loc, half, value);
  bits = arith::ExtUIOp::create(builder, loc, full, bits);
  bits = arith::ShLIOp::create(builder, loc, bits,
                               arith::ConstantOp::create(builder, loc, count));
  return arith::BitcastOp::create(
      builder, loc, getTypeLike(type, builder.getF32Type()), bits);
}

/// Moves of elements and conversions need no arithmetic.
static bool isArithmetic(Operation *op) {
  if (isa<arith::ArithDialect>(op->getDialect()))
    return !isa<arith::BitcastOp, arith::ConstantOp, arith::ExtFOp,
                arith::ScalingExtFOp, arith::ScalingTruncFOp, arith::SelectOp,
                arith::TruncFOp>(op);
  return isa<math::MathDialect>(op->getDialect()) ||
         isa<vector::FMAOp, vector::ReductionOp>(op);
}

/// Not with the patterns of upstream's arith-emulate-unsupported-floats: these
/// let a later pass leave the rounding out where one operation follows another.
static void widen(Operation *op) {
  OpBuilder builder(op);
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (isBFloat(operand.getType()) && !mapping.contains(operand))
      mapping.map(operand, extend(builder, op->getLoc(), operand));
  Operation *wide = builder.clone(*op, mapping);
  for (auto [result, wideResult] :
       llvm::zip_equal(op->getResults(), wide->getResults())) {
    Value replacement = wideResult;
    if (isBFloat(result.getType())) {
      wideResult.setType(getTypeLike(result.getType(), builder.getF32Type()));
      replacement = arith::TruncFOp::create(builder, op->getLoc(),
                                            result.getType(), wideResult);
    }
    result.replaceAllUsesWith(replacement);
  }
  op->erase();
}

namespace {
struct WidenBFloats : cwm::impl::WidenBFloatsBase<WidenBFloats> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isArithmetic(op) && (llvm::any_of(op->getOperandTypes(), isBFloat) ||
                               llvm::any_of(op->getResultTypes(), isBFloat)))
        ops.push_back(op);
    });
    llvm::for_each(ops, widen);
  }
};
} // namespace
