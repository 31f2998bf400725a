//===- RolloutMetricsTest.cpp - Cosines and retrieval by hand ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/RolloutMetrics.h"

#include "../Support/SupportTestUtils.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace llvm;
using namespace cwm;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

namespace {

constexpr uint32_t unknown = LatentTrajectories::unknown;

/// The same state behind an action, whatever was before.
class ScriptedPredictor : public RolloutPredictor {
public:
  explicit ScriptedPredictor(std::vector<std::vector<float>> byAction)
      : byAction(std::move(byAction)) {}
  StringRef getName() const override { return "scripted"; }
  std::vector<float> predict(const LatentTrajectories &,
                             ArrayRef<float> initial,
                             const PrefixTree &tree) const override {
    std::vector<float> states(initial.begin(), initial.end());
    for (size_t node = 1; node < tree.size(); ++node)
      append_range(states, byAction[tree.actions[node]]);
    return states;
  }

private:
  std::vector<std::vector<float>> byAction;
};

/// States (1, 0), (0, 1), (0.6, 0.8), (-1, 0), (-0.6, 0.8); actions x, y, z.
LatentTrajectories makeData() {
  LatentTrajectories data;
  data.dim = 2;
  data.encodingDim = 2;
  data.states = {1, 0, 0, 1, 0.6F, 0.8F, -1, 0, -0.6F, 0.8F};
  data.encodings = {1, 0, 0, 1, 0.6F, 0.8F};
  data.actions = {"x a", "y b", "x c"};
  data.workloads = {"v", "w"};
  return data;
}

PrefixTree makeTree(const std::vector<std::vector<uint32_t>> &candidates) {
  const std::vector<ArrayRef<uint32_t>> refs(candidates.begin(),
                                             candidates.end());
  return PrefixTree(refs);
}

double angleOf(ArrayRef<float> state) { return std::atan2(state[1], state[0]); }

} // namespace

TEST(RolloutMetrics, CosinesAndRetrieval) {
  LatentTrajectories data = makeData();
  data.trajectories = {{1, {0}, {0, 1}},
                       {1, {1}, {0, 2}},
                       {1, {0}, {0, 1}}, // as the first
                       {1, {2, 0}, {0, unknown, 3}},
                       {1, {2, 1}, {0, unknown, unknown}}};
  RolloutReport report =
      measureRollouts(data, ScriptedPredictor({{0, 1}, {0, 1}, {1, 0}}));
  ASSERT_THAT(report.scores, SizeIs(1));
  const RolloutScore &score = report.scores[0];
  EXPECT_EQ(score.workload, 1U);
  EXPECT_EQ(score.candidates, 4U);
  EXPECT_THAT(score.numKnown, ElementsAre(2, 1));
  EXPECT_NEAR(score.cosine[0], 1 + 0.8, 1e-6);
  EXPECT_NEAR(score.cosine[1], 0, 1e-6);
  EXPECT_EQ(score.numFinal, 3U);
  EXPECT_NEAR(score.finalCosine, 1 + 0.8 + 0, 1e-6);
  EXPECT_EQ(score.numStates, 3U);
  // Of three guesses (0, 1) only one is right; all of three are among five.
  EXPECT_EQ(score.hits1, 1);
  EXPECT_EQ(score.hits5, 3);
  EXPECT_NEAR(report.getCosine(0), 0.9, 1e-6);
  EXPECT_NEAR(report.getCosine(1), 0, 1e-6);
  EXPECT_TRUE(std::isnan(report.getCosine(2)));
  EXPECT_NEAR(report.getFinalCosine(), 0.6, 1e-6);
  EXPECT_NEAR(report.getRetrieval(1), 1.0 / 3, 1e-12);
  EXPECT_NEAR(report.getChance(1), 1.0 / 3, 1e-12);
  // Five of three states is no question.
  EXPECT_TRUE(std::isnan(report.getRetrieval(5)));
  EXPECT_EQ(report.getNumQueries(1), 3U);
  EXPECT_EQ(report.getNumQueries(5), 0U);
  EXPECT_EQ(report.getNumWorkloads(5), 0U);
  std::string table = formatRollouts({report, report});
  EXPECT_THAT(table, HasSubstr("roll-outs of 4 distinct candidates of 1 "
                               "workloads, final state known of 3"));
  EXPECT_THAT(table, HasSubstr("scripted           0.900   0.000   0.600"
                               "        0.333       -\n"));
  EXPECT_THAT(table, HasSubstr("queries"));
  std::string text = formatv("{0}", toJSON(report, data)).str();
  EXPECT_THAT(text, HasSubstr("\"retrieval_5\":null"));
  EXPECT_THAT(text, HasSubstr("\"workload\":\"w\""));
}

TEST(RolloutMetrics, EquallyNearStatesShareTheHit) {
  LatentTrajectories data = makeData();
  data.trajectories = {{0, {0}, {0, 2}}, {0, {1}, {0, 4}}, {0, {2}, {0, 3}}};
  RolloutReport report =
      measureRollouts(data, ScriptedPredictor({{0, 1}, {0, 1}, {0, 1}}));
  // (0.6, 0.8) and (-0.6, 0.8) are as near; (-1, 0) is not.
  EXPECT_NEAR(report.scores[0].hits1, 0.5 + 0.5 + 0, 1e-12);
}

