//===- Indices.cpp - Indices that depend on arguments --------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contract.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace cwm;

/// Operands of `op` that address elements of a tensor.
static SmallVector<Value> getIndexOperands(Operation *op) {
  SmallVector<Value> operands;
  auto add = [&](ValueRange values) { llvm::append_range(operands, values); };
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    add(extract.getIndices());
  } else if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
    add(insert.getIndices());
  } else if (auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(op)) {
    add(slice.getOffsets());
    add(slice.getSizes());
    add(slice.getStrides());
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    add(pad.getLow());
    add(pad.getHigh());
  } else if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    operands.push_back(dim.getIndex());
  } else if (auto gather = dyn_cast<tensor::GatherOp>(op)) {
    operands.push_back(gather.getIndices());
  } else if (auto scatter = dyn_cast<tensor::ScatterOp>(op)) {
    operands.push_back(scatter.getIndices());
  }
  return operands;
}

/// The value behind a block argument of a linalg op's body; null of others.
static Value getOperandOf(BlockArgument argument) {
  auto op = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
  if (!op)
    return {};
  return op.getMatchingOpOperand(argument)->get();
}

namespace {
/// Follows a value back to the arguments whose elements it is made of. A
/// condition only chooses among values: which index is the largest element's,
/// say, depends on the elements, and yet is in bounds.
class Origins {
public:
  explicit Origins(Value value) { visit(value); }

  llvm::SmallSetVector<BlockArgument, 4> run() {
    while (!pending.empty())
      follow(pending.pop_back_val());
    return std::move(arguments);
  }

private:
  void visit(Value value) {
    if (value && seen.insert(value).second)
      pending.push_back(value);
  }
  void visitAll(ValueRange values) {
    for (Value value : values)
      visit(value);
  }

  void follow(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (isa<func::FuncOp>(argument.getOwner()->getParentOp()))
        arguments.insert(argument);
      else
        visit(getOperandOf(argument));
      return;
    }
    Operation *op = value.getDefiningOp();
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      visit(linalgOp.getBlock()->getTerminator()->getOperand(number));
      visit(linalgOp.getDpsInits()[number]);
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      visit(select.getTrueValue());
      visit(select.getFalseValue());
    } else if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      visit(extract.getTensor());
    } else if (!isa<arith::CmpIOp, arith::CmpFOp, tensor::DimOp>(op)) {
      visitAll(op->getOperands());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          visitAll(block.getTerminator()->getOperands());
    }
  }

  SmallVector<Value> pending;
  llvm::SmallDenseSet<Value> seen;
  llvm::SmallSetVector<BlockArgument, 4> arguments;
};
} // namespace

/// The argument whose elements `value` is, converted to another width at most;
/// null when it is computed.
static BlockArgument getSource(Value value) {
  while (value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (isa<func::FuncOp>(argument.getOwner()->getParentOp()))
        return argument;
      value = getOperandOf(argument);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
             arith::ExtUIOp, arith::TruncIOp, tensor::ExtractOp,
             tensor::ExtractSliceOp, tensor::CastOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

/// Checks what can be seen of bounds: elements of an argument as they are.
static LogicalResult checkBounds(tensor::ExtractOp op,
                                 ArrayRef<TensorSpec> inputs) {
  ArrayRef<int64_t> shape = op.getTensor().getType().getShape();
  for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
    BlockArgument source = getSource(index);
    if (!source)
      continue;
    int64_t bound = inputs[source.getArgNumber()].upperBound;
    if (bound > shape[dim])
      return op.emitOpError()
             << "takes an index of dimension " << dim << ", of extent "
             << shape[dim] << ", from argument #" << source.getArgNumber()
             << ", whose " << upperBoundAttrName << " is " << bound
             << ": random inputs would be out of bounds";
  }
  return success();
}

LogicalResult cwm::checkIndices(func::FuncOp entry,
                                ArrayRef<TensorSpec> inputs) {
  auto check = [&](Operation *op) -> LogicalResult {
    for (Value index : getIndexOperands(op)) {
      for (BlockArgument argument : Origins(index).run()) {
        unsigned number = argument.getArgNumber();
        if (inputs[number].domain == InputDomain::Index)
          continue;
        InFlightDiagnostic diagnostic = op->emitOpError();
        diagnostic << "takes an index from argument #" << number << " of @"
                   << entry.getName() << ": ";
        if (getElementTypeOrSelf(argument).isInteger())
          diagnostic << "mark the argument with the range of its elements, {"
                     << domainAttrName << " = \"index\", " << upperBoundAttrName
                     << " = N}";
        else
          diagnostic << "indices cannot depend on floats, whose random values "
                        "may be out of bounds";
        return failure();
      }
    }
    if (auto extract = dyn_cast<tensor::ExtractOp>(op))
      return checkBounds(extract, inputs);
    return success();
  };
  WalkResult walk = entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
    return failed(check(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}
