//===- RecordPoolTest.cpp - Tests of recording in workers -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunnerTestUtils.h"

#include "cwm/Runner/RecordPool.h"
#include "cwm/Trajectory/StateText.h"

#include "gmock/gmock.h"
#include <csignal>

using namespace cwm;
using namespace cwm::test;
using ::testing::HasSubstr;

namespace {

class RecordPoolTest : public ::testing::Test {
protected:
  std::unique_ptr<RecordPool> makePool(const Payload &payload) {
    llvm::Expected<std::unique_ptr<RecordPool>> pool =
        RecordPool::create(payload, getHardware(), options);
    if (pool)
      return std::move(*pool);
    ADD_FAILURE() << llvm::toString(pool.takeError());
    return nullptr;
  }

  /// Results in the order of the scripts.
  static std::vector<RecordResult> record(RecordPool &pool,
                                          std::vector<std::string> scripts) {
    std::vector<RecordResult> results(scripts.size());
    std::vector<int> counts(scripts.size());
    size_t place = 0;
    llvm::Error error = pool.record(
        [&]() -> std::optional<MeasureRequest> {
          if (place == scripts.size())
            return std::nullopt;
          return MeasureRequest{"key", scripts[place++]};
        },
        [&](size_t index, RecordResult result) {
          results[index] = std::move(result);
          ++counts[index];
          return llvm::Error::success();
        });
    EXPECT_FALSE(error) << llvm::toString(std::move(error));
    EXPECT_THAT(counts, ::testing::Each(1));
    return results;
  }

