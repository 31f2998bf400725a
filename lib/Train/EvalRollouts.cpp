//===- EvalRollouts.cpp - Roll-outs on fixed pools --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvalRollouts.h"

#include "cwm/Trajectory/History.h"

using namespace llvm;

namespace cwm {

static Error appendEncoded(ArrayRef<std::string> texts, Encoder &encoder,
                           std::vector<float> &rows) {
  std::vector<StringRef> views(texts.begin(), texts.end());
  if (views.empty())
    return Error::success();
  Expected<std::vector<float>> latents = encoder.encode(views);
  if (!latents)
    return latents.takeError();
  append_range(rows, *latents);
  return Error::success();
}

Expected<LatentTrajectories> encodePools(ArrayRef<Pool> pools,
                                         Encoder &encoder) {
  LatentTrajectories data;
  data.dim = data.encodingDim = encoder.getDim();
  for (const auto &[number, pool] : enumerate(pools)) {
    data.workloads.push_back(pool.header.workload.hash);
    const auto firstState =
        static_cast<uint32_t>(data.states.size() / data.dim);
    const auto firstAction = static_cast<uint32_t>(data.actions.size());
    std::vector<std::string> texts;
    texts.reserve(pool.states.size());
    for (const History::State &state : pool.states)
      texts.push_back(state.text);
    if (Error error = appendEncoded(texts, encoder, data.states))
      return std::move(error);
    if (Error error = appendEncoded(pool.actions, encoder, data.encodings))
      return std::move(error);
    append_range(data.actions, pool.actions);
    for (const PoolCandidate &candidate : pool.candidates) {
      if (candidate.states.empty() ||
          candidate.states.front() == Dataset::noState)
        continue;
      LatentTrajectories::Trajectory &trajectory =
          data.trajectories.emplace_back();
      trajectory.workload = static_cast<unsigned>(number);
      for (const auto &[place, state] : enumerate(candidate.states)) {
        if (place > 0) {
          uint32_t action = candidate.actions[place - 1];
          if (isLoweringAction(pool.actions[action]))
            break;
          trajectory.actions.push_back(firstAction + action);
        }
        trajectory.states.push_back(state == Dataset::noState
                                        ? LatentTrajectories::unknown
                                        : firstState + state);
      }
    }
  }
  return std::move(data);
}

Expected<LatentTrajectories> encodeDataset(const Dataset &dataset,
                                           Encoder &encoder) {
  LatentTrajectories data;
  data.dim = data.encodingDim = encoder.getDim();
  data.states.resize(dataset.getNumStates() * data.dim);
  // All texts at once would be gigabytes.
  constexpr size_t groupSize = 256;
  std::vector<uint32_t> numbers;
  std::vector<std::string> texts;
  auto encodeGroup = [&]() -> Error {
    std::vector<float> rows;
    if (Error error = appendEncoded(texts, encoder, rows))
      return error;
    for (const auto &[place, number] : enumerate(numbers))
      std::copy_n(
          rows.begin() + static_cast<ptrdiff_t>(place * data.dim), data.dim,
          data.states.begin() + static_cast<ptrdiff_t>(number * data.dim));
    numbers.clear();
    texts.clear();
    return Error::success();
  };
  if (Error error =
          dataset.visitStateTexts([&](uint32_t state, StringRef text) -> Error {
            numbers.push_back(state);
            texts.push_back(text.str());
            return texts.size() < groupSize ? Error::success() : encodeGroup();
          }))
    return std::move(error);
  if (Error error = encodeGroup())
    return std::move(error);
  data.actions = dataset.getActions().vec();
  if (Error error = appendEncoded(data.actions, encoder, data.encodings))
    return std::move(error);
  for (const WorkloadInfo &info : dataset.getWorkloads())
    data.workloads.push_back(info.hash);
  for (const Dataset::Trajectory &trajectory : dataset.getTrajectories())
    if (trajectory.states.front() != Dataset::noState)
      data.trajectories.push_back(
          {trajectory.workload, trajectory.actions, trajectory.states});
  return std::move(data);
}

} // namespace cwm
