//===- RankerTest.cpp - Tests of the ranker ---------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/RandomScorer.h"
#include "cwm/Model/RankerScorer.h"
#include "cwm/Model/XGBoostAPI.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace llvm;
using namespace cwm;

namespace {

constexpr size_t numColumns = 20;

/// Speed as a function of the first features: a ridge, a cliff, a product.
double getSpeed(ArrayRef<float> x) {
  double speed = 1 / (1 + std::fabs(x[0] - 4) + 0.5 * std::fabs(x[1] - x[2]));
  return x[3] > 6 ? 0.3 * speed : speed;
}

std::vector<TrainingItem> makeItems(size_t count, uint64_t seed,
                                    StringRef workload = "w") {
  std::mt19937_64 engine(seed);
  std::vector<TrainingItem> items(count);
  for (TrainingItem &item : items) {
    item.workload = workload.str();
    for (size_t i = 0; i < numColumns; ++i)
      item.features.push_back(float(engine() % 9));
    item.hardware = {9, 5};
    item.ok = item.features[4] < 7;
    item.score = item.ok ? getSpeed(item.features) : 0;
  }
  return items;
}

/// Share of pairs of distinct score that `scorer` orders as they are.
double getPairwiseAccuracy(Scorer &scorer, ArrayRef<TrainingItem> items) {
  ScoringContext context;
  context.hardware = {9, 5};
  std::vector<ScoringItem> scoringItems;
  for (const TrainingItem &item : items)
    scoringItems.push_back({{}, item.features});
  std::vector<double> scores = cantFail(scorer.score(context, scoringItems));
  size_t right = 0, total = 0;
  for (size_t i = 0; i < items.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      if (items[i].score == items[j].score)
        continue;
      ++total;
      right += (items[i].score > items[j].score) == (scores[i] > scores[j]);
    }
  return double(right) / total;
}

TEST(Ranker, LearnsFromFewItems) {
  std::vector<TrainingItem> training = makeItems(64, 1),
                            test = makeItems(500, 2);
  RankerScorer ranker;
  EXPECT_FALSE(ranker.isReady());
  ASSERT_FALSE(ranker.update(training));
  ASSERT_TRUE(ranker.isReady());
  double few = getPairwiseAccuracy(ranker, test);
  ASSERT_FALSE(ranker.update(makeItems(500, 3)));
  double many = getPairwiseAccuracy(ranker, test);
  RandomScorer random;
  double chance = getPairwiseAccuracy(random, test);
  EXPECT_GT(few, 0.72);
  EXPECT_GT(many, 0.8);
  EXPECT_NEAR(chance, 0.5, 0.05);
}

TEST(Ranker, OtherWorkloadsHelp) {
  // Two other workloads whose scores live on other scales.
  std::vector<TrainingItem> items = makeItems(200, 4, "a");
  for (TrainingItem &item : items)
    item.score *= 100;
  append_range(items, makeItems(200, 5, "b"));
  append_range(items, makeItems(4, 6, "w"));
  RankerScorer ranker;
  ASSERT_FALSE(ranker.update(items));
  EXPECT_GT(getPairwiseAccuracy(ranker, makeItems(500, 2)), 0.75);
}

TEST(Ranker, IsDeterministic) {
  std::vector<TrainingItem> items = makeItems(100, 7);
  append_range(items, makeItems(50, 8, "v"));
  RankerScorer a, b;
  ASSERT_FALSE(a.update(makeItems(40, 9)));
  ASSERT_FALSE(a.update(items));
  ASSERT_FALSE(b.update(items));
  std::string model = cantFail(a.serialize());
  EXPECT_GT(model.size(), 1000u);
  EXPECT_TRUE(model == cantFail(b.serialize()));
}

TEST(Ranker, SavedModelPredictsTheSame) {
  std::vector<TrainingItem> items = makeItems(100, 7);
  RankerScorer ranker, loaded;
  ASSERT_FALSE(ranker.update(items));
  std::string model = cantFail(ranker.serialize());
  ASSERT_FALSE(loaded.deserialize(model, numColumns + 2));
  EXPECT_EQ(getPairwiseAccuracy(ranker, items),
            getPairwiseAccuracy(loaded, items));

  std::string message =
      toString(loaded.deserialize(model.substr(0, model.size() / 2), 22));
  EXPECT_EQ(message.find("cannot load the ranker: "), 0u) << message;
  EXPECT_EQ(message.find("Stack trace"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_TRUE(loaded.isReady());
}

TEST(Ranker, NeedsEnoughItems) {
  RankerScorer ranker;
  ASSERT_FALSE(ranker.update({}));
  ASSERT_FALSE(ranker.update(makeItems(7, 1)));
  EXPECT_FALSE(ranker.isReady());
  std::vector<TrainingItem> failures = makeItems(100, 1);
  for (TrainingItem &item : failures)
    item.ok = false;
  ASSERT_FALSE(ranker.update(failures));
  EXPECT_FALSE(ranker.isReady());
}

TEST(Ranker, WrongNumberOfFeatures) {
  RankerScorer ranker;
  ASSERT_FALSE(ranker.update(makeItems(64, 1)));
  float one = 1;
  ScoringItem item{{}, one};
  EXPECT_EQ(toString(ranker.score(ScoringContext(), item).takeError()),
            "the ranker was trained on 22 features, got 1");
  // Records of an older layout are left out, not an error.
  std::vector<TrainingItem> items = makeItems(20, 2, "old");
  for (TrainingItem &old : items)
    old.features.resize(5);
  append_range(items, makeItems(64, 1));
  RankerScorer mixed;
  ASSERT_FALSE(mixed.update(items));
  EXPECT_TRUE(cantFail(mixed.serialize()) == cantFail(ranker.serialize()));
}

TEST(XGBoost, ErrorsAreOneLineWithoutTrace) {
  const XGBoostAPI *api = cantFail(XGBoostAPI::get());
  XGBoostAPI::Booster booster = nullptr;
  ASSERT_EQ(api->boosterCreate(nullptr, 0, &booster), 0);
  std::string message =
      toString(api->check(api->boosterLoad(booster, "xx", 2), "cannot load"));
  EXPECT_EQ(message.find("cannot load: "), 0u);
  EXPECT_GT(message.size(), 20u);
  EXPECT_EQ(message.find("Stack trace"), std::string::npos) << message;
  EXPECT_EQ(message.find(".cc:"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  api->boosterFree(booster);
}

} // namespace
