//===- InterruptTest.cpp - Signals ---------------------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Support/Interrupt.h"

#include "gtest/gtest.h"

#include <csignal>

using namespace cwm;

namespace {
constexpr char startMessage[] = "nothing was kept\n";

struct StubWork : Stoppable {
  void requestStop() override { stopped = true; }
  volatile bool stopped = false;
};
} // namespace

TEST(Interrupt, FirstSignalAsksToStop) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    StubWork work;
    InterruptScope scope(startMessage);
    scope.setWork(work);
    EXPECT_FALSE(InterruptScope::wasInterrupted());
    std::raise(signal);
    EXPECT_TRUE(work.stopped);
    EXPECT_TRUE(InterruptScope::wasInterrupted());
  }
}

TEST(Interrupt, BeforeTheWorkItEndsTheProcess) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    EXPECT_EXIT(
        {
          std::signal(signal, SIG_DFL);
          InterruptScope scope(startMessage);
          std::raise(signal);
          std::exit(0);
        },
        ::testing::ExitedWithCode(130), "nothing was kept");
}

TEST(Interrupt, AfterTheWorkItIsOnlyNoted) {
  InterruptScope scope(startMessage);
  {
    StubWork work;
    scope.setWork(work);
    scope.clearWork();
  }
  std::raise(SIGINT);
  EXPECT_TRUE(InterruptScope::wasInterrupted());
}

TEST(Interrupt, SecondSignalKills) {
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_DFL);
        StubWork work;
        InterruptScope scope(startMessage);
        scope.setWork(work);
        std::raise(SIGINT);
        std::raise(SIGINT);
        std::exit(0);
      },
      ::testing::KilledBySignal(SIGINT), "");
}

TEST(Interrupt, IgnoredSignalsStayIgnored) {
  std::signal(SIGHUP, SIG_IGN);
  StubWork work;
  {
    InterruptScope scope(startMessage);
    scope.setWork(work);
    std::raise(SIGHUP);
    EXPECT_FALSE(work.stopped);
  }
  std::signal(SIGHUP, SIG_DFL);
}

TEST(Interrupt, PreviousActionsComeBack) {
  std::signal(SIGTERM, SIG_IGN);
  {
    InterruptScope scope(startMessage);
  }
  EXPECT_EQ(std::signal(SIGTERM, SIG_DFL), SIG_IGN);
}
