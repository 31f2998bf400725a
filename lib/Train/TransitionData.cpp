//===- TransitionData.cpp - What the transition learns from -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/TransitionData.h"

#include "Random.h"

#include "cwm/Trajectory/StateText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;

namespace cwm {

static_assert(LatentTrajectories::unknown == Dataset::noState);

//===----------------------------------------------------------------------===//
// The dataset
//===----------------------------------------------------------------------===//

std::string getDigest(const Dataset &dataset) {
  std::string text;
  raw_string_ostream os(text);
  for (const WorkloadInfo &info : dataset.getWorkloads())
    os << info.hash << '\n';
  for (const std::string &action : dataset.getActions())
    os << action << '\n';
  for (size_t state = 0; state < dataset.getNumStates(); ++state)
    os << dataset.getStateHash(state) << '\n';
  for (const Dataset::Trajectory &trajectory : dataset.getTrajectories()) {
    os << trajectory.workload;
    for (uint32_t action : trajectory.actions)
      os << ' ' << action;
    for (uint32_t state : trajectory.states)
      os << ' ' << state;
    os << '\n';
  }
  return hashText(text);
}

Expected<std::pair<Dataset, Dataset>>
splitValidation(const Dataset &dataset, double share, uint64_t seed) {
  std::vector<bool> isUsed(dataset.getWorkloads().size());
  for (const Dataset::Trajectory &trajectory : dataset.getTrajectories())
    isUsed[trajectory.workload] = true;
  std::vector<std::string> used;
  for (auto [info, isThere] : zip_equal(dataset.getWorkloads(), isUsed))
    if (isThere)
      used.push_back(info.hash);
  // The order of the store must not matter.
  llvm::sort(used);
  if (used.size() < 2)
    return createStringError(
        "all trajectories are of one workload, " + used.front() +
        ": at least two are needed, since one is kept for validation");
  Random::fork(seed, 0x7a11).shuffle(used);
  const auto wanted = static_cast<size_t>(
      std::llround(share * static_cast<double>(used.size())));
  const size_t count = std::clamp<size_t>(wanted, 1, used.size() - 1);
  StringSet<> parts[2]; // to train on, for validation
  for (auto [place, hash] : enumerate(used))
    parts[place < count].insert(hash);
  auto restrictTo = [&](const StringSet<> &part) {
    return dataset.restrictTo(
        [&](const WorkloadInfo &info) { return part.contains(info.hash); });
  };
  return std::pair(restrictTo(parts[0]), restrictTo(parts[1]));
}

Expected<LatentTrajectories> makeLatentTrajectories(const Dataset &dataset,
                                                    const LatentStore &store) {
  LatentTrajectories data;
  data.dim = data.encodingDim = store.getDim();
  auto append = [&](StringRef hash, std::vector<float> &rows) -> Error {
    ArrayRef<float> row = store.find(hash);
    if (row.empty())
      return createStringError("the latent state of text " + hash +
                               " is missing");
    append_range(rows, row);
    return Error::success();
  };
  for (size_t state = 0; state < dataset.getNumStates(); ++state)
    if (Error error = append(dataset.getStateHash(state), data.states))
      return std::move(error);
  for (const std::string &action : dataset.getActions())
    if (Error error = append(hashText(action), data.encodings))
      return std::move(error);
  data.actions = dataset.getActions().vec();
  for (const WorkloadInfo &info : dataset.getWorkloads())
    data.workloads.push_back(info.hash);
  for (const Dataset::Trajectory &trajectory : dataset.getTrajectories())
    if (trajectory.states.front() != Dataset::noState)
      data.trajectories.push_back(
          {trajectory.workload, trajectory.actions, trajectory.states});
  return data;
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

CwmRolloutBatch RolloutBatch::get() const {
  CwmRolloutBatch view = {};
  view.rows = getNumRows();
  view.steps = steps;
  view.states = data->states.data();
  view.numStates = static_cast<int64_t>(data->states.size() / data->dim);
  view.encodings = encodings.data();
  view.numActions = static_cast<int64_t>(encodings.size() / data->encodingDim);
  view.start = start.data();
  view.actions = actions.data();
  view.targets = targets.data();
  view.weights = weights.data();
  view.totalWeight = totalWeight;
  view.negatives = negatives;
  view.negative = negative.data();
  view.sameWorkload = sameWorkload;
  return view;
}

Expected<RolloutSampler> RolloutSampler::create(const Dataset &dataset,
                                                const LatentTrajectories &data,
                                                const Options &options) {
  WindowOptions window;
  window.numSteps = static_cast<unsigned>(options.windowSteps);
  window.stride = static_cast<unsigned>(options.stride);
  window.numSameWorkload = static_cast<unsigned>(options.sameWorkload);
  window.numOtherWorkload = static_cast<unsigned>(options.otherWorkload);
  window.seed = options.seed;
  Expected<WindowIterator> windows = WindowIterator::create(dataset, window);
  if (!windows)
    return windows.takeError();
  // One window a trajectory, which reaches its end.
  for (const Dataset::Trajectory &trajectory : dataset.getTrajectories())
    window.numSteps = std::max(
        window.numSteps, static_cast<unsigned>(trajectory.actions.size()));
  window.stride = window.numSteps;
  window.seed = options.seed ^ 0xe4d;
  Expected<WindowIterator> whole = WindowIterator::create(dataset, window);
  if (!whole)
    return whole.takeError();
  return RolloutSampler(std::move(*windows), std::move(*whole), data, options);
}

int64_t RolloutSampler::getNumEvaluationBatches(bool isWhole) const {
  const auto size =
      static_cast<int64_t>(isWhole ? whole.size() : windows.size());
  return std::max<int64_t>(1,
                           size / (isWhole ? options.whole : options.windows));
}

RolloutBatch RolloutSampler::getBatch(int64_t step) {
  const bool isWhole =
      Random::fork(options.seed, step, 0x3c).unit() < options.wholeShare;
  return make(isWhole, step);
}

RolloutBatch RolloutSampler::getEvaluationBatch(bool isWhole, int64_t index) {
  return make(isWhole, index);
}

RolloutBatch RolloutSampler::make(bool isWhole, int64_t index) {
  WindowIterator &iterator = isWhole ? whole : windows;
  const int64_t batches = getNumEvaluationBatches(isWhole),
                epoch = index / batches;
  if (epochs[isWhole] != epoch) {
    iterator.startEpoch(epoch);
    epochs[isWhole] = epoch;
  }
  const int64_t asked = isWhole ? options.whole : options.windows;
  const int64_t first = index % batches * asked;
  const int64_t rows =
      std::min(asked, static_cast<int64_t>(iterator.size()) - first);
  const int64_t begin = rows * options.rank / options.ranks,
                end = rows * (options.rank + 1) / options.ranks;
  RolloutBatch batch;
  batch.data = data;
  batch.sameWorkload = options.sameWorkload;
  batch.negatives = options.sameWorkload + options.otherWorkload;
  DenseMap<uint32_t, int32_t> places;
  for (int64_t row = 0; row < rows; ++row) {
    const Window window = iterator.get(first + row);
    batch.steps = static_cast<int64_t>(window.actions.size());
    const bool isOwn = row >= begin && row < end;
    if (isOwn)
      batch.start.push_back(static_cast<int32_t>(window.start));
    for (size_t step = 0; step < window.actions.size(); ++step) {
      const bool isLast =
          window.hasAction[step] &&
          (step + 1 == window.actions.size() || !window.hasAction[step + 1]);
      const float weight = !window.hasState[step] ? 0.0F
                           : isWhole && isLast
                               ? static_cast<float>(options.finalWeight)
                               : 1.0F;
      batch.totalWeight += weight;
      if (!isOwn)
        continue;
      batch.weights.push_back(weight);
      batch.targets.push_back(window.hasState[step]
                                  ? static_cast<int32_t>(window.targets[step])
                                  : -1);
      if (!window.hasAction[step]) {
        batch.actions.push_back(-1);
        continue;
      }
      auto [place, isNew] = places.try_emplace(
          window.actions[step], static_cast<int32_t>(places.size()));
      if (isNew)
        append_range(batch.encodings, data->getEncoding(window.actions[step]));
      batch.actions.push_back(place->second);
    }
    if (!isOwn)
      continue;
    auto addNegatives = [&](ArrayRef<uint32_t> states, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        batch.negative.push_back(i < static_cast<int64_t>(states.size())
                                     ? static_cast<int32_t>(states[i])
                                     : -1);
    };
    addNegatives(window.sameWorkload, options.sameWorkload);
    addNegatives(window.otherWorkload, options.otherWorkload);
  }
  return batch;
}

} // namespace cwm
