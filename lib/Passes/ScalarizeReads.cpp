//===- ScalarizeReads.cpp - Vectors that are taken apart --------*- C++ -*-===//
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

namespace cwm {
#define GEN_PASS_DEF_SCALARIZEREADS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

/// The operands of a read of a row that lies in its buffer as a whole.
static bool getRow(Operation *op, Value &buffer, SmallVector<Value> &indices) {
  auto type = op->getNumResults() == 1
                  ? dyn_cast<VectorType>(op->getResult(0).getType())
                  : VectorType();
  if (!type || type.getRank() != 1 || type.isScalable())
    return false;
  if (auto load = dyn_cast<vector::LoadOp>(op)) {
    buffer = load.getBase();
    indices.assign(load.getIndices().begin(), load.getIndices().end());
  } else if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
    if (read.getMask() || read.hasOutOfBoundsDim() ||
        !read.getPermutationMap().isMinorIdentity())
      return false;
    buffer = read.getBase();
    indices.assign(read.getIndices().begin(), read.getIndices().end());
  } else {
    return false;
  }
  auto memref = dyn_cast<MemRefType>(buffer.getType());
  return memref && memref.getElementType() == type.getElementType();
}

static bool isTakenApart(Operation *op) {
  return !op->use_empty() && llvm::all_of(op->getUsers(), [](Operation *user) {
    auto extract = dyn_cast<vector::ExtractOp>(user);
    return extract && extract.getNumIndices() == 1 &&
           !extract.hasDynamicPosition();
  });
}

static void scalarize(Operation *op, Value buffer, ArrayRef<Value> indices) {
  ImplicitLocOpBuilder builder(op->getLoc(), op);
  llvm::DenseMap<int64_t, Value> elements;
  for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
    auto extract = cast<vector::ExtractOp>(user);
    int64_t position = extract.getStaticPosition().front();
    Value &element = elements[position];
    if (!element) {
      SmallVector<Value> at(indices);
      if (position != 0)
        at.back() = arith::AddIOp::create(
            builder, at.back(),
            arith::ConstantIndexOp::create(builder, position));
      element = memref::LoadOp::create(builder, buffer, at);
    }
    extract.replaceAllUsesWith(element);
    extract.erase();
  }
  op->erase();
}

namespace {
struct ScalarizeReads : cwm::impl::ScalarizeReadsBase<ScalarizeReads> {
  void runOnOperation() override {
    SmallVector<Operation *> reads;
    getOperation()->walk([&](Operation *op) {
      if (isa<vector::LoadOp, vector::TransferReadOp>(op))
        reads.push_back(op);
    });
    for (Operation *op : reads) {
      Value buffer;
      SmallVector<Value> indices;
      if (getRow(op, buffer, indices) && isTakenApart(op))
        scalarize(op, buffer, indices);
    }
  }
};
} // namespace
