//===- MaskOddRows.cpp - Rows that fill no register -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

namespace cwm {
#define GEN_PASS_DEF_MASKODDROWS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

/// True for what a caller sees. LLVM forwards what is written to a temporary to
/// its reads, and so do processors, but neither does through masks.
static bool isArgument(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  auto argument = dyn_cast<BlockArgument>(buffer);
  return argument &&
         isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
}

/// Rows of 32- or 64-bit elements whose number is not a power of two and makes
/// at least two accesses.
static bool isOdd(VectorType vector, Value buffer) {
  auto memref = dyn_cast<MemRefType>(buffer.getType());
  if (!memref || !isArgument(buffer) ||
      memref.getElementType() != vector.getElementType() ||
      !memref.isLastDimUnitStride())
    return false;
  if (vector.getRank() != 1 || vector.isScalable() ||
      !vector.getElementType().isIntOrFloat())
    return false;
  int64_t bits = vector.getElementTypeBitWidth();
  int64_t size = vector.getDimSize(0);
  return (bits == 32 || bits == 64) && size > 2 && !llvm::isPowerOf2_64(size);
}

/// The next power of two, and a mask of the lanes in use.
static std::pair<VectorType, Value> getWide(ImplicitLocOpBuilder &builder,
                                            VectorType vector) {
  int64_t size = vector.getDimSize(0);
  auto wide = VectorType::get({int64_t(llvm::NextPowerOf2(size))},
                              vector.getElementType());
  Value mask = vector::ConstantMaskOp::create(
      builder, wide.clone(builder.getI1Type()), ArrayRef<int64_t>{size});
  return {wide, mask};
}

static void maskRead(Operation *op, Value buffer, ValueRange indices) {
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  auto type = cast<VectorType>(op->getResult(0).getType());
  auto [wide, mask] = getWide(builder, type);
  Value nothing = arith::ConstantOp::create(
      builder, wide, cast<TypedAttr>(builder.getZeroAttr(wide)));
  Value row = vector::MaskedLoadOp::create(builder, wide, buffer, indices, mask,
                                           nothing);
  row = vector::ExtractStridedSliceOp::create(
      builder, row, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{type.getDimSize(0)},
      ArrayRef<int64_t>{1});
  op->getResult(0).replaceAllUsesWith(row);
  op->erase();
}

static void maskWrite(Operation *op, Value row, Value buffer,
                      ValueRange indices) {
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  auto type = cast<VectorType>(row.getType());
  auto [wide, mask] = getWide(builder, type);
  SmallVector<int64_t> lanes(wide.getDimSize(0),
                             vector::ShuffleOp::kPoisonIndex);
  for (int64_t lane = 0; lane < type.getDimSize(0); ++lane)
    lanes[lane] = lane;
  row = vector::ShuffleOp::create(builder, row, row, lanes);
  vector::MaskedStoreOp::create(builder, buffer, indices, mask, row);
  op->erase();
}

static bool isPlain(VectorTransferOpInterface op) {
  return !op.getMask() && !op.hasOutOfBoundsDim() &&
         op.getPermutationMap().isMinorIdentity();
}

namespace {
struct MaskOddRows : cwm::impl::MaskOddRowsBase<MaskOddRows> {
  void runOnOperation() override {
    SmallVector<Operation *> accesses;
    getOperation()->walk([&](Operation *op) {
      if (isa<vector::LoadOp, vector::StoreOp, vector::TransferReadOp,
              vector::TransferWriteOp>(op))
        accesses.push_back(op);
    });
    for (Operation *op : accesses)
      mask(op);
  }

  static void mask(Operation *op) {
    if (auto load = dyn_cast<vector::LoadOp>(op)) {
      if (isOdd(load.getVectorType(), load.getBase()))
        maskRead(op, load.getBase(), load.getIndices());
    } else if (auto store = dyn_cast<vector::StoreOp>(op)) {
      if (isOdd(store.getVectorType(), store.getBase()))
        maskWrite(op, store.getValueToStore(), store.getBase(),
                  store.getIndices());
    } else if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
      if (isOdd(read.getVectorType(), read.getBase()) && isPlain(read))
        maskRead(op, read.getBase(), read.getIndices());
    } else if (auto write = dyn_cast<vector::TransferWriteOp>(op)) {
      if (isOdd(write.getVectorType(), write.getBase()) && isPlain(write))
        maskWrite(op, write.getValueToStore(), write.getBase(),
                  write.getIndices());
    }
  }
};
} // namespace
