//===- JoinGroups.cpp - Groups of narrow elements as rows -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JoinGroups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

static bool isGroup(VectorType type) {
  if (type.getRank() < 2 || type.isScalable() ||
      !type.getElementType().isIntOrFloat())
    return false;
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  return bits >= 8 && bits < 32 && type.getShape().back() * bits == 32;
}

/// `type` with the last two dimensions as one.
static VectorType joinLast(VectorType type) {
  SmallVector<int64_t> shape(type.getShape().drop_back());
  shape.back() *= type.getShape().back();
  return VectorType::get(shape, type.getElementType());
}

/// `mask` of groups that are all read or not at all, with its last two
/// dimensions as one; null where that is not so.
static Value joinMask(ImplicitLocOpBuilder &builder, Value mask) {
  auto type = cast<VectorType>(mask.getType());
  int64_t group = type.getShape().back();
  VectorType joined = joinLast(type);
  if (auto constant = mask.getDefiningOp<vector::ConstantMaskOp>()) {
    SmallVector<int64_t> sizes(constant.getMaskDimSizes());
    if (sizes.pop_back_val() != group)
      return {};
    sizes.back() *= group;
    return vector::ConstantMaskOp::create(builder, joined, sizes);
  }
  auto made = mask.getDefiningOp<vector::CreateMaskOp>();
  APInt last;
  if (!made || !matchPattern(made.getOperands().back(), m_ConstantInt(&last)) ||
      last.getSExtValue() < group)
    return {};
  SmallVector<Value> sizes(made.getOperands().drop_back());
  sizes.back() = builder.createOrFold<arith::MulIOp>(
      sizes.back(), arith::ConstantIndexOp::create(builder, group));
  return vector::CreateMaskOp::create(builder, joined, sizes);
}

/// The memory, indices and mask of a transfer of rows of groups.
namespace {
struct JoinedTransfer {
  Value memory, mask;
  SmallVector<Value> indices;
  AffineMapAttr map;
  ArrayAttr inBounds;
};
} // namespace

static std::optional<JoinedTransfer> join(VectorTransferOpInterface op,
                                          ImplicitLocOpBuilder &builder) {
  if (isa<vector::MaskOp>(op->getParentOp()))
    return std::nullopt;
  VectorType type = op.getVectorType();
  auto memory = dyn_cast<MemRefType>(op.getBase().getType());
  if (!memory || !isGroup(type) || !op.getPermutationMap().isMinorIdentity() ||
      memory.getShape().back() != type.getShape().back() ||
      !matchPattern(op.getIndices().back(), m_Zero()))
    return std::nullopt;
  SmallVector<ReassociationIndices> dims;
  int64_t rank = memory.getRank();
  for (int64_t dim = 0; dim < rank - 1; ++dim)
    dims.push_back({dim});
  dims.back().push_back(rank - 1);
  if (!memref::CollapseShapeOp::isGuaranteedCollapsible(memory, dims))
    return std::nullopt;
  JoinedTransfer joined;
  if (Value mask = op.getMask()) {
    joined.mask = joinMask(builder, mask);
    if (!joined.mask)
      return std::nullopt;
  }
  joined.memory = memref::CollapseShapeOp::create(builder, op.getBase(), dims);
  joined.indices.assign(op.getIndices().begin(), op.getIndices().end());
  joined.indices.pop_back();
  joined.indices.back() = builder.createOrFold<arith::MulIOp>(
      joined.indices.back(),
      arith::ConstantIndexOp::create(builder, type.getShape().back()));
  joined.map = AffineMapAttr::get(AffineMap::getMinorIdentityMap(
      rank - 1, type.getRank() - 1, builder.getContext()));
  SmallVector<Attribute> inBounds(op.getInBounds().getValue());
  inBounds.pop_back();
  joined.inBounds = builder.getArrayAttr(inBounds);
  return joined;
}

static void joinRead(vector::TransferReadOp op) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  std::optional<JoinedTransfer> joined = join(op, builder);
  if (!joined)
    return;
  Value read = vector::TransferReadOp::create(
      builder, joinLast(op.getVectorType()), joined->memory, joined->indices,
      joined->map, op.getPadding(), joined->mask, joined->inBounds);
  op.replaceAllUsesWith(
      builder.createOrFold<vector::ShapeCastOp>(op.getVectorType(), read));
  op.erase();
}

