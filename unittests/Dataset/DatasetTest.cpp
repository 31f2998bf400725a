//===- DatasetTest.cpp - What training and evaluation read ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include "gmock/gmock.h"
#include <set>

using namespace cwm;
using namespace cwm::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

std::vector<std::string> getHashes(const Dataset &dataset,
                                   llvm::ArrayRef<uint32_t> states) {
  std::vector<std::string> hashes;
  for (uint32_t state : states)
    hashes.push_back(
        state == Dataset::noState ? "-" : dataset.getStateHash(state).str());
  return hashes;
}

TEST_F(DatasetTest, TrainingNeverSeesHeldOutWorkloads) {
  for (char workload : {'a', 'b', 'c', 'd'}) {
    addWorkload(workload);
    addTrajectory(
        workload, "x",
        {std::string(1, workload) + "0", std::string(1, workload) + "1"});
  }
  Dataset training = load(), heldOut = load(DatasetPart::HeldOut);
  std::vector<std::string> seen, notSeen;
  for (const Dataset::Trajectory &one : training.getTrajectories())
    seen.push_back(training.getWorkloads()[one.workload].hash);
  for (const Dataset::Trajectory &one : heldOut.getTrajectories())
    notSeen.push_back(heldOut.getWorkloads()[one.workload].hash);
  EXPECT_THAT(seen, ElementsAre(hash('c'), hash('d')));
  EXPECT_THAT(notSeen, ElementsAre(hash('a'), hash('b')));
  // Nor their states and actions.
  EXPECT_EQ(training.getNumStates(), 4U);
  EXPECT_THAT(training.getActions(), ElementsAre("to c1", "to d1"));
  std::vector<std::string> texts;
  llvm::cantFail(training.visitStateTexts([&](uint32_t, llvm::StringRef text) {
    texts.push_back(text.str());
    return llvm::Error::success();
  }));
  EXPECT_THAT(texts, ElementsAre("text c0", "text c1", "text d0", "text d1"));
}

TEST_F(DatasetTest, ActionsInFrontOfTheLowering) {
  addWorkload('d');
  StoredTrajectory trajectory;
  trajectory.workload = hash('d');
  trajectory.candidate = "x";
  trajectory.history.states = {{"s0", "0"}, {"s1", "1"}};
  trajectory.history.entries = {
      {"structured.tile_using_for sizes=[4]", 1},
      {"bufferization.one_shot_bufferize on builtin.module", {}},
      {"apply_cse on func.func", {}}};
  ASSERT_FALSE(TrajectoryStore(*database).add(trajectory));
  Dataset dataset = load();
  ASSERT_EQ(dataset.getTrajectories().size(), 1U);
  const Dataset::Trajectory &read = dataset.getTrajectories()[0];
  EXPECT_THAT(read.actions, ElementsAre(0));
  EXPECT_THAT(getHashes(dataset, read.states), ElementsAre("s0", "s1"));
}

TEST_F(DatasetTest, StatesAreNumberedOnce) {
  addWorkload('c');
  addWorkload('d');
  addTrajectory('c', "x", {"s0", "s1", "-", "s2"});
  addTrajectory('c', "y", {"s0", "s1", "s3"});
  addTrajectory('d', "x", {"t0", "s3"});
  Dataset dataset = load();
  EXPECT_EQ(dataset.getNumStates(), 5U);
  EXPECT_THAT(getHashes(dataset, dataset.getTrajectories()[0].states),
              ElementsAre("s0", "s1", "-", "s2"));
  EXPECT_THAT(getHashes(dataset, dataset.getStatesOf(0)),
              ElementsAre("s0", "s1", "s2", "s3"));
  // A state that two workloads come to belongs to the first.
  EXPECT_THAT(getHashes(dataset, dataset.getStatesOf(1)), ElementsAre("t0"));
}

