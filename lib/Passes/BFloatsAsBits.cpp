//===- BFloatsAsBits.cpp - bf16 is moved as i16 -----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace cwm {
#define GEN_PASS_DEF_BFLOATSASBITS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

/// Scalars and vectors: what llvm.bitcast converts.
static bool isBFloat(Type type) { return getElementTypeOrSelf(type).isBF16(); }

/// Operations that do the same with i16 in the place of bf16. Types of their
/// operands, results and attributes are replaced.
static bool isMove(Operation *op) {
  return isa<LLVM::BitcastOp, LLVM::BrOp, LLVM::CondBrOp, LLVM::ConstantOp,
             LLVM::ExtractElementOp, LLVM::ExtractValueOp, LLVM::FreezeOp,
             LLVM::InsertElementOp, LLVM::InsertValueOp, LLVM::LoadOp,
             LLVM::MaskedLoadOp, LLVM::MaskedStoreOp, LLVM::PoisonOp,
             LLVM::SelectOp, LLVM::ShuffleVectorOp, LLVM::StoreOp,
             LLVM::SwitchOp, LLVM::UndefOp, LLVM::ZeroOp, LLVM::masked_gather,
             LLVM::masked_scatter, LLVM::vector_extract, LLVM::vector_insert>(
      op);
}

namespace {
/// Gives the values of one function other types.
class Rewriter {
public:
  explicit Rewriter(MLIRContext *context) {
    Type bits = IntegerType::get(context, 16);
    replacer.addReplacement([bits](FloatType type) -> std::optional<Type> {
      return type.isBF16() ? std::optional<Type>(bits) : std::nullopt;
    });
    // Values of constants; their types alone would not fit.
    replacer.addReplacement([bits](FloatAttr attr) -> std::optional<Attribute> {
      if (!attr.getType().isBF16())
        return std::nullopt;
      return IntegerAttr::get(bits, attr.getValue().bitcastToAPInt());
    });
    replacer.addReplacement(
        [bits](DenseElementsAttr attr) -> std::optional<Attribute> {
          if (!attr.getElementType().isBF16())
            return std::nullopt;
          return attr.bitcast(bits);
        });
  }

  void run(LLVM::LLVMFuncOp function) {
    SmallVector<Operation *> ops;
    function.getBody().walk([&](Operation *op) { ops.push_back(op); });
    if (!isSupported(function, ops))
      return;
    // While types are still what they were: a pair of casts, to bits and back,
    // around all that keeps its types. Of each pair, the cast on the side of
    // the moves is itself a move.
    SmallVector<Operation *> moves;
    for (BlockArgument argument : function.getArguments())
      castUses(argument, moves);
    for (Operation *op : ops) {
      auto extend = dyn_cast<LLVM::FPExtOp>(op);
      if (isMove(op))
        moves.push_back(op);
      else if (extend && isBFloat(extend.getArg().getType()) &&
               getElementTypeOrSelf(extend.getType()).isF32())
        widen(extend, moves);
      else
        castAround(op, moves);
    }
    for (Block &block : llvm::drop_begin(function.getBody()))
      for (BlockArgument argument : block.getArguments())
        argument.setType(replacer.replace(argument.getType()));
    for (Operation *op : moves)
      replacer.replaceElementsIn(op, /*replaceAttrs=*/true,
                                 /*replaceLocs=*/false, /*replaceTypes=*/true);
    for (Operation *op : moves)
      if (auto cast = dyn_cast<LLVM::BitcastOp>(op);
          cast && cast.getArg().getType() == cast.getType()) {
        cast.replaceAllUsesWith(cast.getArg());
        cast.erase();
      }
  }

private:
  /// Aggregates of bf16 can be moved, but not be cast.
  bool isSupported(LLVM::LLVMFuncOp function, ArrayRef<Operation *> ops) {
    auto canCast = [&](Type type) {
      return isBFloat(type) || replacer.replace(type) == type;
    };
    return llvm::all_of(function.getArgumentTypes(), canCast) &&
           llvm::all_of(ops, [&](Operation *op) {
             return isMove(op) ||
                    (llvm::all_of(op->getOperandTypes(), canCast) &&
                     llvm::all_of(op->getResultTypes(), canCast));
           });
  }

  Value cast(OpBuilder &builder, Type type, Value value) {
    return LLVM::BitcastOp::create(builder, value.getLoc(), type, value);
  }

  /// `value` as bits, by a cast that becomes void.
  Value castMove(OpBuilder &builder, Value value,
                 SmallVectorImpl<Operation *> &moves) {
    Value bits = cast(builder, replacer.replace(value.getType()), value);
    moves.push_back(bits.getDefiningOp());
    return bits;
  }

  /// Users of `value` get it by way of bits.
  void castUses(Value value, SmallVectorImpl<Operation *> &moves) {
    if (!isBFloat(value.getType()))
      return;
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    Value bits = cast(builder, replacer.replace(value.getType()), value);
    Value back = cast(builder, value.getType(), bits);
    moves.push_back(back.getDefiningOp());
    value.replaceAllUsesExcept(back, bits.getDefiningOp());
  }

  void castAround(Operation *op, SmallVectorImpl<Operation *> &moves) {
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (isBFloat(value.getType()))
        operand.set(
            cast(builder, value.getType(), castMove(builder, value, moves)));
    }
    for (Value result : op->getResults())
      castUses(result, moves);
  }

  /// To f32: bf16 is its upper half. As integers: see cwm-widen-bfloats.
  void widen(LLVM::FPExtOp op, SmallVectorImpl<Operation *> &moves) {
    OpBuilder builder(op);
    Type single = op.getType();
    Value bits = castMove(builder, op.getArg(), moves);
    Type integer = builder.getI32Type();
    TypedAttr count = builder.getI32IntegerAttr(16);
    if (auto vector = dyn_cast<VectorType>(single)) {
      count = SplatElementsAttr::get(vector.clone(integer), Attribute(count));
      integer = vector.clone(integer);
    }
    Location loc = op.getLoc();
    bits = LLVM::ZExtOp::create(builder, loc, integer, bits);
    bits = LLVM::ShlOp::create(builder, loc, bits,
                               LLVM::ConstantOp::create(builder, loc, count));
    op.replaceAllUsesWith(cast(builder, single, bits));
    op.erase();
  }

  AttrTypeReplacer replacer;
};

struct BFloatsAsBits : cwm::impl::BFloatsAsBitsBase<BFloatsAsBits> {
  void runOnOperation() override {
    Rewriter rewriter(&getContext());
    getOperation()->walk(
        [&](LLVM::LLVMFuncOp function) { rewriter.run(function); });
  }
};
} // namespace