  RecordPoolOptions options;
};

TEST_F(RecordPoolTest, RecordsGoodAndBadCandidates) {
  Payload payload = makeMatmul(48, 40, 56);
  std::unique_ptr<RecordPool> pool = makePool(payload);
  ASSERT_TRUE(pool);
  std::vector<RecordResult> results = record(
      *pool, {makeTiling({8, 8, 8}), makeTiling({-8, 8, 8}),
              "module { this is no script }", makeScript(""),
              makeScript("%1 = transform.structured.interchange %0 "
                         "iterator_interchange = [0, 1] : (!transform.any_op) "
                         "-> !transform.any_op")});
  const RecordResult &good = results[0];
  EXPECT_EQ(good.trial.status, TrialStatus::Ok) << good.trial.reason;
  EXPECT_GT(good.trial.transformMs, 0);
  ASSERT_EQ(good.history.states.size(), 2U);
  // The first state is the payload, by the very hash that workloads have.
  EXPECT_EQ(good.history.states[0].hash, payload.getWorkloadHash());
  EXPECT_EQ(good.history.states[0].text, payload.getStateText());
  EXPECT_THAT(good.history.states[1].text, HasSubstr("scf.for"));
  EXPECT_EQ(hashText(good.history.states[1].text), good.history.states[1].hash);
  ASSERT_EQ(good.history.entries.size(), 1U);
  EXPECT_THAT(good.history.entries[0].action,
              HasSubstr("structured.tile_using_for sizes=[8, 8, 8]"));
  EXPECT_EQ(good.history.entries[0].state, 1U);

  EXPECT_EQ(results[1].trial.status, TrialStatus::Invalid);
  EXPECT_EQ(results[2].trial.status, TrialStatus::TransformError);
  EXPECT_EQ(results[4].trial.status, TrialStatus::TransformError);
  for (int bad : {1, 2, 4}) {
    EXPECT_NE(results[bad].trial.reason, "");
    EXPECT_TRUE(results[bad].history.states.empty());
  }
  EXPECT_EQ(results[3].trial.status, TrialStatus::Ok);
  EXPECT_EQ(results[3].history.states.size(), 1U);
}

TEST_F(RecordPoolTest, CandidatesThatKill) {
  Payload payload = makeMatmul(48, 40, 56);
  // Without the static rules, this is a segmentation fault of upstream's.
  options.runnerArguments = {"--no-static-rules"};
  options.numWorkers = 1;
  std::unique_ptr<RecordPool> pool = makePool(payload);
  ASSERT_TRUE(pool);
  std::vector<RecordResult> results =
      record(*pool, {makeScript("%1, %l = transform.structured."
                                "tile_using_forall %0 tile_sizes [0, 0] : "
                                "(!transform.any_op) -> (!transform.any_op, "
                                "!transform.any_op)"),
                     makeTiling({8, 8, 8})});
  EXPECT_EQ(results[0].trial.status, TrialStatus::Crash)
      << results[0].trial.reason;
  EXPECT_THAT(results[0].trial.reason,
              HasSubstr("the recording worker died of signal"));
  EXPECT_EQ(results[1].trial.status, TrialStatus::Ok);
}

TEST_F(RecordPoolTest, WorkersThatAreKilledFromOutsideTryAgain) {
  Payload payload = makeMatmul(48, 40, 56);
  options.numWorkers = 1;
  std::unique_ptr<RecordPool> pool = makePool(payload);
  ASSERT_TRUE(pool);
  size_t place = 0, results = 0;
  std::vector<std::string> scripts(3, makeTiling({8, 8, 8}));
  llvm::Error error = pool->record(
      [&]() -> std::optional<MeasureRequest> {
        // The worker has the one before by now, or is about to be asked.
        if (place == 2)
          for (int pid : pool->getWorkerPids())
            kill(pid, SIGKILL);
        if (place == scripts.size())
          return std::nullopt;
        return MeasureRequest{"key", scripts[place++]};
      },
      [&](size_t, RecordResult result) {
        EXPECT_EQ(result.trial.status, TrialStatus::Ok) << result.trial.reason;
        ++results;
        return llvm::Error::success();
      });
  EXPECT_FALSE(error) << llvm::toString(std::move(error));
  EXPECT_EQ(results, 3U);
}

TEST_F(RecordPoolTest, StopsWhenAsked) {
  Payload payload = makeMatmul(48, 40, 56);
  options.numWorkers = 1;
  std::unique_ptr<RecordPool> pool = makePool(payload);
  ASSERT_TRUE(pool);
  size_t results = 0;
  // There is always another one.
  llvm::Error error = pool->record(
      [&]() -> std::optional<MeasureRequest> {
        return MeasureRequest{"key", makeTiling({8, 8, 8})};
      },
      [&](size_t, RecordResult) {
        if (++results == 3)
          pool->requestStop();
        return llvm::Error::success();
      });
  EXPECT_FALSE(error) << llvm::toString(std::move(error));
  EXPECT_EQ(results, 3U);
}

TEST_F(RecordPoolTest, FailureToKeepAResultEndsIt) {
  Payload payload = makeMatmul(48, 40, 56);
  std::unique_ptr<RecordPool> pool = makePool(payload);
  ASSERT_TRUE(pool);
  llvm::Error error = pool->record(
      [&]() -> std::optional<MeasureRequest> {
        return MeasureRequest{"key", makeTiling({8, 8, 8})};
      },
      [&](size_t, RecordResult) {
        return llvm::createStringError("the disk is full");
      });
  EXPECT_EQ(llvm::toString(std::move(error)), "the disk is full");
}

TEST_F(RecordPoolTest, NothingToDoStartsNoWorker) {
  Payload payload = makeMatmul(48, 40, 56);
  std::unique_ptr<RecordPool> pool = makePool(payload);
  ASSERT_TRUE(pool);
  EXPECT_TRUE(record(*pool, {}).empty());
  EXPECT_TRUE(pool->getWorkerPids().empty());
}

TEST_F(RecordPoolTest, NoRunner) {
  Payload payload = makeMatmul(48, 40, 56);
  options.runnerPath = "/nowhere/cwm-runner";
  llvm::Expected<std::unique_ptr<RecordPool>> pool =
      RecordPool::create(payload, getHardware(), options);
  EXPECT_EQ(llvm::toString(pool.takeError()),
            "cannot execute '/nowhere/cwm-runner': the workers' program is "
            "missing");
}

} // namespace
