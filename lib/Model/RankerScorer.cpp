//===- RankerScorer.cpp - Gradient-boosted ranker of candidates -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/RankerScorer.h"

#include "cwm/Model/Booster.h"
#include "cwm/Model/XGBoostAPI.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <tuple>

using namespace llvm;

namespace cwm {

RankerScorer::RankerScorer() : RankerScorer(Options()) {}
RankerScorer::RankerScorer(const Options &options) : options(options) {}
RankerScorer::~RankerScorer() = default;

bool RankerScorer::isReady() const { return booster != nullptr; }

/// The items that can be learned from, grouped by workload in name order and
/// otherwise as given.
static std::vector<const TrainingItem *>
selectItems(ArrayRef<TrainingItem> items, size_t maxItems) {
  std::vector<const TrainingItem *> selected;
  if (items.empty())
    return selected;
  // Records of an older layout of phi or h have another length. The last item
  // is this run's.
  const TrainingItem &model = items.back();
  for (const TrainingItem &item : items)
    if (item.features.size() == model.features.size() &&
        item.hardware.size() == model.hardware.size())
      selected.push_back(&item);
  if (selected.size() > maxItems)
    selected.erase(selected.begin(),
                   std::prev(selected.end(), ptrdiff_t(maxItems)));
  // All items are of one array: their addresses are their order.
  llvm::sort(selected, [](const TrainingItem *a, const TrainingItem *b) {
    return std::tie(a->workload, a) < std::tie(b->workload, b);
  });
  return selected;
}

static std::vector<float> computeLabels(ArrayRef<const TrainingItem *> items) {
  StringMap<double> best;
  for (const TrainingItem *item : items)
    if (item->ok)
      best[item->workload] = std::max(best[item->workload], item->score);
  std::vector<float> labels;
  labels.reserve(items.size());
  for (const TrainingItem *item : items)
    labels.push_back(
        computeRelevance(item->ok, item->score, best.lookup(item->workload)));
  return labels;
}

Error RankerScorer::update(ArrayRef<TrainingItem> items) {
  if (libraryMissing)
    return Error::success();
  std::vector<const TrainingItem *> selected =
      selectItems(items, options.maxItems);
  size_t valid =
      count_if(selected, [](const TrainingItem *item) { return item->ok; });
  if (selected.size() < options.minItems || valid * 4 < options.minItems)
    return Error::success();
  if (Expected<const XGBoostAPI *> api = XGBoostAPI::get(); !api) {
    libraryMissing = true;
    return api.takeError();
  }
  return train(selected);
}

Error RankerScorer::train(ArrayRef<const TrainingItem *> items) {
  size_t numColumns =
      items.front()->features.size() + items.front()->hardware.size();
  std::vector<float> rows;
  rows.reserve(items.size() * numColumns);
  std::vector<uint32_t> groups;
  uint32_t group = 0;
  for (const auto &[index, item] : enumerate(items)) {
    llvm::append_range(rows, item->features);
    llvm::append_range(rows, item->hardware);
    if (index && items[index - 1]->workload != item->workload)
      ++group;
    groups.push_back(group);
  }
  std::vector<float> labels = computeLabels(items);
  Expected<BoosterMatrix> matrix =
      BoosterMatrix::create({rows, numColumns, labels, groups});
  if (!matrix)
    return matrix.takeError();

  Expected<Booster> trained = Booster::create(
      *matrix, getOnlineParameters(options.maxDepth, options.learningRate,
                                   options.seed));
  if (!trained)
    return trained.takeError();
  for (int round = 0; round < options.numRounds; ++round)
    if (Error error = trained->update(round, *matrix))
      return error;
  booster = std::make_unique<Booster>(std::move(*trained));
  return Error::success();
}

Expected<std::vector<double>> RankerScorer::score(const ScoringContext &context,
                                                  ArrayRef<ScoringItem> items) {
  if (!booster)
    return createStringError("the ranker has not learned anything yet");
  if (items.empty())
    return std::vector<double>();
  std::vector<float> rows;
  const size_t expected = booster->getNumColumns();
  rows.reserve(items.size() * expected);
  for (const ScoringItem &item : items) {
    size_t numColumns = item.features.size() + context.hardware.size();
    if (numColumns != expected)
      return createStringError(
          formatv("the ranker was trained on {0} features, got {1}", expected,
                  numColumns)
              .str());
    llvm::append_range(rows, item.features);
    llvm::append_range(rows, context.hardware);
  }
  Expected<std::vector<float>> scores = booster->predict(rows, expected);
  if (!scores)
    return scores.takeError();
  return std::vector<double>(scores->begin(), scores->end());
}

Expected<std::string> RankerScorer::serialize() const {
  return booster ? booster->serialize() : std::string();
}

Error RankerScorer::deserialize(StringRef data, size_t numColumns) {
  Expected<Booster> loaded = Booster::load(data);
  if (!loaded)
    return loaded.takeError();
  if (loaded->getNumColumns() != numColumns)
    return createStringError(
        formatv("the ranker was trained on {0} features, expected {1}",
                loaded->getNumColumns(), numColumns)
            .str());
  booster = std::make_unique<Booster>(std::move(*loaded));
  return Error::success();
}

} // namespace cwm
