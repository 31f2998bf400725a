//===- WorldModel.cpp - E, F and G: scores of candidates --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/WorldModel.h"

#include "cwm/Trajectory/History.h"

#include "llvm/ADT/DenseMap.h"

using namespace llvm;

namespace cwm {

Action makeAction(StringRef text) {
  return {text.take_until([](char c) { return c == ' '; }).str(), text.str()};
}

WorldModel::WorldModel(Ranker ranker, std::optional<LatentModel> latents,
                       std::vector<float> hardware)
    : ranker(std::move(ranker)), latents(std::move(latents)),
      hardware(std::move(hardware)) {}

Expected<std::unique_ptr<WorldModel>>
WorldModel::load(const ModelDirectory &directory, StringRef targetKey,
                 std::vector<float> hardware) {
  auto fail = [&](const Twine &what) {
    return createStringError("cannot use model '" + directory.getPath() +
                             "': " + what);
  };
  const ModelConfig &config = directory.getConfig();
  if (!isTargetOf(config.target, targetKey))
    return fail("it was trained for the target '" + config.target +
                "', not for '" + targetKey + "'");
  Expected<Ranker> ranker = Ranker::load(directory);
  if (!ranker)
    return ranker.takeError();
  const RankerConfig &inputs = ranker->getConfig();
  if (inputs.state == RankerState::Final)
    return fail("its ranker was trained on true final states, which are not "
                "known of a candidate before it is applied");
  if (static_cast<size_t>(inputs.hardware) != hardware.size())
    return fail("its ranker was trained on hardware vectors of length " +
                Twine(inputs.hardware) + ", this build has " +
                Twine(hardware.size()));
  std::optional<LatentModel> latents;
  if (inputs.state != RankerState::None) {
    Expected<LatentModel> loaded = LatentModel::load(
        directory, /*withTransition=*/inputs.state == RankerState::RollOut);
    if (!loaded)
      return loaded.takeError();
    latents.emplace(std::move(*loaded));
  }
  return std::make_unique<WorldModel>(std::move(*ranker), std::move(latents),
                                      std::move(hardware));
}

Error WorldModel::setPayload(StringRef stateText) {
  if (features && payload == stateText)
    return Error::success();
  if (latents)
    if (Error error = latents->setPayload(stateText))
      return error;
  payload = stateText.str();
  features.emplace(WorkloadFeatures(stateText));
  return Error::success();
}

/// LatentModel::addActions for many candidates, each distinct action once.
std::vector<std::vector<uint32_t>>
WorldModel::addAllActions(ArrayRef<ScoringItem> candidates) {
  constexpr uint32_t lowering = ~0U;
  DenseMap<const Action *, uint32_t> numbers;
  std::vector<std::vector<uint32_t>> sequences(candidates.size());
  for (auto [sequence, item] : zip(sequences, candidates)) {
    for (const Action *action : item.actions) {
      auto [it, isNew] = numbers.try_emplace(action, lowering);
      if (isNew && !isLoweringAction(action->text))
        it->second = latents->addAction(action->text);
      if (it->second == lowering)
        break;
      sequence.push_back(it->second);
    }
  }
  return sequences;
}

std::vector<float> WorldModel::makeRows(ArrayRef<float> states,
                                        ArrayRef<float> features) const {
  const size_t count = features.size() / numFeatures;
  const size_t dim = ranker.getDim();
  std::vector<float> rows;
  rows.reserve(count * ranker.getNumColumns());
  for (size_t i = 0; i < count; ++i)
    ranker.getConfig().appendRow(
        states.empty() ? states : states.slice(i * dim, dim), dim,
        features.slice(i * numFeatures, numFeatures), hardware, rows);
  return rows;
}

Expected<std::vector<float>>
WorldModel::getRows(ArrayRef<ScoringItem> candidates) {
  if (!features)
    return createStringError("no payload to score candidates of");
  std::vector<float> phi;
  phi.reserve(candidates.size() * numFeatures);
  for (const ScoringItem &item : candidates) {
    if (item.features.size() == numFeatures)
      append_range(phi, item.features);
    else
      append_range(phi, features->compute(item.actions));
  }
  std::vector<float> states;
  if (ranker.getConfig().state == RankerState::Initial) {
    for (size_t i = 0; i < candidates.size(); ++i)
      append_range(states, latents->getInitial());
  } else if (ranker.getConfig().state == RankerState::RollOut) {
    std::vector<std::vector<uint32_t>> sequences = addAllActions(candidates);
    Expected<std::vector<float>> rolled = latents->rollOut(
        std::vector<ArrayRef<uint32_t>>(sequences.begin(), sequences.end()));
    if (!rolled)
      return rolled.takeError();
    states = std::move(*rolled);
  }
  return makeRows(states, phi);
}

Expected<std::vector<float>>
WorldModel::score(ArrayRef<ScoringItem> candidates) {
  Expected<std::vector<float>> rows = getRows(candidates);
  if (!rows)
    return rows.takeError();
  return ranker.score(*rows);
}

} // namespace cwm
