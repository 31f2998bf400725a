//===- RankingMetrics.cpp - How good an order of candidates is --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/RankingMetrics.h"

#include "Random.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace llvm;

namespace cwm {

std::vector<uint32_t> orderByScore(ArrayRef<float> scores, uint64_t seed) {
  std::vector<uint32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  Random(seed).shuffle(order);
  std::vector<uint32_t> turns(scores.size());
  for (const auto &[turn, place] : enumerate(order))
    turns[place] = static_cast<uint32_t>(turn);
  llvm::sort(order, [&](uint32_t a, uint32_t b) {
    if (std::isnan(scores[a]) != std::isnan(scores[b]))
      return std::isnan(scores[b]);
    if (scores[a] > scores[b] || scores[a] < scores[b])
      return scores[a] > scores[b];
    return turns[a] < turns[b];
  });
  return order;
}

double getBestTime(ArrayRef<double> times, ArrayRef<uint32_t> order,
                   size_t count) {
  double best = failureTime;
  for (uint32_t place : order.take_front(std::min(count, order.size())))
    best = std::min(best, times[place]);
  return best;
}

/// nullopt where all failed.
static std::optional<double> getPoolBest(ArrayRef<double> times) {
  double best = failureTime;
  for (double time : times)
    best = std::min(best, time);
  if (std::isinf(best))
    return std::nullopt;
  return best;
}

std::optional<double> computeScoreAt(ArrayRef<double> times,
                                     ArrayRef<uint32_t> order, size_t k) {
  std::optional<double> best = getPoolBest(times);
  if (!best)
    return std::nullopt;
  return *best / getBestTime(times, order, k);
}

std::optional<double> computePairwiseAccuracy(ArrayRef<double> times,
                                              ArrayRef<float> scores,
                                              double noiseFloor) {
  double right = 0;
  size_t total = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      size_t fast = times[i] < times[j] ? i : j, slow = fast == i ? j : i;
      // Of two failures, the difference is no number.
      if (std::isinf(times[fast]) ||
          times[slow] <= times[fast] * (1 + noiseFloor))
        continue;
      ++total;
      if (scores[fast] > scores[slow])
        right += 1;
      else if (!(scores[fast] < scores[slow]))
        right += 0.5;
    }
  }
  if (total == 0)
    return std::nullopt;
  return right / static_cast<double>(total);
}

std::optional<double> computeNDCG(ArrayRef<double> times,
                                  ArrayRef<uint32_t> order, size_t k) {
  std::optional<double> best = getPoolBest(times);
  if (!best)
    return std::nullopt;
  std::vector<double> gains;
  for (double time : times)
    gains.push_back(*best / time);
  std::vector<double> ideal = gains;
  llvm::sort(ideal, std::greater<>());
  double found = 0, possible = 0;
  for (size_t i = 0, e = std::min(k, order.size()); i < e; ++i) {
    double discount = std::log2(static_cast<double>(i) + 2);
    found += gains[order[i]] / discount;
    possible += ideal[i] / discount;
  }
  return found / possible;
}

std::optional<double> computeRegret(ArrayRef<double> times,
                                    ArrayRef<uint32_t> order) {
  std::optional<double> best = getPoolBest(times);
  if (!best)
    return std::nullopt;
  return times[order.front()] / *best - 1;
}

std::optional<double> computeTopRecall(ArrayRef<double> times,
                                       ArrayRef<uint32_t> order) {
  if (!getPoolBest(times))
    return std::nullopt;
  auto countShare = [&](double share) {
    double count = std::ceil(share * static_cast<double>(times.size()) - 1e-9);
    return std::max<size_t>(static_cast<size_t>(count), 1);
  };
  std::vector<double> sorted(times.begin(), times.end());
  llvm::sort(sorted);
  const double limit = sorted[countShare(0.01) - 1];
  size_t numBest = 0, found = 0;
  for (const auto &[rank, place] : enumerate(order)) {
    if (times[place] > limit || std::isinf(times[place]))
      continue;
    ++numBest;
    found += rank < countShare(0.1);
  }
  return static_cast<double>(found) / static_cast<double>(numBest);
}

std::optional<std::vector<double>> computeSearchCurve(ArrayRef<double> times,
                                                      ArrayRef<uint32_t> order,
                                                      size_t numTrials) {
  std::optional<double> best = getPoolBest(times);
  if (!best)
    return std::nullopt;
  std::vector<double> curve;
  double soFar = failureTime;
  for (size_t trial = 0; trial < numTrials; ++trial) {
    if (trial < order.size())
      soFar = std::min(soFar, times[order[trial]]);
    curve.push_back(*best / soFar);
  }
  return curve;
}

size_t countTrialsToReach(ArrayRef<double> curve, double tolerance) {
  const auto *reached = llvm::find_if(curve, [&](double value) {
    return value * (1 + tolerance) >= 1 - 1e-12;
  });
  return static_cast<size_t>(reached - curve.begin()) + 1;
}

double computeQuantile(std::vector<double> values, double share) {
  if (values.empty())
    return std::numeric_limits<double>::quiet_NaN();
  llvm::sort(values);
  double place = share * static_cast<double>(values.size() - 1);
  auto below = static_cast<size_t>(place);
  size_t above = std::min(below + 1, values.size() - 1);
  double part = place - static_cast<double>(below);
  // Of an infinite value, no part can be taken: 0 x infinity.
  if (part == 0 || values[below] == values[above])
    return values[below];
  return values[below] + part * (values[above] - values[below]);
}

double computeMean(ArrayRef<double> values) {
  if (values.empty())
    return std::numeric_limits<double>::quiet_NaN();
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(values.size());
}

Interval computeBootstrap(size_t count, size_t rounds, uint64_t seed,
                          function_ref<double(ArrayRef<uint32_t>)> statistic) {
  std::vector<uint32_t> places(count);
  std::iota(places.begin(), places.end(), 0);
  Interval interval;
  interval.estimate = statistic(places);
  if (count < 2) {
    interval.low = -failureTime;
    interval.high = failureTime;
    return interval;
  }
  Random random(seed);
  std::vector<double> values;
  for (size_t round = 0; round < rounds; ++round) {
    for (uint32_t &place : places)
      place = static_cast<uint32_t>(random.below(count));
    values.push_back(statistic(places));
  }
  interval.low = computeQuantile(values, 0.025);
  interval.high = computeQuantile(std::move(values), 0.975);
  return interval;
}

} // namespace cwm
