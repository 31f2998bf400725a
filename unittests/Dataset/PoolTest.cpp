//===- PoolTest.cpp - Measured random candidates of a workload --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Dataset/Pool.h"

#include "TestUtils.h"

#include "gmock/gmock.h"

using namespace cwm;
using namespace cwm::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace {

class PoolTest : public DatasetTest {
protected:
  void addRecord(llvm::StringRef candidate, TrialStatus status,
                 double timeNs = 0) {
    Record record;
    record.workload = hash('a');
    record.target = "cpu:test";
    record.candidate = candidate.str();
    record.actions = {"to s1", "to s9"};
    record.result.status = status;
    record.result.timeNs = timeNs;
    record.result.score = timeNs > 0 ? 1 / timeNs : 0;
    llvm::cantFail(database->insert(record));
  }

  /// x was applied and measured, y could not be applied.
  void fill() {
    addWorkload('a');
    addTrajectory('a', "x", {"s0", "s1", "-"});
    addTrajectory('a', "y", {}, TrialStatus::TransformError);
    addRecord("x", TrialStatus::Ok, 1000);
    addRecord("y", TrialStatus::TransformError);
  }

  PoolHeader makeHeader() {
    PoolHeader header;
    header.workload =
        llvm::cantFail(TrajectoryStore(*database).getWorkloads()).front();
    header.networks = {{"held", 2}};
    header.target = "cpu:test";
    header.hardware = "{}";
    header.toolchain = getToolchainVersion();
    header.seed = ~uint64_t(0);
    header.noiseFloor = 0.02;
    return header;
  }

  llvm::Expected<Pool> make(std::vector<std::string> candidates) {
    return makePool(*database, makeHeader(), candidates);
  }
};

TEST_F(PoolTest, RoundTrip) {
  fill();
  Pool made = llvm::cantFail(make({"y", "x"}));
  ASSERT_FALSE(writePoolFile(made, at("pools")));
  Pool pool = llvm::cantFail(
      readPoolFile(getPoolFile(at("pools"), made.header.workload)));
  EXPECT_EQ(pool.header.workload.hash, hash('a'));
  EXPECT_EQ(pool.header.networks.at("held"), 2);
  EXPECT_EQ(pool.header.seed, ~uint64_t(0));
  EXPECT_EQ(pool.header.noiseFloor, 0.02);
  ASSERT_EQ(pool.candidates.size(), 2U);
  auto getActions = [&](const PoolCandidate &candidate) {
    std::vector<std::string> texts;
    for (uint32_t action : candidate.actions)
      texts.push_back(pool.actions[action]);
    return texts;
  };
  // What failed has the actions of its script, and no states.
  EXPECT_EQ(pool.candidates[0].candidate, "y");
  EXPECT_EQ(pool.candidates[0].result.status, TrialStatus::TransformError);
  EXPECT_THAT(getActions(pool.candidates[0]), ElementsAre("to s1", "to s9"));
  EXPECT_TRUE(pool.candidates[0].states.empty());
  EXPECT_EQ(pool.candidates[1].result.timeNs, 1000);
  EXPECT_THAT(getActions(pool.candidates[1]), ElementsAre("to s1", "to -"));
  ASSERT_EQ(pool.candidates[1].states.size(), 3U);
  EXPECT_EQ(pool.states[pool.candidates[1].states[1]].hash, "s1");
  EXPECT_EQ(pool.states[pool.candidates[1].states[1]].text, "text s1");
  EXPECT_EQ(pool.candidates[1].states[2], Dataset::noState);
  EXPECT_EQ(printPool(pool), printPool(made));
}

TEST_F(PoolTest, NeedsARecordOfEach) {
  fill();
  EXPECT_THAT(getMessage(make({"x", "z"}).takeError()),
              HasSubstr("candidate 'z' of workload " + hash('a') +
                        " has no record in"));
}

TEST_F(PoolTest, MalformedFiles) {
  fill();
  std::string text = printPool(llvm::cantFail(make({"x"})));
  auto getParseError = [](const std::string &text) {
    return getMessage(parsePool(text).takeError());
  };
  EXPECT_EQ(getParseError(text), "no error");
  EXPECT_EQ(getParseError(""), "it is empty");
  EXPECT_EQ(getParseError("{}\n"), "line 1: expected the header of a pool");
  EXPECT_THAT(getParseError("{\n"), StartsWith("line 1: "));
  auto replace = [&](llvm::StringRef from, llvm::StringRef to) {
    std::string changed = text;
    changed.replace(changed.find(from.str()), from.size(), to.str());
    return getParseError(changed);
  };
  EXPECT_EQ(replace("\"version\":1", "\"version\":7"),
            "line 1: expected version 1");
  EXPECT_THAT(replace("\"target\"", "\"tarjet\""),
              StartsWith("line 1: malformed header"));
  EXPECT_EQ(replace("\"candidates\":1", "\"candidates\":4"),
            "it has 1 candidates, not 4");
  // A number of no action, and states that do not go with the actions.
  EXPECT_EQ(replace("\"actions\":[0,1]", "\"actions\":[0,9]"),
            "line 6: malformed");
  EXPECT_EQ(replace("\"actions\":[0,1]", "\"actions\":[0]"),
            "line 6: malformed");
  put("bad.pool.zst", "no pool");
  EXPECT_THAT(getMessage(readPoolFile(at("bad.pool.zst")).takeError()),
              HasSubstr("pool '" + at("bad.pool.zst") + "': line 1: "));
}

} // namespace