TEST_F(DatasetTest, PartsHaveNumbersOfTheirOwn) {
  addWorkload('c');
  addWorkload('d');
  addTrajectory('c', "x", {"s0", "s1", "-"});
  addTrajectory('d', "x", {"s0", "t1", "s1", "-", "t4"});
  addTrajectory('d', "y", {"s0", "t1"});
  Dataset all = load();
  Dataset part = all.restrictTo(
      [](const WorkloadInfo &info) { return info.hash == hash('d'); });
  ASSERT_EQ(part.getWorkloads().size(), 1U);
  EXPECT_EQ(part.getWorkloads()[0].hash, hash('d'));
  ASSERT_EQ(part.getTrajectories().size(), 2U);
  const Dataset::Trajectory &first = part.getTrajectories()[0];
  EXPECT_EQ(first.workload, 0U);
  std::vector<std::string> names;
  for (size_t i = 0; i < first.actions.size(); ++i) {
    names.push_back(part.getActions()[first.actions[i]]);
    names.push_back(first.states[i + 1] == Dataset::noState
                        ? "none"
                        : part.getStateHash(first.states[i + 1]).str());
  }
  EXPECT_THAT(names, ElementsAre("to t1", "t1", "to s1", "s1", "to -", "none",
                                 "to t4", "t4"));
  EXPECT_THAT(part.getTrajectories()[1].states, ElementsAre(0, 1));
  EXPECT_EQ(part.getNumStates(), 4U);
  EXPECT_THAT(part.getStatesOf(0), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(part.getWorkloadOfState(0), 0U);
  std::set<std::string> texts;
  llvm::cantFail(
      part.visitStateTexts([&](uint32_t state, llvm::StringRef text) {
        EXPECT_EQ(text, "text " + part.getStateHash(state).str());
        texts.insert(text.str());
        return llvm::Error::success();
      }));
  EXPECT_EQ(texts.size(), 4U);
  Dataset none = all.restrictTo([](const WorkloadInfo &) { return false; });
  EXPECT_TRUE(none.getTrajectories().empty());
  EXPECT_EQ(none.getNumStates(), 0U);
}

TEST_F(DatasetTest, SplitByFamily) {
  addWorkload('d', "matmul");
  addWorkload('e', "depthwise");
  addTrajectory('d', "x", {"s0"});
  addTrajectory('e', "x", {"t0"});
  SplitOptions options;
  options.families = {"depthwise"};
  Dataset training = load(DatasetPart::Training, options);
  ASSERT_EQ(training.getWorkloads().size(), 1U);
  EXPECT_EQ(training.getWorkloads()[0].hash, hash('d'));
}

TEST_F(DatasetTest, NoTrajectory) {
  std::string file = "'" + at("t.db") + "'";
  auto getLoadError = [&](DatasetPart part) {
    return getMessage(Dataset::load(*database, makeSplit(), part).takeError());
  };
  EXPECT_EQ(getLoadError(DatasetPart::Training),
            file + " has no trajectories: collect some with cwm-train collect");
  addWorkload('a');
  addTrajectory('a', "x", {"s0"});
  EXPECT_EQ(getLoadError(DatasetPart::Training),
            "none of the 1 trajectories in " + file +
                " may be trained on: their workloads are held out");
  addWorkload('d');
  addTrajectory('d', "x", {}, TrialStatus::Crash);
  EXPECT_EQ(getLoadError(DatasetPart::Training),
            "all 1 trajectories in " + file +
                " that training may see are of candidates that failed");
}

TEST_F(DatasetTest, CorruptDatabase) {
  addWorkload('d');
  addTrajectory('d', "x", {"s0", "s1"});
  database.reset();
  runSQL(at("t.db"), "UPDATE step SET state=99 WHERE place=1");
  database = llvm::cantFail(Database::open(at("t.db")));
  EXPECT_THAT(
      getMessage(Dataset::load(*database, makeSplit(), DatasetPart::Training)
                     .takeError()),
      HasSubstr("is corrupt: state 99 is missing"));
}

TEST_F(DatasetTest, TextsForTheEncoder) {
  addWorkload('c');
  addTrajectory('c', "x", {"s0", "s1"});
  addTrajectory('c', "y", {"s0", "s1"});
  Dataset dataset = load();
  std::string text;
  llvm::raw_string_ostream os(text);
  EXPECT_EQ(llvm::cantFail(dataset.writeTexts(os, /*withActions=*/true)), 3U);
  std::string c = hash('c');
  EXPECT_EQ(text, R"({"state":"s0","text":"text s0","workload":")" + c +
                      "\"}\n" +
                      R"({"state":"s1","text":"text s1","workload":")" + c +
                      "\"}\n" + R"({"file":")" + c +
                      R"( actions","text":"to s1","workload":")" + c + "\"}\n");
}

} // namespace
