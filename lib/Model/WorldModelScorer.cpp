//===- WorldModelScorer.cpp - Candidates scored by a world model ----------===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/WorldModelScorer.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>

using namespace llvm;

namespace cwm {

std::string WorldModelScorer::getIdentity() const {
  Expected<std::string> trees = model->getRanker().serialize();
  if (!trees) {
    consumeError(trees.takeError());
    return getName().str();
  }
  return formatv("{0}.{1:x-}", getName(), xxh3_64bits(*trees)).str();
}

Expected<std::vector<double>>
WorldModelScorer::score(const ScoringContext &context,
                        ArrayRef<ScoringItem> items) {
  if (Error error = model->setPayload(context.stateText))
    return std::move(error);
  Expected<std::vector<float>> rows = model->getRows(items);
  if (!rows)
    return rows.takeError();
  if (items.empty())
    return std::vector<double>();
  const Ranker &ranker = model->getRanker();
  Expected<std::vector<float>> scores =
      updated ? updated->predict(*rows, ranker.getNumColumns())
              : ranker.score(*rows);
  if (!scores)
    return scores.takeError();
  return std::vector<double>(scores->begin(), scores->end());
}

Error WorldModelScorer::update(ArrayRef<TrainingItem> items) {
  if (options.numRounds < 1)
    return Error::success();
  std::vector<ScoringItem> own;
  std::vector<float> labels;
  double best = 0;
  for (const TrainingItem &item : items)
    if (item.workload == payload.workload && item.ok)
      best = std::max(best, item.score);
  for (const TrainingItem &item : items) {
    if (item.workload != payload.workload || item.actions.empty())
      continue;
    own.push_back({item.actions, item.features});
    labels.push_back(computeRelevance(item.ok, item.score, best));
  }
  if (own.size() < options.minItems)
    return Error::success();
  if (Error error = model->setPayload(payload.stateText))
    return error;
  Expected<std::vector<float>> rows = model->getRows(own);
  if (!rows)
    return rows.takeError();
  std::vector<uint32_t> groups(own.size(), 0);
  Expected<BoosterMatrix> matrix = BoosterMatrix::create(
      {*rows, model->getRanker().getNumColumns(), labels, groups});
  if (!matrix)
    return matrix.takeError();
  Expected<std::string> pretrained = model->getRanker().serialize();
  if (!pretrained)
    return pretrained.takeError();
  Expected<Booster> booster = Booster::load(
      *pretrained, getOnlineParameters(options.maxDepth, options.learningRate,
                                       options.seed));
  if (!booster)
    return booster.takeError();
  const int first = booster->getNumRounds();
  for (int round = 0; round < options.numRounds; ++round)
    if (Error error = booster->update(first + round, *matrix))
      return error;
  updated.emplace(std::move(*booster));
  return Error::success();
}

} // namespace cwm
