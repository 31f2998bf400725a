//===- ShuffleStridedReads.cpp - Every other element of a row ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace cwm {
#define GEN_PASS_DEF_SHUFFLESTRIDEDREADS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

/// In-bounds reads of rank 1 or 2 with stride 2 along rows.
static bool isStrided(vector::TransferReadOp read) {
  auto type = dyn_cast<MemRefType>(read.getBase().getType());
  VectorType vector = read.getVectorType();
  if (!type || type.getElementType() != vector.getElementType() ||
      vector.getRank() < 1 || vector.getRank() > 2 || vector.isScalable() ||
      vector.getShape().back() < 2 || read.getMask() ||
      read.hasOutOfBoundsDim() || !read.getPermutationMap().isMinorIdentity())
    return false;
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 2;
}

/// The row at `indices`: two loads of as many elements as the result has, which
/// overlap by one and touch nothing outside of what is read.
static Value readRow(ImplicitLocOpBuilder &builder, vector::TransferReadOp read,
                     ArrayRef<OpFoldResult> indices) {
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, read.getBase());
  AffineExpr sum = builder.getAffineSymbolExpr(0);
  SmallVector<OpFoldResult> symbols{metadata.getConstifiedMixedOffset()};
  for (auto [index, stride] :
       llvm::zip_equal(indices, metadata.getConstifiedMixedStrides())) {
    unsigned next = symbols.size();
    sum = sum + builder.getAffineSymbolExpr(next) *
                    builder.getAffineSymbolExpr(next + 1);
    symbols.push_back(index);
    symbols.push_back(stride);
  }
  OpFoldResult offset = affine::makeComposedFoldedAffineApply(
      builder, builder.getLoc(), sum, symbols);
  int64_t size = read.getVectorType().getShape().back();
  auto vector = VectorType::get({size}, read.getVectorType().getElementType());
  auto type = MemRefType::get(
      {2 * size - 1}, vector.getElementType(),
      StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic, {1}),
      cast<MemRefType>(read.getBase().getType()).getMemorySpace());
  SmallVector<OpFoldResult> sizes{builder.getIndexAttr(2 * size - 1)};
  SmallVector<OpFoldResult> strides{builder.getIndexAttr(1)};
  offset = getValueOrCreateConstantIndexOp(builder, builder.getLoc(), offset);
  Value row = memref::ReinterpretCastOp::create(
      builder, type, metadata.getBaseBuffer(), offset, sizes, strides);
  auto load = [&](int64_t start) -> Value {
    Value at = arith::ConstantIndexOp::create(builder, start);
    return vector::LoadOp::create(builder, vector, row, at);
  };
  SmallVector<int64_t> lanes;
  for (int64_t lane = 0; lane < size; ++lane)
    lanes.push_back(2 * lane < size ? 2 * lane : size + 2 * lane - (size - 1));
  return vector::ShuffleOp::create(builder, load(0), load(size - 1), lanes);
}

static Value readRows(ImplicitLocOpBuilder &builder,
                      vector::TransferReadOp read) {
  SmallVector<OpFoldResult> indices =
      getAsOpFoldResult(ValueRange(read.getIndices()));
  VectorType type = read.getVectorType();
  if (type.getRank() == 1)
    return readRow(builder, read, indices);
  Value result = ub::PoisonOp::create(builder, type);
  OpFoldResult first = indices[indices.size() - 2];
  for (int64_t row = 0; row < type.getDimSize(0); ++row) {
    indices[indices.size() - 2] = affine::makeComposedFoldedAffineApply(
        builder, builder.getLoc(), builder.getAffineSymbolExpr(0) + row,
        {first});
    result = vector::InsertOp::create(builder, readRow(builder, read, indices),
                                      result, row);
  }
  return result;
}

namespace {
struct ShuffleStridedReads
    : cwm::impl::ShuffleStridedReadsBase<ShuffleStridedReads> {
  void runOnOperation() override {
    SmallVector<vector::TransferReadOp> reads;
    getOperation()->walk([&](vector::TransferReadOp read) {
      if (isStrided(read))
        reads.push_back(read);
    });
    for (vector::TransferReadOp read : reads) {
      ImplicitLocOpBuilder builder(read.getLoc(), read);
      read.replaceAllUsesWith(readRows(builder, read));
      read.erase();
    }
  }
};
} // namespace
