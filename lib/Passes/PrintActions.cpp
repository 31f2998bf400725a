//===- PrintActions.cpp - Print the actions of a bound schedule -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "cwm/Trajectory/ActionText.h"

namespace cwm {
#define GEN_PASS_DEF_PRINTACTIONS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

namespace {
struct PrintActions : public cwm::impl::PrintActionsBase<PrintActions> {
  using PrintActionsBase::PrintActionsBase;

  void runOnOperation() override {
    auto actions = cwm::getActions(getOperation(), entryPoint);
    if (failed(actions))
      return signalPassFailure();
    for (const cwm::Action &action : *actions)
      llvm::outs() << action.text << '\n';
    markAllAnalysesPreserved();
  }
};
} // namespace