static void joinWrite(vector::TransferWriteOp op) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  if (!op.hasPureBufferSemantics())
    return;
  std::optional<JoinedTransfer> joined = join(op, builder);
  if (!joined)
    return;
  Value value = builder.createOrFold<vector::ShapeCastOp>(
      joinLast(op.getVectorType()), op.getVector());
  vector::TransferWriteOp::create(builder, TypeRange(), value, joined->memory,
                                  joined->indices, joined->map, joined->mask,
                                  joined->inBounds);
  op.erase();
}

//===----------------------------------------------------------------------===//
// Transpositions
//===----------------------------------------------------------------------===//

/// Dimensions of a transposition that have more than one element: their extents
/// in the source and, by position, in the order of the result.
namespace {
struct Movement {
  SmallVector<int64_t> extents;
  SmallVector<size_t> order;
};
} // namespace

static Movement getMovement(vector::TransposeOp op) {
  VectorType type = op.getSourceVectorType();
  Movement movement;
  SmallVector<int64_t> position(type.getRank(), -1);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getDimSize(dim) != 1) {
      position[dim] = int64_t(movement.extents.size());
      movement.extents.push_back(type.getDimSize(dim));
    }
  for (int64_t dim : op.getPermutation())
    if (position[dim] >= 0)
      movement.order.push_back(position[dim]);
  return movement;
}

/// Rows [group][columns] of `source`, [outer][group][columns], with the
/// elements of a group together: [outer][columns * group].
static Value interleave(ImplicitLocOpBuilder &builder, Value source) {
  auto type = cast<VectorType>(source.getType());
  int64_t outer = type.getDimSize(0), group = type.getDimSize(1);
  Value result = ub::PoisonOp::create(
      builder, VectorType::get({outer, group * type.getDimSize(2)},
                               type.getElementType()));
  auto pair = [&](Value even, Value odd) -> Value {
    return vector::InterleaveOp::create(builder, even, odd);
  };
  for (int64_t i = 0; i < outer; ++i) {
    SmallVector<Value> rows;
    for (int64_t j = 0; j < group; ++j)
      rows.push_back(
          vector::ExtractOp::create(builder, source, ArrayRef<int64_t>{i, j}));
    Value row = group == 2
                    ? pair(rows[0], rows[1])
                    : pair(pair(rows[0], rows[2]), pair(rows[1], rows[3]));
    result = vector::InsertOp::create(builder, row, result, i);
  }
  return result;
}

/// Transposes `source`, [rows][columns] of groups.
static Value transposeGroups(ImplicitLocOpBuilder &builder, Value source) {
  auto type = cast<VectorType>(source.getType());
  Type word = builder.getI32Type();
  int64_t group = 32 / type.getElementTypeBitWidth();
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1) / group;
  Value words = vector::BitCastOp::create(
      builder, VectorType::get({rows, columns}, word), source);
  words = vector::TransposeOp::create(builder, words, ArrayRef<int64_t>{1, 0});
  return vector::BitCastOp::create(
      builder, VectorType::get({columns, rows * group}, type.getElementType()),
      words);
}

static void joinTransposed(vector::TransposeOp op) {
  if (!isGroup(op.getResultVectorType()))
    return;
  auto [extents, order] = getMovement(op);
  int64_t group = op.getResultVectorType().getShape().back();
  if (order.size() < 2 || extents[order.back()] != group)
    return;
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  VectorType type = op.getSourceVectorType();
  auto cast = [&](Value value, ArrayRef<int64_t> shape) {
    return builder.createOrFold<vector::ShapeCastOp>(
        VectorType::get(shape, type.getElementType()), value);
  };
  Value result;
  if (order.size() == 2 && order[0] == 1) {
    result = interleave(builder, cast(op.getVector(), {1, group, extents[1]}));
  } else if (order.size() == 3 && order[2] == 1) {
    result = interleave(builder, cast(op.getVector(), extents));
    if (order[0] == 2)
      result = transposeGroups(builder, result);
  } else if (order.size() == 3 && order[0] == 1 && order[1] == 0) {
    result = transposeGroups(
        builder, cast(op.getVector(), {extents[0], extents[1] * group}));
  } else {
    return;
  }
  op.replaceAllUsesWith(builder.createOrFold<vector::ShapeCastOp>(
      op.getResultVectorType(), result));
  op.erase();
}

void cwm::joinGroups(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    if (auto read = dyn_cast<vector::TransferReadOp>(op))
      joinRead(read);
    else if (auto write = dyn_cast<vector::TransferWriteOp>(op))
      joinWrite(write);
    else if (auto transposed = dyn_cast<vector::TransposeOp>(op))
      joinTransposed(transposed);
  }
}
