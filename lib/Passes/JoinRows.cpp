//===- JoinRows.cpp - Rows instead of single elements -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace cwm {
#define GEN_PASS_DEF_JOINROWS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

/// The vector of which `elements` are all elements in order, or nothing.
static Value getWholeRow(ValueRange elements, VectorType type) {
  auto source = elements.front().getDefiningOp<vector::ToElementsOp>();
  if (!source || source.getSource().getType() != type)
    return Value();
  for (auto [element, result] : llvm::zip_equal(elements, source.getElements()))
    if (element != result)
      return Value();
  return source.getSource();
}

static Value getRow(ImplicitLocOpBuilder &builder, ValueRange elements,
                    VectorType type) {
  if (Value whole = getWholeRow(elements, type))
    return whole;
  if (llvm::all_equal(elements))
    return vector::BroadcastOp::create(builder, type, elements.front());
  return vector::FromElementsOp::create(builder, type, elements);
}

static void join(vector::FromElementsOp op) {
  VectorType type = cast<VectorType>(op.getType());
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  if (llvm::all_equal(op.getElements())) {
    op.replaceAllUsesWith(
        vector::BroadcastOp::create(builder, type, op.getElements().front())
            .getResult());
    op.erase();
    return;
  }
  if (type.getRank() < 2)
    return;
  int64_t size = type.getShape().back();
  auto rowType = VectorType::get({size}, type.getElementType());
  ArrayRef<int64_t> outer = type.getShape().drop_back();
  Value result = ub::PoisonOp::create(builder, type);
  SmallVector<int64_t> position(outer.size(), 0);
  for (int64_t start = 0, end = type.getNumElements(); start < end;
       start += size) {
    Value row = getRow(builder, op.getElements().slice(start, size), rowType);
    result = vector::InsertOp::create(builder, row, result, position);
    for (auto dim = static_cast<int64_t>(outer.size()) - 1; dim >= 0; --dim) {
      if (++position[dim] < outer[dim])
        break;
      position[dim] = 0;
    }
  }
  op.replaceAllUsesWith(result);
  op.erase();
}

namespace {
struct JoinRows : cwm::impl::JoinRowsBase<JoinRows> {
  void runOnOperation() override {
    SmallVector<vector::FromElementsOp> joins;
    SmallVector<vector::ToElementsOp> splits;
    getOperation()->walk([&](Operation *op) {
      if (auto fromElements = dyn_cast<vector::FromElementsOp>(op))
        joins.push_back(fromElements);
      else if (auto toElements = dyn_cast<vector::ToElementsOp>(op))
        splits.push_back(toElements);
    });
    llvm::for_each(joins, join);
    for (vector::ToElementsOp split : splits)
      if (split.use_empty())
        split.erase();
  }
};
} // namespace
