//===- SearchSimulation.cpp - A search on a fixed pool ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SearchSimulation.h"

#include "Random.h"

#include "cwm/Model/Features.h"
#include "cwm/Model/RankerScorer.h"

#include <numeric>

using namespace llvm;

namespace cwm {

Expected<std::vector<uint32_t>>
simulateOnlineSearch(const RankingTask &task, const RankingInputs &inputs,
                     size_t numTrials, uint64_t seed) {
  constexpr size_t batchSize = 8;
  constexpr double randomShare = 0.1;
  RankerScorer::Options options;
  options.seed = seed;
  RankerScorer scorer(options);
  ScoringContext context{task.workload.hash, task.stateText, task.hardware};
  Random random = Random::fork(seed, 0x5ea2c4);
  auto getFeatures = [&](uint32_t candidate) {
    return ArrayRef(inputs.features)
        .slice(candidate * numFeatures, numFeatures);
  };

  std::vector<uint32_t> left(task.candidates.size()), picks;
  std::iota(left.begin(), left.end(), 0);
  random.shuffle(left);
  std::vector<TrainingItem> items;
  while (picks.size() < numTrials && !left.empty()) {
    // By falling score, random where there is none.
    if (scorer.isReady()) {
      std::vector<ScoringItem> scoring;
      scoring.reserve(left.size());
      for (uint32_t candidate : left)
        scoring.push_back({{}, getFeatures(candidate)});
      Expected<std::vector<double>> scores = scorer.score(context, scoring);
      if (!scores)
        return scores.takeError();
      std::vector<uint32_t> places(left.size());
      std::iota(places.begin(), places.end(), 0);
      llvm::sort(places, [&](uint32_t a, uint32_t b) {
        return (*scores)[a] == (*scores)[b] ? a<b : (*scores)[a]>(*scores)[b];
      });
      std::vector<uint32_t> sorted;
      sorted.reserve(places.size());
      for (uint32_t place : places)
        sorted.push_back(left[place]);
      left = std::move(sorted);
    }
    for (size_t i = 0;
         i < batchSize && picks.size() < numTrials && !left.empty(); ++i) {
      size_t place =
          random.unit() < randomShare ? random.below(left.size()) : 0;
      uint32_t pick = left[place];
      left.erase(left.begin() + static_cast<ptrdiff_t>(place));
      picks.push_back(pick);
      const RankingTask::Candidate &candidate = task.candidates[pick];
      items.push_back({task.workload.hash,
                       getFeatures(pick).vec(),
                       task.hardware,
                       candidate.isOk,
                       candidate.score,
                       {}});
    }
    if (Error error = scorer.update(items))
      return std::move(error);
  }
  return std::move(picks);
}

} // namespace cwm
