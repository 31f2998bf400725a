//===- TimingTest.cpp - Tests of clocks, rounds and statistics --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/Timing.h"
#include "RunnerTestUtils.h"
#include "cwm/Runner/Protocol.h"

#include <functional>
#include <set>
#include <unistd.h>

using namespace cwm;
using namespace cwm::test;

namespace {

TEST(StatisticsTest, Median) {
  EXPECT_EQ(getMedian({}), 0);
  EXPECT_EQ(getMedian({3}), 3);
  EXPECT_EQ(getMedian({5, 1, 3}), 3);
  EXPECT_EQ(getMedian({4, 1, 3, 2}), 2.5);
}

TEST(StatisticsTest, NoiseIsTwiceTheRelativeDeviation) {
  EXPECT_EQ(getNoise({}), 0);
  EXPECT_EQ(getNoise({{2, 2, 2}}), 0);
  // Standard deviation of {9, 11} is sqrt(2).
  EXPECT_NEAR(getNoise({{9, 11}}), 2 * std::sqrt(2.0) / 10, 1e-12);
  // One restless kernel does not decide.
  EXPECT_EQ(getNoise({{2, 2}, {1, 9}, {3, 3}}), 0);
}

class TimingTest : public ::testing::Test {
protected:
  TimingTest() {
    auto made = ReferenceKernel::create(&getContext(), getHardware());
    EXPECT_TRUE(bool(made));
    kernel.emplace(std::move(*made));
  }
  std::optional<ReferenceKernel> kernel;
};

TEST_F(TimingTest, TheReferenceKernelIsAsFastAsItself) {
  TimeEstimate estimate =
      timeKernel(*kernel, [&] { kernel->run(); }, 2e-4, TimingOptions());
  // Not a bound on noise, but on blunders: units, swapped ratios.
  EXPECT_GT(estimate.score, 0.25);
  EXPECT_LT(estimate.score, 4);
  EXPECT_GE(estimate.ratios.size(), 5u);
  EXPECT_GT(estimate.timeNs, 0);
}

TEST_F(TimingTest, StopsEarlyOnHopelessKernels) {
  TimingOptions options;
  options.bestScore = 1e9;
  unsigned calls = 0;
  auto call = [&] {
    ++calls;
    kernel->run();
  };
  // Pretends that a call fills a chunk.
  TimeEstimate estimate = timeKernel(*kernel, call, 3e-3, options);
  EXPECT_EQ(estimate.ratios.size(), 2u);
  EXPECT_EQ(calls, 2u);
}

TEST_F(TimingTest, TogetherEachKernelRunsInEachRound) {
  std::vector<size_t> order;
  std::function<void()> body = [&] { kernel->run(); };
  std::vector<TimeEstimate> estimates =
      timeTogether(*kernel, {body, body, body}, {3e-3, 3e-3, 3e-3}, 4,
                   TimingOptions(), [&](size_t i) { order.push_back(i); });
  ASSERT_EQ(estimates.size(), 3u);
  for (const TimeEstimate &estimate : estimates)
    EXPECT_EQ(estimate.ratios.size(), 4u);
  ASSERT_EQ(order.size(), 12u);
  for (size_t round = 0; round < 4; ++round)
    EXPECT_EQ(std::set<size_t>(order.begin() + 3 * round,
                               order.begin() + 3 * round + 3)
                  .size(),
              3u);
  EXPECT_NE(order[0], order[3]);
}

TEST_F(TimingTest, SlowKernelsGetFewerRounds) {
  std::function<void()> body = [&] { kernel->run(); };
  TimingOptions options;
  options.jointBudgetSeconds = 1;
  std::vector<TimeEstimate> estimates = timeTogether(
      *kernel, {body, body, body}, {1e-3, 0.2, 5.0}, 8, options, [](size_t) {});
  EXPECT_EQ(estimates[0].ratios.size(), 8u);
  EXPECT_EQ(estimates[1].ratios.size(), 5u);
  EXPECT_EQ(estimates[2].ratios.size(), 3u);
}

TEST(ProtocolTest, FramesSurviveAnyPieces) {
  llvm::json::Object message{{"text", "a\n\"b\""}, {"number", 0.1}};
  std::string stream = encodeFrame(message) + encodeFrame(message);
  for (size_t piece : {1, 3, 1000}) {
    FrameReader reader;
    unsigned count = 0;
    for (size_t at = 0; at < stream.size(); at += piece) {
      reader.append(llvm::StringRef(stream).substr(at, piece));
      while (true) {
        auto next = reader.next();
        ASSERT_TRUE(bool(next)) << llvm::toString(next.takeError());
        if (!*next)
          break;
        EXPECT_EQ(**next, message);
        ++count;
      }
    }
    EXPECT_EQ(count, 2u);
    EXPECT_FALSE(reader.hasPartialFrame());
  }
}

TEST(ProtocolTest, RefusesGarbage) {
  auto getError = [](llvm::StringRef bytes) {
    FrameReader reader;
    reader.append(bytes);
    auto next = reader.next();
    return next ? std::string() : llvm::toString(next.takeError());
  };
  EXPECT_EQ(getError("CW"), "");
  EXPECT_NE(getError("Segmentation fault"), "");
  EXPECT_NE(getError(llvm::StringRef("CWMF\xff\xff\xff\x7f", 8)), "");
  EXPECT_NE(getError(llvm::StringRef("CWMF\x02\0\0\0{{", 10)), "");
  EXPECT_NE(getError(llvm::StringRef("CWMF\x02\0\0\0[]", 10)), "");
  // What would take the parser's stack; 0x100000 of them.
  std::string deep("CWMF\0\0\x10\0", 8);
  deep.append(0x100000, '[');
  EXPECT_NE(getError(deep).find("nested deeper than"), std::string::npos);
}

TEST(ProtocolTest, BlockingEndsNoticeTheEnd) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  llvm::json::Object message{{"a", 1}};
  ASSERT_FALSE(bool(writeFrame(ends[1], message)));
  ASSERT_EQ(write(ends[1], "CWM", 3), 3);
  close(ends[1]);
  FrameReader reader;
  auto first = readFrame(ends[0], reader);
  ASSERT_TRUE(bool(first) && *first);
  EXPECT_EQ(**first, message);
  auto second = readFrame(ends[0], reader);
  ASSERT_FALSE(bool(second));
  EXPECT_EQ(llvm::toString(second.takeError()),
            "the stream ended inside a frame");
  close(ends[0]);
}

} // namespace
