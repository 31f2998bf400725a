//===- EvaluationTest.cpp - Tables of evaluations ---------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/Evaluation.h"

#include "../../lib/Train/SearchSimulation.h"
#include "RankingTestUtils.h"

#include "gmock/gmock.h"

#include <cmath>
#include <set>

using namespace llvm;
using namespace cwm;
using namespace cwm::test;
using ::testing::HasSubstr;

namespace {

EvaluatedPool makePool(std::vector<double> times, double weight) {
  EvaluatedPool pool;
  pool.workload = "w";
  pool.times = std::move(times);
  pool.weight = weight;
  for (double time : pool.times)
    pool.bestTime = std::min(pool.bestTime, time);
  double slowest = 0;
  for (double time : pool.times)
    if (time < failureTime)
      slowest = std::max(slowest, time);
  if (pool.hasBest())
    pool.slowestTime = slowest;
  return pool;
}

/// Two pools and one where all fail.
std::vector<EvaluatedPool> makePools() {
  return {makePool({10, 20, 40, failureTime}, 3), makePool({100, 300}, 1),
          makePool({failureTime, failureTime}, 7)};
}

std::vector<PoolMetrics> measure(ArrayRef<EvaluatedPool> pools,
                                 std::vector<std::vector<float>> scores) {
  std::vector<PoolMetrics> results;
  for (size_t i = 0; i < pools.size(); ++i)
    results.push_back(measureScores(pools[i], scores[i], 8, 0));
  return results;
}

const uint32_t all[] = {0, 1, 2};

} // namespace

TEST(EvaluationTest, WeightedScore) {
  std::vector<EvaluatedPool> pools = makePools();
  // Picks 20 and 100: (3 * 10 + 100) / (3 * 20 + 100).
  std::vector<PoolMetrics> results =
      measure(pools, {{1, 2, 0, 0}, {1, 0}, {1, 0}});
  EXPECT_DOUBLE_EQ(getWeightedScore(pools, results, all, 0), 130.0 / 160);
  EXPECT_DOUBLE_EQ(getWeightedScore(pools, results, all, 1), 1);
  EXPECT_DOUBLE_EQ(getMeanOf(results, all, PoolMetrics::Score1), 0.75);
  EXPECT_DOUBLE_EQ(getMedianOf(results, all, PoolMetrics::Score1), 0.75);

  // A failure is picked: the slowest valid time, 40, and 0 in the mean.
  results = measure(pools, {{0, 0, 0, 1}, {1, 0}, {1, 0}});
  EXPECT_DOUBLE_EQ(getWeightedScore(pools, results, all, 0), 130.0 / 220);
  EXPECT_DOUBLE_EQ(getMeanOf(results, all, PoolMetrics::Score1), 0.5);
  EXPECT_TRUE(results[0].allFailed[0]);
  EXPECT_FALSE(results[0].allFailed[1]);
  EXPECT_EQ(getMedianOf(results, all, PoolMetrics::Regret1), failureTime);
}

