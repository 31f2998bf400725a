//===- RankingMetricsTest.cpp - Metrics by hand -----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/RankingMetrics.h"

#include "gmock/gmock.h"

#include <cmath>

using namespace cwm;
using ::testing::ElementsAre;

namespace {
using Order = std::vector<uint32_t>;
using Times = std::vector<double>;
using Scores = std::vector<float>;

const Times times = {4, 1, failureTime, 2};
const Scores scores = {3, 1, 2, 0};
const Order order = {0, 2, 1, 3};
const Times allFail = {failureTime, failureTime};
} // namespace

TEST(RankingMetricsTest, Order) {
  EXPECT_EQ(orderByScore(scores, 0), order);
  // Equal scores come in any order, one for each seed.
  EXPECT_EQ(orderByScore({1, 1, 1, 1, 1}, 7), orderByScore({1, 1, 1, 1, 1}, 7));
  bool first = false, second = false;
  for (uint64_t seed = 0; seed < 64; ++seed) {
    Order found = orderByScore({1, 2, 1}, seed);
    EXPECT_EQ(found[0], 1u);
    (found[1] == 0 ? first : second) = true;
  }
  EXPECT_TRUE(first && second);
  EXPECT_THAT(orderByScore({NAN, -INFINITY, NAN, 0}, 0)[0], 3u);
  EXPECT_THAT(orderByScore({NAN, -INFINITY, NAN, 0}, 0)[1], 1u);
}

TEST(RankingMetricsTest, ScoreAt) {
  EXPECT_EQ(computeScoreAt(times, order, 1), 0.25);
  // The second one failed.
  EXPECT_EQ(computeScoreAt(times, order, 2), 0.25);
  EXPECT_EQ(computeScoreAt(times, order, 3), 1);
  // Fewer candidates than k.
  EXPECT_EQ(computeScoreAt(times, order, 10), 1);
  EXPECT_EQ(computeScoreAt(times, Order{2, 0, 1, 3}, 1), 0);
  EXPECT_EQ(computeScoreAt(allFail, Order{0, 1}, 1), std::nullopt);
}

TEST(RankingMetricsTest, PairwiseAccuracy) {
  // Right: 0 before 2, 1 before 3. Wrong: 0 before 1 and 3, 2 before 1 and 3.
  EXPECT_DOUBLE_EQ(*computePairwiseAccuracy(times, scores, 0), 2.0 / 6);
  // 4 and 2, 2 and 1 do not differ by more than 100 %; a failure does.
  EXPECT_DOUBLE_EQ(*computePairwiseAccuracy(times, scores, 1), 1.0 / 4);
  // Ties count half.
  EXPECT_DOUBLE_EQ(*computePairwiseAccuracy(times, Scores(4, 5), 0), 0.5);
  EXPECT_DOUBLE_EQ(*computePairwiseAccuracy(times, Scores{2, 4, 1, 3}, 0), 1);
  EXPECT_EQ(computePairwiseAccuracy(allFail, Scores{1, 2}, 0), std::nullopt);
  EXPECT_EQ(computePairwiseAccuracy(Times{1, 1.01}, Scores{1, 2}, 0.02),
            std::nullopt);
}

TEST(RankingMetricsTest, NDCG) {
  // Gains 1/4, 1, 0, 1/2; found 1/4 + 0, possible 1 + 1/2 / log2(3).
  EXPECT_NEAR(*computeNDCG(times, order, 2), 0.25 / (1 + 0.5 / std::log2(3)),
              1e-12);
  EXPECT_NEAR(*computeNDCG(times, order, 10),
              (0.25 + 1 / 2.0 + 0.5 / std::log2(5)) /
                  (1 + 0.5 / std::log2(3) + 0.25 / 2),
              1e-12);
  EXPECT_NEAR(*computeNDCG(times, Order{1, 3, 0, 2}, 10), 1, 1e-12);
  EXPECT_EQ(computeNDCG(allFail, Order{0, 1}, 10), std::nullopt);
}

TEST(RankingMetricsTest, Regret) {
  EXPECT_EQ(computeRegret(times, order), 3);
  EXPECT_EQ(computeRegret(times, Order{1, 0, 2, 3}), 0);
  EXPECT_EQ(computeRegret(times, Order{2, 0, 1, 3}), failureTime);
  EXPECT_EQ(computeRegret(allFail, Order{0, 1}), std::nullopt);
}

