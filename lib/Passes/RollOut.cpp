//===- RollOut.cpp - Latent states behind actions ---------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelInput.h"

#include "cwm/Passes/Passes.h"
#include "cwm/Trajectory/StateText.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/FormatVariadic.h"

#include <numeric>

namespace cwm {
#define GEN_PASS_DEF_ROLLOUT
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;
using namespace cwm;

namespace {
struct RollOut : cwm::impl::RollOutBase<RollOut> {
  using RollOutBase::RollOutBase;

  void runOnOperation() override {
    if (failed(rollOut()))
      signalPassFailure();
  }

  LogicalResult rollOut() {
    ModuleOp module = getOperation();
    FailureOr<std::vector<LibrarySchedule>> library =
        readSchedules(module, *schedules);
    if (failed(library))
      return failure();
    FailureOr<ModelDirectory> directory = loadModelDirectory(module, model);
    if (failed(directory))
      return failure();
    llvm::Expected<LatentModel> latents =
        LatentModel::load(*directory, /*withTransition=*/true);
    if (!latents)
      return emitError(module.getLoc()) << toString(latents.takeError());
    if (llvm::Error error = latents->setPayload(getStateText(module)))
      return emitError(module.getLoc()) << toString(std::move(error));

    std::vector<std::vector<uint32_t>> numbers;
    for (const LibrarySchedule &schedule : *library)
      numbers.push_back(latents->addActions(getPointers(schedule.actions)));
    llvm::Expected<LatentModel::Prefixes> prefixes = latents->rollOutPrefixes(
        std::vector<ArrayRef<uint32_t>>(numbers.begin(), numbers.end()));
    if (!prefixes)
      return emitError(module.getLoc()) << toString(prefixes.takeError());
    SmallVector<NamedAttribute> entries;
    for (auto [index, schedule] : llvm::enumerate(*library))
      entries.emplace_back(
          StringAttr::get(&getContext(), schedule.name),
          describe(schedule, *prefixes, index, latents->getDim()));
    module->setAttr("cwm.rollout", DictionaryAttr::get(&getContext(), entries));
    return success();
  }

  /// The states along one schedule.
  Attribute describe(const LibrarySchedule &schedule,
                     const LatentModel::Prefixes &prefixes, size_t index,
                     size_t dim) {
    auto getState = [&](uint32_t node) {
      return ArrayRef(prefixes.states).slice(node * dim, dim);
    };
    SmallVector<uint32_t> path;
    for (uint32_t node = prefixes.tree.ends[index]; node != 0;
         node = prefixes.tree.parents[node])
      path.push_back(node);
    Builder builder(&getContext());
    SmallVector<Attribute> steps;
    for (auto [node, action] : llvm::zip(llvm::reverse(path), schedule.actions))
      steps.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("action", builder.getStringAttr(action.text)),
           builder.getNamedAttr(
               "latent", builder.getDenseF32ArrayAttr(getState(node)))}));
    ArrayRef<float> first = getState(0);
    ArrayRef<float> last = getState(prefixes.tree.ends[index]);
    double cosine =
        std::inner_product(first.begin(), first.end(), last.begin(), 0.0);
    emitRemark(getOperation().getLoc())
        << schedule.name << ": " << path.size() << " of "
        << schedule.actions.size() << " actions rolled out, cosine "
        << llvm::formatv("{0:f3}", cosine).str()
        << " between the first state and the last";
    return builder.getArrayAttr(steps);
  }
};
} // namespace
