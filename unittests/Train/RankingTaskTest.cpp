//===- RankingTaskTest.cpp - Candidates of databases and pools --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/RankingTask.h"

#include "../Dataset/TestUtils.h"
#include "RankingTestUtils.h"
#include "cwm/Model/Features.h"
#include "cwm/Train/RankingMetrics.h"

#include "gmock/gmock.h"

#include <cmath>

using namespace llvm;
using namespace cwm;
using namespace cwm::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

class RankingTaskTest : public DatasetTest {
protected:
  void addRecord(char workload, StringRef candidate, double score,
                 StringRef target = "cpu:test") {
    Record record;
    record.workload = hash(workload);
    record.target = target.str();
    record.candidate = candidate.str();
    record.actions = {"to s1", "structured.pad",
                      "apply_patterns vector.lower_x", "late"};
    record.hardware = {7, 8};
    record.result.status =
        score > 0 ? TrialStatus::Ok : TrialStatus::WrongResult;
    record.result.score = score;
    record.result.timeNs = score > 0 ? 1000 / score : 0;
    cantFail(database->insert(record));
  }

  /// The workload c has two candidates, d one that failed, a is held out.
  void fill() {
    for (char workload : {'a', 'c', 'd'}) {
      addWorkload(workload);
      addTrajectory(workload, "x", {hash(workload), "s1", "-"});
    }
    addTrajectory('c', "y", {hash('c'), "s2"});
    addRecord('a', "x", 1);
    addRecord('c', "x", 1);
    addRecord('c', "y", 2);
    addRecord('d', "x", 0);
  }

  Expected<std::vector<RankingTask>> loadTasks(StringRef target = "",
                                               bool withFinal = false) {
    std::string name = target.str();
    return loadRankingTasks(*database, load(), name, withFinal);
  }
};

} // namespace

TEST_F(RankingTaskTest, FromDatabase) {
  fill();
  std::vector<RankingTask> tasks = cantFail(loadTasks());
  ASSERT_EQ(tasks.size(), 2u);
  const RankingTask &task = tasks[0];
  EXPECT_EQ(task.workload.hash, hash('c'));
  EXPECT_EQ(task.stateText, "text " + hash('c'));
  EXPECT_THAT(task.hardware, ElementsAre(7, 8));
  ASSERT_EQ(task.candidates.size(), 2u);
  EXPECT_THAT(task.candidates[1].actions, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(task.actions[1], "structured.pad");
  EXPECT_FALSE(task.candidates[0].finalState);
  EXPECT_EQ(task.getBestScore(), 2);
  EXPECT_THAT(task.getTimes(), ElementsAre(1000, 500));
  // A failure is a candidate as any other.
  EXPECT_EQ(tasks[1].workload.hash, hash('d'));
  EXPECT_EQ(tasks[1].getBestScore(), 0);
  EXPECT_THAT(tasks[1].getTimes(), ElementsAre(failureTime));

  tasks = cantFail(loadTasks("cpu:test", /*withFinal=*/true));
  ASSERT_TRUE(tasks[0].candidates[0].finalState);
  EXPECT_EQ(tasks[0].states[*tasks[0].candidates[0].finalState], "text s1");
  EXPECT_EQ(tasks[0].states[*tasks[0].candidates[1].finalState], "text s2");
}

TEST_F(RankingTaskTest, Targets) {
  fill();
  EXPECT_THAT(getMessage(loadTasks("cpu:other").takeError()),
              HasSubstr("is of the target 'cpu:other'; there are: cpu:test"));
  addRecord('c', "x", 3, "cpu:other");
  EXPECT_THAT(getMessage(loadTasks().takeError()),
              HasSubstr("are of several targets, choose one with "
                        "--measured-on: cpu:other, cpu:test"));
  std::vector<RankingTask> tasks = cantFail(loadTasks("cpu:other"));
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].candidates.size(), 1u);
}

TEST_F(RankingTaskTest, NothingMeasured) {
  addWorkload('c');
  addTrajectory('c', "x", {hash('c'), "s1"});
  EXPECT_THAT(getMessage(loadTasks().takeError()),
              HasSubstr("nothing that training may see was measured"));
}

TEST_F(RankingTaskTest, FromPool) {
  Pool pool;
  pool.header.workload.hash = hash('a');
  pool.header.hardware = "{\"cpu\": \"x86-64\"}";
  pool.header.noiseFloor = 0.03;
  pool.actions = {"to s1", "late"};
  pool.states = {{"h0", "text s0"}, {"h1", "text s1"}};
  pool.candidates.resize(2);
  pool.candidates[0].candidate = "x";
  pool.candidates[0].result.status = TrialStatus::Ok;
  pool.candidates[0].result.score = 4;
  pool.candidates[0].result.timeNs = 25;
  pool.candidates[0].actions = {0, 1};
  pool.candidates[0].states = {0, 1, Dataset::noState};
  pool.candidates[1].candidate = "y";
  pool.candidates[1].result.status = TrialStatus::TransformError;
  pool.candidates[1].actions = {1};
  RankingTask task = cantFail(makeRankingTask(pool));
  EXPECT_EQ(task.stateText, "text s0");
  EXPECT_EQ(task.noiseFloor, 0.03);
  EXPECT_EQ(task.hardware.size(), 10u);
  EXPECT_EQ(task.states[*task.candidates[0].finalState], "text s1");
  EXPECT_FALSE(task.candidates[1].finalState);
  EXPECT_THAT(task.getTimes(), ElementsAre(25, failureTime));

  pool.candidates[0].states = {0, 7, Dataset::noState};
  EXPECT_EQ(getMessage(makeRankingTask(pool).takeError()),
            "it lacks the state 7");
  pool.candidates[0].states.clear();
  EXPECT_EQ(getMessage(makeRankingTask(pool).takeError()),
            "no candidate of it has a first state");
  pool.candidates.clear();
  EXPECT_EQ(getMessage(makeRankingTask(pool).takeError()),
            "it has no candidates");
}

TEST_F(RankingTaskTest, Inputs) {
  fill();
  std::vector<RankingTask> tasks =
      cantFail(loadTasks("cpu:test", /*withFinal=*/true));
  LatentModel latents(std::make_unique<LengthEncoder>(), std::nullopt);
  RankingStates states;
  states.initial = states.final = true;
  std::vector<RankingInputs> inputs =
      cantFail(computeRankingInputs(tasks, &latents, states));
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].features.size(), 2 * numFeatures);
  // All actions count, also those behind the lowering: four.
  EXPECT_FLOAT_EQ(inputs[0].features[32], std::log2(5.0f));
  EXPECT_THAT(inputs[0].initial,
              ElementsAre(float(tasks[0].stateText.size()), 1));
  EXPECT_THAT(inputs[0].final, ElementsAre(7, 1, 7, 1));

  RankerConfig config;
  config.state = RankerState::Final;
  config.actions = false;
  std::vector<float> rows;
  appendRankingRows(tasks[0], inputs[0], config, 2, rows);
  EXPECT_THAT(rows, ElementsAre(7, 1, 7, 8, 7, 1, 7, 8));
  // d has no record of y, and x was applied; without a state it is missing.
  tasks[1].candidates[0].finalState.reset();
  inputs = cantFail(computeRankingInputs(tasks, &latents, states));
  EXPECT_TRUE(std::isnan(inputs[1].final[0]));
  states.rollOut = true;
  EXPECT_EQ(
      getMessage(computeRankingInputs(tasks, &latents, states).takeError()),
      "the model has no transition to roll out with");
}