TEST(RankingMetricsTest, TopRecall) {
  // Of four candidates the best one, which must be the first.
  EXPECT_EQ(computeTopRecall(times, order), 0);
  EXPECT_EQ(computeTopRecall(times, Order{1, 0, 2, 3}), 1);
  EXPECT_EQ(computeTopRecall(allFail, Order{0, 1}), std::nullopt);
  // Of 200 the best two, 0 and 1, which must be among 20.
  Times many(200);
  Order places(200);
  for (size_t i = 0; i < 200; ++i) {
    many[i] = static_cast<double>(i + 1);
    places[i] = static_cast<uint32_t>(i);
  }
  EXPECT_EQ(computeTopRecall(many, places), 1);
  std::swap(places[1], places[20]);
  EXPECT_EQ(computeTopRecall(many, places), 0.5);
  std::swap(places[19], places[20]);
  EXPECT_EQ(computeTopRecall(many, places), 1);
  // Equal times at the border all count: 0, 1 and 2.
  many[2] = many[1];
  std::swap(places[2], places[50]);
  EXPECT_DOUBLE_EQ(*computeTopRecall(many, places), 2.0 / 3);
}

TEST(RankingMetricsTest, SearchCurve) {
  std::vector<double> curve = *computeSearchCurve(times, Order{2, 0, 3, 1}, 6);
  EXPECT_THAT(curve, ElementsAre(0, 0.25, 0.5, 1, 1, 1));
  EXPECT_EQ(countTrialsToReach(curve, 0.05), 4u);
  EXPECT_EQ(countTrialsToReach(curve, 1), 3u);
  EXPECT_EQ(countTrialsToReach({0.2, 0.96}, 0.05), 2u);
  // Not reached: one more than there were.
  EXPECT_EQ(countTrialsToReach({0.2, 0.95}, 0.05), 3u);
  EXPECT_EQ(computeSearchCurve(allFail, Order{0, 1}, 3), std::nullopt);
}

TEST(RankingMetricsTest, Quantiles) {
  EXPECT_EQ(computeQuantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(computeQuantile({4, 1, 3, 2}, 0.25), 1.75);
  EXPECT_EQ(computeQuantile({5}, 0.9), 5);
  EXPECT_EQ(computeQuantile({1, 2, INFINITY}, 0.5), 2);
  EXPECT_EQ(computeQuantile({1, INFINITY, INFINITY}, 0.75), INFINITY);
  EXPECT_TRUE(std::isnan(computeQuantile({}, 0.5)));
  EXPECT_TRUE(std::isnan(computeMean({})));
  EXPECT_EQ(computeMean({1, 2, 6}), 3);
}

TEST(RankingMetricsTest, Bootstrap) {
  auto meanOf = [](std::vector<double> values) {
    return [values = std::move(values)](llvm::ArrayRef<uint32_t> places) {
      double sum = 0;
      for (uint32_t place : places)
        sum += values[place];
      return sum / static_cast<double>(places.size());
    };
  };
  auto same = meanOf({2, 2, 2});
  Interval constant = computeBootstrap(3, 100, 0, same);
  EXPECT_EQ(constant.estimate, 2);
  EXPECT_EQ(constant.low, 2);
  EXPECT_EQ(constant.high, 2);
  EXPECT_TRUE(constant.excludesZero());

  // 400 values of mean 0.5 and deviation 0.5: the mean's deviation is 0.025.
  std::vector<double> halves(400);
  for (size_t i = 0; i < 400; ++i)
    halves[i] = static_cast<double>(i % 2);
  auto half = meanOf(halves);
  Interval interval = computeBootstrap(400, 4000, 1, half);
  EXPECT_EQ(interval.estimate, 0.5);
  EXPECT_NEAR(interval.low, 0.5 - 1.96 * 0.025, 0.006);
  EXPECT_NEAR(interval.high, 0.5 + 1.96 * 0.025, 0.006);
  EXPECT_EQ(computeBootstrap(400, 4000, 1, half).low, interval.low);

  auto around = meanOf({-1, 1, -1, 1});
  EXPECT_FALSE(computeBootstrap(4, 1000, 0, around).excludesZero());
  // Nothing is known of the spread of one.
  EXPECT_FALSE(computeBootstrap(1, 1000, 0, same).excludesZero());
}
