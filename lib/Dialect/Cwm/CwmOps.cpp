//===- CwmOps.cpp - Operations of the cwm dialect ---------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Dialect/Cwm/CwmDialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace cwm;

//===----------------------------------------------------------------------===//
// TrajectoryOp
//===----------------------------------------------------------------------===//

/// States, steps and actions are data: their order among kinds says nothing.
RegionKind TrajectoryOp::getRegionKind(unsigned) { return RegionKind::Graph; }

/// Checks that a reference to a state names one of `numStates`.
static LogicalResult verifyState(Operation *op, StringRef role,
                                 std::optional<uint64_t> state,
                                 uint64_t numStates) {
  if (state && *state >= numStates)
    return op->emitOpError() << "names state " << *state << " as its " << role
                             << ", but the trajectory has " << numStates;
  return success();
}

static LogicalResult verifyStep(StepOp step,
                                const llvm::DenseMap<uint64_t, StepOp> &steps,
                                uint64_t numStates) {
  if (failed(verifyState(step, "state before", step.getBefore(), numStates)) ||
      failed(verifyState(step, "state after", step.getAfter(), numStates)))
    return failure();
  uint64_t expectedDepth = 0;
  if (std::optional<uint64_t> parent = step.getParent()) {
    auto it = steps.find(*parent);
    if (it == steps.end())
      return step.emitOpError() << "names step " << *parent
                                << " as its parent, which does not precede it";
    StepOp parentStep = it->second;
    expectedDepth = parentStep.getDepth() + 1;
  }
  if (step.getDepth() != expectedDepth)
    return step.emitOpError() << "expected depth " << expectedDepth
                              << " below its parent, found " << step.getDepth();
  return success();
}

LogicalResult TrajectoryOp::verify() {
  uint64_t numStates = 0, numActions = 0;
  llvm::DenseMap<uint64_t, StepOp> steps;
  std::optional<uint64_t> lastStep;
  StateOp first;
  // States and steps may be referred to from anywhere, so number them first.
  for (Operation &op : getBody().front()) {
    if (auto state = dyn_cast<StateOp>(op)) {
      if (state.getIndex() != numStates)
        return state.emitOpError() << "expected index " << numStates
                                   << ", found " << state.getIndex();
      if (numStates++ == 0)
        first = state;
    } else if (auto action = dyn_cast<ActionOp>(op)) {
      if (action.getIndex() != numActions)
        return action.emitOpError() << "expected index " << numActions
                                    << ", found " << action.getIndex();
      ++numActions;
    } else if (!isa<StepOp>(op)) {
      return op.emitOpError() << "is neither a state, a step nor an action";
    }
  }
  if (!first)
    return emitOpError() << "expected at least one 'cwm.state'";
  if (first.getHash() != getWorkload())
    return emitOpError() << "expected the workload to be the hash of state 0";

  for (auto step : getBody().getOps<StepOp>()) {
    if (lastStep && step.getIndex() <= *lastStep)
      return step.emitOpError() << "expected an index above " << *lastStep
                                << ", found " << step.getIndex();
    lastStep = step.getIndex();
    if (failed(verifyStep(step, steps, numStates)))
      return failure();
    steps[step.getIndex()] = step;
  }
  for (auto action : getBody().getOps<ActionOp>()) {
    if (failed(verifyState(action, "state", action.getState(), numStates)))
      return failure();
    if (action.getStep() && !steps.contains(*action.getStep()))
      return action.emitOpError() << "names step " << *action.getStep()
                                  << ", which is not in the trajectory";
    if (action.getStep() && steps[*action.getStep()].getRolledBack())
      return action.emitOpError()
             << "names step " << *action.getStep() << ", which was rolled back";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// StateOp
//===----------------------------------------------------------------------===//

LogicalResult StateOp::verify() {
  Region &payload = getPayload();
  if (!payload.empty() &&
      (!payload.hasOneBlock() || !llvm::hasSingleElement(payload.front()) ||
       payload.getNumArguments() != 0))
    return emitOpError() << "expected one op as its payload";
  return success();
}

//===----------------------------------------------------------------------===//
// StepOp
//===----------------------------------------------------------------------===//

LogicalResult StepOp::verify() {
  if (getBefore().has_value() != getAfter().has_value())
    return emitOpError() << "expected the states before and after together";
  if (getStatus() == StepStatus::Skipped && isChanged())
    return emitOpError() << "was skipped and yet changed the state";
  if (getKind() == StepKind::Action && !getText())
    return emitOpError() << "expected the text of an action";
  return success();
}

#define GET_OP_CLASSES
#include "cwm/Dialect/Cwm/CwmOps.cpp.inc"
