//===- StatsTest.cpp - What a database of trajectories has ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Dataset/Stats.h"

#include "TestUtils.h"

#include "gmock/gmock.h"

using namespace cwm;
using namespace cwm::test;
using ::testing::HasSubstr;

namespace {

TEST(Spread, OrderStatistics) {
  EXPECT_EQ(Spread::of({}).count, 0U);
  Spread spread = Spread::of({5, 1, 3, 2, 4, 6, 7, 8, 9, 10, 11});
  EXPECT_EQ(spread.count, 11U);
  EXPECT_EQ(spread.min, 1);
  EXPECT_EQ(spread.median, 6);
  EXPECT_EQ(spread.p90, 10);
  EXPECT_EQ(spread.max, 11);
  EXPECT_NEAR(spread.mean, 6, 1e-12);
}

class StatsTest : public DatasetTest {
protected:
  void addRecord(char workload, llvm::StringRef candidate, double timeNs,
                 llvm::StringRef target = "cpu:test") {
    Record record;
    record.workload = hash(workload);
    record.target = target.str();
    record.candidate = candidate.str();
    record.result.status =
        timeNs > 0 ? TrialStatus::Ok : TrialStatus::WrongResult;
    record.result.timeNs = timeNs;
    llvm::cantFail(database->insert(record));
  }
};

TEST_F(StatsTest, Counts) {
  addWorkload('a');
  addWorkload('d');
  addTrajectory('a', "x", {"s0", "s1", "-"});
  addTrajectory('d', "x", {"t0", "t1", "t2"});
  addTrajectory('d', "y", {}, TrialStatus::Crash);
  addRecord('d', "x", 3000);
  addRecord('d', "z", 9000);
  addRecord('d', "y", 0);
  // Fewer measurements on another machine do not mix with these.
  addRecord('d', "x", 77, "cpu:other");
  DatasetStats stats = llvm::cantFail(
      gatherStats(*database, makeSplit(),
                  [](llvm::StringRef text) { return text.size(); }));
  EXPECT_EQ(stats.counts.states, 5);
  EXPECT_EQ(stats.trajectoriesByStatus.at("ok"), 2);
  EXPECT_EQ(stats.trajectoriesByStatus.at("crash"), 1);
  EXPECT_EQ(stats.measurementsByStatus.at("ok"), 3);
  EXPECT_EQ(stats.measurementsByStatus.at("wrong_result"), 1);
  EXPECT_EQ(stats.targets, 2);
  EXPECT_EQ(stats.states.min, 2);
  EXPECT_EQ(stats.states.max, 3);
  EXPECT_EQ(stats.actions.median, 2);
  EXPECT_EQ(stats.stateTokens.count, 5U);
  EXPECT_EQ(stats.stateTokens.max, 7); // "text s0"
  ASSERT_EQ(stats.workloads.size(), 2U);
  const WorkloadStats &held = stats.workloads[0], &free = stats.workloads[1];
  EXPECT_TRUE(held.heldOut);
  EXPECT_FALSE(free.heldOut);
  EXPECT_EQ(free.trajectories, 2);
  EXPECT_EQ(free.failedTrajectories, 1);
  EXPECT_EQ(free.measured, 4);
  EXPECT_EQ(free.failedMeasurements, 1);
  EXPECT_EQ(free.times.min, 3000);
  EXPECT_EQ(free.times.max, 9000);

  std::string text = formatStats(stats, /*listWorkloads=*/true);
  EXPECT_THAT(text, HasSubstr("workloads       2: 1 for training, 1 held out"));
  EXPECT_THAT(text, HasSubstr("trajectories    3: 1 crash, 2 ok"));
  EXPECT_THAT(text, HasSubstr("measurements    4: 3 ok, 1 wrong_result"));
  EXPECT_THAT(text, HasSubstr(hash('a')));
  const llvm::json::Value value = toJSON(stats);
  EXPECT_EQ(value.getAsObject()->getInteger("states"), 5);
}

TEST_F(StatsTest, WithoutATokenizer) {
  addWorkload('d');
  addTrajectory('d', "x", {"t0"});
  DatasetStats stats =
      llvm::cantFail(gatherStats(*database, makeSplit(), nullptr));
  EXPECT_EQ(stats.stateTokens.count, 0U);
  EXPECT_EQ(formatStats(stats, false).find("tokens a state"),
            std::string::npos);
}

TEST_F(StatsTest, Empty) {
  EXPECT_THAT(
      getMessage(gatherStats(*database, makeSplit(), nullptr).takeError()),
      HasSubstr("has no trajectories and no records: collect some with "
                "cwm-train collect"));
}

} // namespace
