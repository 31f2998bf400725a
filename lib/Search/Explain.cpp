//===- Explain.cpp - Which actions moved a score ----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Search/Explain.h"

#include "cwm/Model/Features.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <numeric>
#include <tuple>

using namespace llvm;

namespace cwm {

Expected<ScoreExplanation> explainScore(Scorer &scorer,
                                        const ScoringContext &context,
                                        ArrayRef<const Action *> actions) {
  FeatureTable table{WorkloadFeatures(context.stateText)};
  std::vector<std::vector<float>> features;
  for (size_t length = 0; length <= actions.size(); ++length)
    features.push_back(table.compute(actions.take_front(length)));
  std::vector<ScoringItem> items;
  for (const auto &[length, own] : enumerate(features))
    items.push_back({actions.take_front(length), own});
  Expected<std::vector<double>> scores = scorer.score(context, items);
  if (!scores)
    return scores.takeError();
  ScoreExplanation explanation;
  explanation.before = scores->front();
  explanation.after = scores->back();
  for (size_t i = 0; i < actions.size(); ++i)
    explanation.effects.push_back((*scores)[i + 1] - (*scores)[i]);
  return explanation;
}

std::string formatExplanation(const ScoreExplanation &explanation,
                              ArrayRef<const Action *> actions, size_t limit,
                              size_t width) {
  ArrayRef<double> effects = explanation.effects;
  std::vector<size_t> order(effects.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::make_tuple(-std::fabs(effects[a]), a) <
           std::make_tuple(-std::fabs(effects[b]), b);
  });
  double rest = 0;
  size_t numRest = 0;
  while (order.size() > limit ||
         (!order.empty() && effects[order.back()] == 0)) {
    rest += effects[order.back()];
    ++numRest;
    order.pop_back();
  }
  llvm::sort(order);
  std::string text;
  raw_string_ostream os(text);
  os << formatv("{0,+8:f4}  the payload as it is\n", explanation.before);
  for (size_t index : order) {
    StringRef words = actions[index]->text;
    os << formatv(
        "{0,+8}  {1,2}. {2}{3}\n",
        formatv("{0}{1:f4}", effects[index] < 0 ? "" : "+", effects[index])
            .str(),
        index + 1, words.take_front(width), words.size() > width ? "..." : "");
  }
  if (numRest)
    os << formatv("{0,+8}  {1} other actions\n",
                  formatv("{0}{1:f4}", rest < 0 ? "" : "+", rest).str(),
                  numRest);
  os << formatv("{0,+8:f4}  the candidate\n", explanation.after);
  return text;
}

} // namespace cwm
