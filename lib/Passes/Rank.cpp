//===- Rank.cpp - Schedules in the order of a belief ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelInput.h"

#include "cwm/Passes/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/FormatVariadic.h"

namespace cwm {
#define GEN_PASS_DEF_RANK
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;
using namespace cwm;

namespace {
struct Rank : cwm::impl::RankBase<Rank> {
  using RankBase::RankBase;

  void runOnOperation() override {
    if (failed(rank()))
      signalPassFailure();
  }

  LogicalResult rank() {
    ModuleOp module = getOperation();
    FailureOr<std::vector<LibrarySchedule>> library =
        readSchedules(module, *schedules);
    if (failed(library))
      return failure();
    FailureOr<std::unique_ptr<WorldModel>> world =
        loadWorldModel(module, model, hardware, threads);
    if (failed(world))
      return failure();
    std::vector<std::vector<const Action *>> actions;
    actions.reserve(library->size());
    for (const LibrarySchedule &schedule : *library)
      actions.push_back(getPointers(schedule.actions));
    std::vector<ScoringItem> items;
    items.reserve(actions.size());
    for (const std::vector<const Action *> &own : actions)
      items.push_back({own, {}});
    llvm::Expected<std::vector<float>> scores = (*world)->score(items);
    if (!scores)
      return emitError(module.getLoc()) << toString(scores.takeError());

    std::vector<size_t> order = orderByScore(*scores);
    Builder builder(&getContext());
    SmallVector<Attribute> entries;
    for (auto [place, index] : llvm::enumerate(order)) {
      const std::string &name = (*library)[index].name;
      float score = (*scores)[index];
      entries.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("schedule", builder.getStringAttr(name)),
           builder.getNamedAttr("score", builder.getF32FloatAttr(score))}));
      emitRemark(module.getLoc())
          << name << ": place " << place + 1 << " of " << order.size()
          << ", score " << llvm::formatv("{0:f4}", score).str();
    }
    module->setAttr("cwm.rank", builder.getArrayAttr(entries));
    return success();
  }
};
} // namespace
