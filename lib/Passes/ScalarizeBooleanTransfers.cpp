//===- ScalarizeBooleanTransfers.cpp - i1 in memory -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace cwm {
#define GEN_PASS_DEF_SCALARIZEBOOLEANTRANSFERS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

namespace {
/// One access of a row of booleans, whatever operation it was written as.
struct RowAccess {
  Value buffer;
  SmallVector<Value> indices;
  VectorType vector;
  Value mask;             // null: all lanes
  bool mayExceed = false; // lanes behind the innermost extent are left out
};
} // namespace

static bool isBooleanRow(VectorType vector, Type buffer) {
  return vector.getRank() == 1 && !vector.isScalable() &&
         vector.getElementType().isInteger(1) && isa<MemRefType>(buffer);
}

/// Fills `access` from a transfer along the innermost dimension.
static bool getTransfer(VectorTransferOpInterface op, RowAccess &access) {
  if (!isBooleanRow(op.getVectorType(), op.getBase().getType()) ||
      !op.getPermutationMap().isMinorIdentity())
    return false;
  access.buffer = op.getBase();
  access.indices = SmallVector<Value>(op.getIndices());
  access.vector = op.getVectorType();
  access.mask = op.getMask();
  access.mayExceed = op.hasOutOfBoundsDim();
  return true;
}

/// Index and condition of lane `lane` of `access`.
static std::pair<SmallVector<Value>, Value>
getLane(ImplicitLocOpBuilder &builder, const RowAccess &access, int64_t lane) {
  SmallVector<Value> indices = access.indices;
  Value offset = arith::ConstantIndexOp::create(builder, lane);
  indices.back() = arith::AddIOp::create(builder, indices.back(), offset);
  Value condition;
  if (access.mask)
    condition = vector::ExtractOp::create(builder, access.mask, lane);
  if (access.mayExceed) {
    Value last = arith::ConstantIndexOp::create(
        builder, cast<MemRefType>(access.buffer.getType()).getRank() - 1);
    Value extent = memref::DimOp::create(builder, access.buffer, last);
    Value inside = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt,
                                         indices.back(), extent);
    condition =
        condition
            ? arith::AndIOp::create(builder, condition, inside).getResult()
            : inside;
  }
  return {indices, condition};
}

/// The buffer of `access` as what it is in memory. Both types convert to the
/// same descriptor, so that the cast goes with the last types of memref.
static Value getBytes(ImplicitLocOpBuilder &builder, const RowAccess &access) {
  auto type = cast<MemRefType>(access.buffer.getType());
  auto bytes = cast<MemRefType>(type.clone(builder.getI8Type()));
  return UnrealizedConversionCastOp::create(builder, bytes, access.buffer)
      .getResult(0);
}

static bool isWhole(const RowAccess &access) {
  return !access.mask && !access.mayExceed;
}

static Value readRow(ImplicitLocOpBuilder &builder, const RowAccess &access,
                     Value padding) {
  if (isWhole(access)) {
    auto type = VectorType::get(access.vector.getShape(), builder.getI8Type());
    Value bytes = vector::LoadOp::create(
        builder, type, getBytes(builder, access), access.indices);
    return arith::TruncIOp::create(builder, access.vector, bytes);
  }
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < access.vector.getDimSize(0); ++lane) {
    auto [indices, condition] = getLane(builder, access, lane);
    auto branch = scf::IfOp::create(
        builder, condition,
        [&, indices = indices](OpBuilder &nested, Location loc) {
          Value load =
              memref::LoadOp::create(nested, loc, access.buffer, indices);
          scf::YieldOp::create(nested, loc, load);
        },
        [&](OpBuilder &nested, Location loc) {
          scf::YieldOp::create(nested, loc, padding);
        });
    lanes.push_back(branch.getResult(0));
  }
  return vector::FromElementsOp::create(builder, access.vector, lanes);
}

static void writeRow(ImplicitLocOpBuilder &builder, const RowAccess &access,
                     Value row) {
  if (isWhole(access)) {
    auto type = VectorType::get(access.vector.getShape(), builder.getI8Type());
    Value bytes = arith::ExtUIOp::create(builder, type, row);
    vector::StoreOp::create(builder, bytes, getBytes(builder, access),
                            access.indices);
    return;
  }
  for (int64_t lane = 0; lane < access.vector.getDimSize(0); ++lane) {
    auto [indices, condition] = getLane(builder, access, lane);
    Value element = vector::ExtractOp::create(builder, row, lane);
    scf::IfOp::create(builder, condition,
                      [&, indices = indices](OpBuilder &nested, Location loc) {
                        memref::StoreOp::create(nested, loc, element,
                                                access.buffer, indices);
                        scf::YieldOp::create(nested, loc);
                      });
  }
}

static void scalarize(Operation *op) {
  OpBuilder plain(op);
  ImplicitLocOpBuilder builder(op->getLoc(), plain);
  RowAccess access;
  Value row;
  if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
    if (!getTransfer(read, access))
      return;
    row = readRow(builder, access, read.getPadding());
  } else if (auto load = dyn_cast<vector::LoadOp>(op)) {
    if (!isBooleanRow(load.getVectorType(), load.getBase().getType()))
      return;
    access = {load.getBase(), SmallVector<Value>(load.getIndices()),
              load.getVectorType(), Value()};
    row = readRow(builder, access, Value());
  } else if (auto write = dyn_cast<vector::TransferWriteOp>(op)) {
    if (!getTransfer(write, access))
      return;
    writeRow(builder, access, write.getValueToStore());
  } else if (auto store = dyn_cast<vector::StoreOp>(op)) {
    if (!isBooleanRow(store.getVectorType(), store.getBase().getType()))
      return;
    access = {store.getBase(), SmallVector<Value>(store.getIndices()),
              store.getVectorType(), Value()};
    writeRow(builder, access, store.getValueToStore());
  } else {
    return;
  }
  if (row)
    op->getResult(0).replaceAllUsesWith(row);
  op->erase();
}

namespace {
struct ScalarizeBooleanTransfers
    : cwm::impl::ScalarizeBooleanTransfersBase<ScalarizeBooleanTransfers> {
  void runOnOperation() override {
    SmallVector<Operation *> accesses;
    getOperation()->walk([&](Operation *op) {
      if (isa<vector::TransferReadOp, vector::TransferWriteOp, vector::LoadOp,
              vector::StoreOp>(op))
        accesses.push_back(op);
    });
    for (Operation *op : accesses)
      scalarize(op);
  }
};
} // namespace
