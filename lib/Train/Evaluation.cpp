//===- Evaluation.cpp - Scorers compared on fixed pools ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/Evaluation.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace llvm;

namespace cwm {

static constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
static constexpr size_t firstCounts[] = {1, 5, 10};

PoolMetrics::PoolMetrics() {
  values.fill(undefined);
  pickedTimes.fill(undefined);
  allFailed.fill(false);
}

EvaluatedPool makeEvaluatedPool(const RankingTask &task, double weight) {
  EvaluatedPool pool;
  pool.workload = task.workload.hash;
  pool.file = task.workload.file;
  pool.times = task.getTimes();
  pool.noiseFloor = task.noiseFloor;
  pool.weight = weight;
  double slowest = 0;
  for (double time : pool.times) {
    if (std::isinf(time))
      continue;
    pool.bestTime = std::min(pool.bestTime, time);
    slowest = std::max(slowest, time);
  }
  if (pool.hasBest())
    pool.slowestTime = slowest;
  return pool;
}

PoolMetrics measurePicks(const EvaluatedPool &pool, ArrayRef<uint32_t> picks,
                         size_t numTrials) {
  PoolMetrics metrics;
  if (!pool.hasBest())
    return metrics;
  metrics.curve = *computeSearchCurve(pool.times, picks, numTrials);
  metrics.values[PoolMetrics::Trials5] =
      static_cast<double>(countTrialsToReach(metrics.curve, 0.05));
  return metrics;
}

PoolMetrics measureScores(const EvaluatedPool &pool, ArrayRef<float> scores,
                          size_t numTrials, uint64_t seed) {
  std::vector<uint32_t> order = orderByScore(scores, seed);
  PoolMetrics metrics = measurePicks(pool, order, numTrials);
  if (!pool.hasBest())
    return metrics;
  constexpr PoolMetrics::Metric scoreMetrics[] = {
      PoolMetrics::Score1, PoolMetrics::Score5, PoolMetrics::Score10};
  for (const auto &[index, count] : enumerate(firstCounts)) {
    double time = getBestTime(pool.times, order, count);
    metrics.values[scoreMetrics[index]] = pool.bestTime / time;
    metrics.allFailed[index] = std::isinf(time);
    metrics.pickedTimes[index] =
        metrics.allFailed[index] ? pool.slowestTime : time;
  }
  metrics.values[PoolMetrics::PairAccuracy] =
      computePairwiseAccuracy(pool.times, scores, pool.noiseFloor)
          .value_or(undefined);
  metrics.values[PoolMetrics::NDCG10] = *computeNDCG(pool.times, order, 10);
  metrics.values[PoolMetrics::Regret1] = *computeRegret(pool.times, order);
  metrics.values[PoolMetrics::TopRecall] = *computeTopRecall(pool.times, order);
  return metrics;
}

static std::vector<double> gather(ArrayRef<PoolMetrics> results,
                                  ArrayRef<uint32_t> pools,
                                  PoolMetrics::Metric metric) {
  std::vector<double> values;
  for (uint32_t pool : pools)
    if (double value = results[pool].values[metric]; !std::isnan(value))
      values.push_back(value);
  return values;
}

double getMeanOf(ArrayRef<PoolMetrics> results, ArrayRef<uint32_t> pools,
                 PoolMetrics::Metric metric) {
  return computeMean(gather(results, pools, metric));
}

double getMedianOf(ArrayRef<PoolMetrics> results, ArrayRef<uint32_t> pools,
                   PoolMetrics::Metric metric) {
  return computeQuantile(gather(results, pools, metric), 0.5);
}

double getWeightedScore(ArrayRef<EvaluatedPool> pools,
                        ArrayRef<PoolMetrics> results,
                        ArrayRef<uint32_t> places, size_t index) {
  double best = 0, picked = 0;
  for (uint32_t place : places) {
    if (!pools[place].hasBest())
      continue;
    best += pools[place].weight * pools[place].bestTime;
    picked += pools[place].weight * results[place].pickedTimes[index];
  }
  return best / picked;
}

double getCurveAt(ArrayRef<PoolMetrics> results, ArrayRef<uint32_t> pools,
                  size_t trial) {
  std::vector<double> values;
  for (uint32_t pool : pools)
    if (!results[pool].curve.empty())
      values.push_back(results[pool].curve[trial - 1]);
  return computeMean(values);
}

std::vector<ComparedQuantity>
getComparedQuantities(ArrayRef<EvaluatedPool> pools, size_t numTrials) {
  std::vector<ComparedQuantity> quantities;
  for (size_t index : {0, 1})
    quantities.push_back(
        {(index == 0 ? "score@1 (weighted)" : "score@5 (weighted)"),
         [pools, index](ArrayRef<PoolMetrics> results,
                        ArrayRef<uint32_t> places) {
           return getWeightedScore(pools, results, places, index);
         }});
  for (auto [name, metric] :
       {std::pair("score@1 (mean)", PoolMetrics::Score1),
        std::pair("score@5 (mean)", PoolMetrics::Score5),
        std::pair("pair accuracy", PoolMetrics::PairAccuracy),
        std::pair("NDCG@10", PoolMetrics::NDCG10)})
    quantities.push_back({name, [metric = metric](ArrayRef<PoolMetrics> results,
                                                  ArrayRef<uint32_t> places) {
                            return getMeanOf(results, places, metric);
                          }});
  for (size_t trial : {4, 16, 64})
    if (trial <= numTrials)
      quantities.push_back(
          {"best of " + std::to_string(trial) + " trials",
           [trial](ArrayRef<PoolMetrics> results, ArrayRef<uint32_t> places) {
             return getCurveAt(results, places, trial);
           }});
  return quantities;
}

Interval compareMethods(const EvaluatedMethod &method,
                        const EvaluatedMethod &reference,
                        ArrayRef<uint32_t> pools,
                        const ComparedQuantity &quantity, size_t rounds,
                        uint64_t seed) {
  auto average = [&](const EvaluatedMethod &one, ArrayRef<uint32_t> places) {
    std::vector<double> values;
    values.reserve(one.results.size());
    for (const std::vector<PoolMetrics> &results : one.results)
      values.push_back(quantity.compute(results, places));
    return computeMean(values);
  };
  return computeBootstrap(
      pools.size(), rounds, seed, [&](ArrayRef<uint32_t> drawn) {
        std::vector<uint32_t> places;
        for (uint32_t place : drawn)
          places.push_back(pools[place]);
        return average(method, places) - average(reference, places);
      });
}

} // namespace cwm
