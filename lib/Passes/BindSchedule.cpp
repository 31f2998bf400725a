//===- BindSchedule.cpp - Bind one candidate of a schedule ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"
#include "cwm/Space/Space.h"

namespace cwm {
#define GEN_PASS_DEF_BINDSCHEDULE
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;
using namespace cwm;

namespace {
struct BindSchedule : cwm::impl::BindScheduleBase<BindSchedule> {
  using BindScheduleBase::BindScheduleBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(bindInPlace(module)))
      signalPassFailure();
  }

  LogicalResult bindInPlace(ModuleOp module) {
    OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone()));
    FailureOr<std::unique_ptr<Space>> space =
        Space::create(std::move(copy), "schedule");
    if (failed(space))
      return failure();
    std::string message;
    std::optional<Assignment> candidate;
    if (assignment.empty())
      candidate = (*space)->getDefault(&message);
    else
      candidate = (*space)->parseAssignment(assignment, message);
    if (!candidate)
      return module.emitError() << message;
    if (!(*space)->satisfies(*candidate, &message))
      return module.emitError() << message;
    FailureOr<OwningOpRef<ModuleOp>> bound = (*space)->bind(*candidate);
    if (failed(bound))
      return failure();
    module->setAttrs((**bound)->getAttrDictionary());
    module.getBodyRegion().takeBody((*bound)->getBodyRegion());
    return success();
  }
};
} // namespace