TEST(EvaluationTest, SearchCurve) {
  std::vector<EvaluatedPool> pools = makePools();
  std::vector<PoolMetrics> results =
      measure(pools, {{0, 1, 2, 3}, {0, 1}, {1, 0}});
  // Failure, 40, 20, 10; 300, 100. The third pool has no curve.
  EXPECT_DOUBLE_EQ(getCurveAt(results, all, 1), (0 + 1.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(getCurveAt(results, all, 2), (0.25 + 1) / 2);
  EXPECT_DOUBLE_EQ(getCurveAt(results, all, 8), 1);
  EXPECT_DOUBLE_EQ(getMeanOf(results, all, PoolMetrics::Trials5), 3);
  // Picks without scores have a curve only.
  PoolMetrics picks = measurePicks(pools[0], {2, 0}, 4);
  EXPECT_DOUBLE_EQ(picks.curve[1], 1);
  EXPECT_TRUE(std::isnan(picks.values[PoolMetrics::Score1]));
  EXPECT_TRUE(std::isnan(picks.pickedTimes[0]));
}

TEST(EvaluationTest, Differences) {
  std::vector<EvaluatedPool> pools;
  for (int i = 0; i < 10; ++i)
    pools.push_back(makePool({10, 20, 40}, 1));
  EvaluatedMethod good{"full", "", {}}, bad{"bad", "", {}},
      mixed{"mixed", "", {}};
  std::vector<std::vector<float>> best(10, {3, 2, 1}), worst(10, {1, 2, 3}),
      half = best;
  for (size_t i = 0; i < 10; i += 2)
    half[i] = {1, 2, 3};
  good.results = {measure(pools, half), measure(pools, half)};
  bad.results = {measure(pools, worst), measure(pools, worst)};
  // As good on average, but elsewhere.
  for (size_t i = 0; i < 10; ++i)
    half[i] = i % 2 ? std::vector<float>{1, 2, 3} : std::vector<float>{3, 2, 1};
  mixed.results = {measure(pools, half)};

  std::vector<uint32_t> places(10);
  for (uint32_t i = 0; i < 10; ++i)
    places[i] = i;
  std::vector<ComparedQuantity> quantities = getComparedQuantities(pools, 8);
  ASSERT_EQ(quantities[0].name, "score@1 (weighted)");
  ASSERT_EQ(quantities.back().name, "best of 4 trials");
  Interval worse = compareMethods(bad, good, places, quantities[0], 1000, 0);
  // 100 / 400 minus 100 / (5 * 10 + 5 * 40).
  EXPECT_DOUBLE_EQ(worse.estimate, 0.25 - 0.4);
  EXPECT_TRUE(worse.excludesZero());
  EXPECT_LT(worse.high, 0);
  Interval none = compareMethods(mixed, good, places, quantities[0], 1000, 0);
  EXPECT_DOUBLE_EQ(none.estimate, 0);
  EXPECT_FALSE(none.excludesZero());

  Evaluation evaluation;
  evaluation.head = {{"command", "x"}};
  evaluation.pools = pools;
  evaluation.groups = {{"A", places}, {"B", {}}};
  evaluation.methods = {good, bad, mixed};
  evaluation.reference = "full";
  evaluation.numTrials = 8;
  evaluation.bootstrapRounds = 200;
  std::string text = printEvaluation(evaluation);
  EXPECT_THAT(text, HasSubstr("- command: x\n"));
  EXPECT_THAT(text, HasSubstr("10 pools, 30 candidates, 0 of them failures"));
  EXPECT_THAT(text, HasSubstr("\n| bad | 0.250 | 1.000 |"));
  EXPECT_THAT(text, HasSubstr("\n| bad | -0.150 ["));
  EXPECT_THAT(text, HasSubstr("\n| mixed | none ["));
  json::Value value = toJSON(evaluation);
  const json::Object *root = value.getAsObject();
  EXPECT_EQ(root->getArray("groups")->size(), 2u);
  const json::Object *group = (*root->getArray("groups"))[0].getAsObject();
  EXPECT_EQ(
      (*group->getObject("methods")->getObject("bad")->getArray("score@1"))[0],
      json::Value(0.25));
}

TEST(SearchSimulationTest, PicksEachOnceAndLearns) {
  RankingTask task;
  RankingInputs inputs;
  makeTask(5, 100, task, inputs);
  std::vector<uint32_t> picks =
      cantFail(simulateOnlineSearch(task, inputs, 128, 3));
  ASSERT_EQ(picks.size(), 100u);
  EXPECT_EQ(std::set<uint32_t>(picks.begin(), picks.end()).size(), 100u);
  EXPECT_EQ(cantFail(simulateOnlineSearch(task, inputs, 128, 3)), picks);
  EXPECT_NE(cantFail(simulateOnlineSearch(task, inputs, 128, 4)), picks);
  EXPECT_EQ(cantFail(simulateOnlineSearch(task, inputs, 20, 3)),
            std::vector<uint32_t>(picks.begin(), picks.begin() + 20));
  // Better than chance behind the first batches: those that are left out to the
  // end are slow.
  auto getMean = [&](size_t begin, size_t end) {
    double sum = 0;
    for (size_t i = begin; i < end; ++i)
      sum += task.candidates[picks[i]].score;
    return sum / static_cast<double>(end - begin);
  };
  EXPECT_GT(getMean(16, 40), 1.5 * getMean(70, 100));
}