TEST(RolloutMetrics, WorkloadsCountAlike) {
  LatentTrajectories data = makeData();
  data.trajectories = {
      {0, {0}, {0, 1}}, {0, {1}, {0, 2}}, {0, {2}, {0, 3}}, {1, {0}, {0, 3}}};
  RolloutReport report =
      measureRollouts(data, ScriptedPredictor({{0, 1}, {0, 1}, {0, 1}}));
  EXPECT_NEAR(report.getCosine(0), ((1 + 0.8 + 0) / 3 + 0) / 2, 1e-6);
  // One final state is nothing to choose from.
  EXPECT_EQ(report.getNumWorkloads(1), 1U);
  EXPECT_EQ(report.getNumQueries(1), 3U);
}

TEST(RolloutMetrics, NoTrajectory) {
  RolloutReport report = measureRollouts(makeData(), ScriptedPredictor({}));
  EXPECT_TRUE(std::isnan(report.getFinalCosine()));
  EXPECT_EQ(report.getNumSteps(), 0U);
  EXPECT_THAT(formatRollouts(report), HasSubstr("of 0 workloads"));
}

TEST(RolloutPredictors, Identity) {
  LatentTrajectories data = makeData();
  PrefixTree tree = makeTree({{0, 1}});
  EXPECT_THAT(makeIdentityPredictor()->predict(data, {0.6F, 0.8F}, tree),
              ElementsAre(0.6F, 0.8F, 0.6F, 0.8F, 0.6F, 0.8F));
}

TEST(RolloutPredictors, MeanDeltaByKind) {
  LatentTrajectories training = makeData();
  // x: (-1, 1) by "x a" and (0, 0) by "x c"; a step that comes twice counts
  // once, steps to or from what is not known do not count.
  training.trajectories = {
      {0, {0, 2}, {0, 1, 1}}, {0, {0}, {0, 1}}, {1, {2, 0}, {0, unknown, 3}}};
  auto predictor = makeMeanDeltaPredictor(training);
  PrefixTree tree = makeTree({{1, 2}});
  std::vector<float> states = predictor->predict(training, {1, 0}, tree);
  // "y" was never seen.
  EXPECT_EQ(states[2], 1);
  EXPECT_EQ(states[3], 0);
  EXPECT_NEAR(states[4], std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(states[5], std::sqrt(0.5), 1e-6);
}

TEST(RolloutPredictors, LinearFindsARotation) {
  LatentTrajectories training = makeData();
  training.states.clear();
  for (int i = 0; i < 40; ++i)
    for (double angle : {0.15 * i, 0.15 * i + 0.3}) {
      training.states.push_back(static_cast<float>(std::cos(angle)));
      training.states.push_back(static_cast<float>(std::sin(angle)));
    }
  for (uint32_t i = 0; i < 40; ++i)
    training.trajectories.push_back({0, {i % 3}, {2 * i, 2 * i + 1}});
  for (size_t maxSteps : {1000, 13}) {
    auto predictor = makeLinearPredictor(training, maxSteps);
    PrefixTree tree = makeTree({{1, 2}});
    std::vector<float> states = predictor->predict(training, {1, 0}, tree);
    EXPECT_NEAR(angleOf(ArrayRef(states).slice(2, 2)), 0.3, 0.02);
    EXPECT_NEAR(angleOf(ArrayRef(states).slice(4, 2)), 0.6, 0.04);
  }
  // Without a step nothing changes.
  training.trajectories.clear();
  EXPECT_EQ(makeLinearPredictor(training)->predict(training, {1, 0},
                                                   makeTree({{0}}))[2],
            1);
}

namespace {
class TransitionPredictorTest : public test::FolderTest {};
} // namespace

TEST_F(TransitionPredictorTest, ActionsAreThoseOfTheData) {
  LatentTrajectories data = makeData();
  const std::vector<float> action = {1, 2, 3, 4}, normal = {1, 0.5F, -1, 2},
                           translation = {0.3F, 0, 0, 0.7F};
  auto view = [](const std::vector<float> &values) {
    return TensorView{TensorType::F32,
                      {2, 2},
                      ArrayRef(reinterpret_cast<const char *>(values.data()),
                               values.size() * sizeof(float))};
  };
  cantFail(
      writeSafeTensors(at("t"), {{{"action.weight", view(action)},
                                  {"normal.weight", view(normal)},
                                  {"translation.weight", view(translation)}},
                                 {}}));
  Transition transition =
      cantFail(Transition::load(cantFail(SafeTensors::open(at("t")))));
  PrefixTree tree = makeTree({{2, 1}, {1}});
  std::vector<float> expected = transition.rollOutPrefixes(
      {1, 0}, transition.prepare(data.encodings), tree);
  EXPECT_EQ(makeTransitionPredictor(transition)->predict(data, {1, 0}, tree),
            expected);
  EXPECT_NE(expected[2], 1);
}
