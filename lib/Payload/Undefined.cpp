//===- Undefined.cpp - Reads of what nobody wrote ------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contract.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

/// An op whose result holds elements of its first operand and nothing else.
static bool isView(Operation *op) {
  return isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::ReshapeOp, tensor::ExtractSliceOp>(op);
}

/// True when no element of `value` was ever written. What is written in parts
/// counts as written: the parts may be all.
static bool isUndefined(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<tensor::EmptyOp>(op))
      return true;
    if (!isView(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

/// True when `op` reads elements of `operand`, as opposed to passing them on,
/// overwriting them, or looking at the shape.
static bool readsElements(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.payloadUsesValueFromOperand(&operand);
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return !destination.isDpsInit(&operand);
  return !isView(op) && !isa<tensor::DimOp, tensor::RankOp>(op);
}

LogicalResult cwm::checkDefined(func::FuncOp entry) {
  WalkResult walk =
      entry.walk<WalkOrder::PreOrder>([](Operation *op) {
        for (OpOperand &operand : op->getOpOperands()) {
          if (!isa<TensorType>(operand.get().getType()) ||
              !isUndefined(operand.get()) || !readsElements(operand))
            continue;
          op->emitOpError()
              << (isa<func::ReturnOp>(op) ? "returns" : "reads")
              << " the undefined contents of tensor.empty as operand #"
              << operand.getOperandNumber() << ": fill the tensor first";
          return WalkResult::interrupt();
        }
        return WalkResult::advance();
      });
  return failure(walk.wasInterrupted());
}
