//===- MeasurementTest.cpp - How many workers ----------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Tune/Measurement.h"

#include "gtest/gtest.h"

using namespace cwm;

TEST(Measurement, NoMoreWorkersThanTrials) {
  TuneOptions options;
  options.jobs = 256;
  options.trials = 3;
  EXPECT_EQ(getNumCompileWorkers(options, /*cpus=*/4), 3u);
  options.jobs = 2;
  EXPECT_EQ(getNumCompileWorkers(options, 4), 2u);
}

TEST(Measurement, OneCoreIsLeftForMeasuring) {
  TuneOptions options;
  EXPECT_EQ(getNumCompileWorkers(options, 4), 3u);
  EXPECT_EQ(getNumCompileWorkers(options, 1), 1u);
  options.trials = 2;
  EXPECT_EQ(getNumCompileWorkers(options, 64), 2u);
}

TEST(Measurement, CoresOfAllThreadsAreLeftForMeasuring) {
  TuneOptions options;
  options.threads = 3;
  EXPECT_EQ(getNumCompileWorkers(options, 8), 5u);
  // None is left: compiling and measuring alternate, on all of them.
  EXPECT_EQ(getNumCompileWorkers(options, 3), 3u);
}
