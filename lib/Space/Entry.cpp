//===- Entry.cpp - Rules for the entry of a schedule ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Space/Entry.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"

using namespace mlir;

LogicalResult cwm::checkEntry(transform::NamedSequenceOp entry) {
  // By the verifier of entry points and applyTransformNamedSequence of MLIR
  // 22.1, which look only when the schedule is applied.
  auto error = [&](Location location) -> InFlightDiagnostic {
    return emitError(location) << "'@" << entry.getSymName() << "' ";
  };
  if (entry.isExternal())
    return error(entry.getLoc())
           << "is only declared: a schedule's entry needs a body";
  Block &body = entry.getBody().front();
  if (body.getNumArguments() != 1)
    return error(entry.getLoc())
           << "has " << body.getNumArguments()
           << " arguments: a schedule's entry takes one, the payload module";
  BlockArgument root = body.getArgument(0);
  auto refuseType = [&]() -> LogicalResult {
    return error(root.getLoc())
           << "takes " << root.getType()
           << ": a schedule's entry takes the payload module, as "
              "!transform.any_op or !transform.op<\"builtin.module\">";
  };
  if (!isa<transform::TransformHandleTypeInterface>(root.getType()))
    return refuseType();
  auto typed = dyn_cast<transform::OperationType>(root.getType());
  if (typed && typed.getOperationName() != ModuleOp::getOperationName())
    return refuseType();
  return success();
}

LogicalResult cwm::checkEntry(ModuleOp schedule) {
  for (auto sequence : schedule.getOps<transform::NamedSequenceOp>())
    if (sequence.getSymName() ==
        transform::TransformDialect::kTransformEntryPointSymbolName)
      return checkEntry(sequence);
  return emitNoEntry(schedule);
}

LogicalResult cwm::emitNoEntry(ModuleOp schedule) {
  return schedule.emitError()
         << "schedule has no named sequence '@__transform_main'";
}
