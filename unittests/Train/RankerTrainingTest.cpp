//===- RankerTrainingTest.cpp - Training of the ranker ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/RankerTraining.h"

#include "../Support/SupportTestUtils.h"
#include "RankingTestUtils.h"
#include "cwm/Train/RankingMetrics.h"

#include "gmock/gmock.h"

using namespace llvm;
using namespace cwm;
using namespace cwm::test;
using ::testing::HasSubstr;

namespace {

class RankerTrainingTest : public FolderTest {
protected:
  void SetUp() override {
    FolderTest::SetUp();
    options.inputs.state = RankerState::None;
    options.trees = 30;
    options.learningRate = 0.2;
    options.patience = 0;
    options.checkpointEvery = 7;
  }
  void addTasks(size_t count, size_t candidates = 20) {
    for (size_t i = 0; i < count; ++i)
      makeTask(tasks.size(), candidates, tasks.emplace_back(),
               inputs.emplace_back());
  }
  Expected<RankerTrainingResult> tryToTrain() {
    return trainRanker(tasks, inputs, 0, options, stop, [](const Twine &) {});
  }
  RankerTrainingResult train() { return cantFail(tryToTrain()); }
  std::string getBytes(const RankerTrainingResult &result) {
    return cantFail(result.booster->serialize());
  }
  std::string getProblem() {
    RankerTrainingResult result = train();
    EXPECT_EQ(result.end, RankerTrainingResult::End::NothingToLearn);
    EXPECT_FALSE(result.booster);
    return result.message;
  }

  std::vector<RankingTask> tasks;
  std::vector<RankingInputs> inputs;
  RankerTrainingOptions options;
  std::atomic<bool> stop{false};
};

} // namespace

TEST_F(RankerTrainingTest, Learns) {
  addTasks(8);
  for (StringRef objective :
       {"rank:ndcg", "rank:pairwise", "reg:squarederror"}) {
    options.inputs.objective = objective.str();
    RankerTrainingResult result = train();
    ASSERT_TRUE(result.booster) << objective.str();
    EXPECT_EQ(result.trainingTasks, 7u);
    EXPECT_EQ(result.validationTasks, 1u);
    EXPECT_EQ(result.trainingRows, 140u);
    EXPECT_EQ(result.inputs.hardware, 1);
    EXPECT_EQ(result.booster->getNumRounds(), result.bestTree);
    // Nothing in the features tells which ones fail.
    EXPECT_GT(result.bestNDCG, 0.75) << objective.str();
    // On a workload that it never saw.
    RankingTask task;
    RankingInputs input;
    makeTask(1000, 60, task, input);
    std::vector<float> rows;
    appendRankingRows(task, input, result.inputs, 0, rows);
    std::vector<float> scores =
        cantFail(result.booster->predict(rows, result.inputs.getNumColumns(0)));
    std::vector<double> times = task.getTimes();
    // Failures cannot be told from the features here.
    for (size_t i = 0; i < times.size(); ++i)
      times[i] = 1 / task.candidates[i].score;
    EXPECT_GT(*computePairwiseAccuracy(times, scores, 0.01), 0.8)
        << objective.str();
  }
}

TEST_F(RankerTrainingTest, SameSeedSameTrees) {
  addTasks(6);
  std::string first = getBytes(train());
  EXPECT_EQ(getBytes(train()), first);
  options.seed = 1;
  EXPECT_NE(getBytes(train()), first);
}

TEST_F(RankerTrainingTest, GoesOnToTheSameResult) {
  addTasks(6);
  std::string expected = getBytes(train());
  options.folder = folder.str().str();
  options.stopAfter = 10;
  RankerTrainingResult half = train();
  EXPECT_EQ(half.end, RankerTrainingResult::End::Interrupted);
  EXPECT_EQ(half.lastTree, 10);
  EXPECT_FALSE(half.booster);
  options.stopAfter = 0;
  RankerTrainingResult whole = train();
  EXPECT_EQ(getBytes(whole), expected);
  std::string lines = get("metrics.jsonl");
  EXPECT_EQ(StringRef(lines).count('\n'), 30u);
  EXPECT_TRUE(StringRef(lines).starts_with("{\"step\":1,"));
  // Once more: nothing is left to do.
  RankerTrainingResult again = train();
  EXPECT_EQ(getBytes(again), expected);
  EXPECT_EQ(again.bestTree, whole.bestTree);
  EXPECT_EQ(again.bestNDCG, whole.bestNDCG);

  // Other options or data are another run.
  options.depth = 3;
  EXPECT_THAT(toString(tryToTrain().takeError()),
              HasSubstr("checkpoint' is the checkpoint of a run with other "
                        "data or options"));
  options.depth = 6;
  inputs[0].features[0] += 1;
  EXPECT_THAT(toString(tryToTrain().takeError()),
              HasSubstr("of a run with other data or options"));
  inputs[0].features[0] -= 1;
  std::string checkpoint = get("checkpoint");
  put("checkpoint", StringRef(checkpoint).drop_back(5));
  EXPECT_THAT(toString(tryToTrain().takeError()),
              HasSubstr("checkpoint' is damaged: remove it, or give "
                        "--resume=false"));
  options.resume = false;
  EXPECT_EQ(getBytes(train()), expected);
}

TEST_F(RankerTrainingTest, StopsEarly) {
  addTasks(6);
  options.trees = 1000;
  options.patience = 5;
  RankerTrainingResult result = train();
  EXPECT_EQ(result.end, RankerTrainingResult::End::EarlyStop);
  EXPECT_EQ(result.lastTree, result.bestTree + 5);
}

TEST_F(RankerTrainingTest, NothingToLearn) {
  EXPECT_EQ(getProblem(), "there are no measured candidates to learn from");
  addTasks(1);
  EXPECT_EQ(getProblem(),
            "all measured candidates are of one workload, w0: at least two are "
            "needed, since one is kept for validation");
  addTasks(1, /*candidates=*/1);
  EXPECT_EQ(getProblem(),
            "fewer than two workloads have several measured candidates of "
            "which one is valid: there is no order to learn");
  for (RankingTask &task : tasks)
    for (RankingTask::Candidate &candidate : task.candidates)
      candidate.isOk = false;
  EXPECT_EQ(getProblem(), "all 21 measured candidates failed: there is nothing "
                          "to learn from");
}

TEST_F(RankerTrainingTest, OtherHardware) {
  addTasks(3);
  tasks[2].hardware.push_back(1);
  EXPECT_EQ(toString(tryToTrain().takeError()),
            "hardware vectors of different lengths, 1 and 2: some candidates "
            "were measured by another version of cwm");
}
