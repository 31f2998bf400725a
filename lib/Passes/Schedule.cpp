//===- Schedule.cpp - A payload scheduled by a model alone ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ApplyScript.h"
#include "ModelInput.h"

#include "cwm/Passes/Passes.h"
#include "cwm/Search/ActionTable.h"
#include "cwm/Search/Sampler.h"
#include "cwm/Sketches/Sketches.h"
#include "cwm/Support/ErrorCapture.h"

#include "mlir/IR/Verifier.h"

namespace cwm {
#define GEN_PASS_DEF_SCHEDULE
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;
using namespace cwm;

namespace {
struct Schedule : cwm::impl::ScheduleBase<Schedule> {
  using ScheduleBase::ScheduleBase;

  /// Sketches are parsed and interpreted later, when none may be loaded.
  LogicalResult initialize(MLIRContext *context) override {
    context->loadAllAvailableDialects();
    return success();
  }

  void runOnOperation() override {
    if (failed(schedule()))
      signalPassFailure();
  }

  LogicalResult schedule() {
    ModuleOp module = getOperation();
    if (samples < 1)
      return emitError(module.getLoc()) << "'samples' must be at least 1";
    FailureOr<std::vector<std::unique_ptr<Space>>> spaces =
        buildSpacesOf(module, hardware, threads);
    if (failed(spaces))
      return failure();
    FailureOr<std::unique_ptr<WorldModel>> world =
        loadWorldModel(module, model, hardware, threads);
    if (failed(world))
      return failure();
    FailureOr<std::vector<Candidate>> candidates = rank(*spaces, **world);
    if (failed(candidates))
      return failure();
    if (std::optional<Assignment> baseline = spaces->front()->getDefault())
      candidates->push_back({0, std::move(*baseline), ""});
    for (auto [index, candidate] : llvm::enumerate(*candidates))
      if (succeeded(tryApply(*(*spaces)[candidate.space], candidate, index)))
        return success();
    return emitError(module.getLoc()) << "none of the " << candidates->size()
                                      << " candidates that were tried applies";
  }

  /// Samples with known actions, the best first, as many as may be attempted.
  FailureOr<std::vector<Candidate>>
  rank(ArrayRef<std::unique_ptr<Space>> spaces, WorldModel &world) {
    CandidateSampler sampler(spaces, seed);
    ActionTable table(spaces);
    std::vector<Candidate> candidates;
    std::vector<std::vector<const Action *>> actions;
    while (static_cast<int64_t>(candidates.size()) < samples) {
      std::optional<Candidate> candidate = sampler.next();
      if (!candidate)
        break;
      auto numbers = table.derive(candidate->space, candidate->assignment);
      if (!numbers) {
        llvm::consumeError(numbers.takeError());
        continue;
      }
      if (!*numbers)
        continue;
      std::vector<const Action *> &own = actions.emplace_back();
      for (uint32_t number : **numbers)
        own.push_back(&table.get(number));
      candidates.push_back(std::move(*candidate));
    }
    std::vector<ScoringItem> items;
    items.reserve(actions.size());
    for (const std::vector<const Action *> &own : actions)
      items.push_back({own, {}});
    llvm::Expected<std::vector<float>> scores = world.score(items);
    if (!scores)
      return emitError(getOperation().getLoc()) << toString(scores.takeError());
    std::vector<size_t> order = orderByScore(*scores);
    numScored = order.size();
    std::vector<Candidate> best;
    for (size_t index : order) {
      if (static_cast<int64_t>(best.size()) >= attempts)
        break;
      best.push_back(std::move(candidates[index]));
    }
    return std::move(best);
  }

  LogicalResult tryApply(const Space &space, const Candidate &candidate,
                         size_t numFailed) {
    ModuleOp module = getOperation();
    std::string key = space.getKey(candidate.assignment);
    {
      ErrorCapture errors(&getContext());
      FailureOr<OwningOpRef<ModuleOp>> script =
          space.bind(candidate.assignment);
      if (failed(script))
        return failure();
      OwningOpRef<ModuleOp> copy(module.clone());
      if (failed(applyScript(*copy, **script)) || failed(verify(*copy)))
        return failure();
      if (this->script)
        replaceByScript(module, **script);
      else
        module.getBodyRegion().takeBody(copy->getBodyRegion());
    }
    auto remark =
        emitRemark(module.getLoc())
        << "applied " << key << ", "
        << (candidate.key.empty() ? "the default" : "the best by the model")
        << " of " << numScored << " samples";
    if (numFailed)
      remark << "; " << numFailed << " believed better did not apply";
    return success();
  }

  size_t numScored = 0;
};
} // namespace
