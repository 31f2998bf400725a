//===- InterruptTest.cpp - Signals ---------------------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Tune/Interrupt.h"

#include "gtest/gtest.h"

#include <csignal>

using namespace cwm;

namespace {
struct StubMeasurer : Measurer {
  llvm::Error measure(llvm::ArrayRef<MeasureRequest>, ResultFn) override {
    return llvm::Error::success();
  }
  llvm::Error measureTogether(llvm::ArrayRef<MeasureRequest>,
                              ResultFn) override {
    return llvm::Error::success();
  }
  double getNoiseFloor() const override { return 0; }
  double getBusySeconds() const override { return 0; }
  void requestStop() override { stopped = true; }
  volatile bool stopped = false;
};
} // namespace

TEST(Interrupt, FirstSignalAsksToStop) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    StubMeasurer measurer;
    InterruptScope scope;
    scope.setMeasurer(measurer);
    EXPECT_FALSE(InterruptScope::wasInterrupted());
    std::raise(signal);
    EXPECT_TRUE(measurer.stopped);
    EXPECT_TRUE(InterruptScope::wasInterrupted());
  }
}

TEST(Interrupt, BeforeTheMeasurerItEndsTheProcess) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    EXPECT_EXIT(
        {
          std::signal(signal, SIG_DFL);
          InterruptScope scope;
          std::raise(signal);
          std::exit(0);
        },
        ::testing::ExitedWithCode(130),
        "interrupted before the first trial: nothing was measured");
}

TEST(Interrupt, AfterTheMeasurerItIsOnlyNoted) {
  InterruptScope scope;
  {
    StubMeasurer measurer;
    scope.setMeasurer(measurer);
    scope.clearMeasurer();
  }
  std::raise(SIGINT);
  EXPECT_TRUE(InterruptScope::wasInterrupted());
}

TEST(Interrupt, SecondSignalKills) {
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_DFL);
        StubMeasurer measurer;
        InterruptScope scope;
        scope.setMeasurer(measurer);
        std::raise(SIGINT);
        std::raise(SIGINT);
        std::exit(0);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

TEST(Interrupt, IgnoredSignalsStayIgnored) {
  std::signal(SIGHUP, SIG_IGN);
  StubMeasurer measurer;
  {
    InterruptScope scope;
    scope.setMeasurer(measurer);
    std::raise(SIGHUP);
    EXPECT_FALSE(measurer.stopped);
  }
  std::signal(SIGHUP, SIG_DFL);
}

TEST(Interrupt, PreviousActionsComeBack) {
  std::signal(SIGTERM, SIG_IGN);
  {
    InterruptScope scope;
  }
  EXPECT_EQ(std::signal(SIGTERM, SIG_DFL), SIG_IGN);
}
