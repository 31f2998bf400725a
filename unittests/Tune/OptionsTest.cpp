//===- OptionsTest.cpp - Values of flags ---------------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ErrorText.h"

#include "cwm/Tune/Options.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <limits>

using namespace cwm;
using cwm::test::errorOf;

TEST(TuneOptions, DefaultsAreValid) {
  EXPECT_THAT(errorOf(TuneOptions().validate()), ::testing::IsEmpty());
}

TEST(TuneOptions, AbsurdNumbersAreRefused) {
  TuneOptions options;
  options.trials = -3;
  EXPECT_THAT(errorOf(options.validate()),
              ::testing::StrEq("--trials=-3: must be from 0 to 1000000"));
  options = {};
  options.jobs = -1;
  EXPECT_THAT(errorOf(options.validate()),
              ::testing::StrEq("--jobs=-1: must be from 0 to 256"));
  options = {};
  options.threads = 0;
  EXPECT_THAT(errorOf(options.validate()),
              ::testing::StrEq("--threads=0: must be from 1 to 1024"));
  for (double budget : {-1.0, std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity(), 1e9}) {
    options = {};
    options.timeBudgetSeconds = budget;
    EXPECT_THAT(errorOf(options.validate()),
                ::testing::Not(::testing::IsEmpty()));
  }
}

TEST(TuneOptions, EmptyValuesAreNamed) {
  TuneOptions options;
  options.emptyFlag = "schedule";
  EXPECT_THAT(errorOf(options.validate()),
              ::testing::StrEq("--schedule has an empty value"));
  options.emptyFlag = "o";
  EXPECT_THAT(errorOf(options.validate()),
              ::testing::StrEq("-o has an empty value"));
}

TEST(TuneOptions, ThreadsNeedCores) {
  TuneOptions options;
  options.threads = 1024;
  EXPECT_THAT(errorOf(options.validate()),
              ::testing::StartsWith("--threads=1024: this process may use "));
  // Nothing runs here then.
  options.measurer = "pretend";
  EXPECT_FALSE(bool(options.validate()));
}

TEST(TuneOptions, UnknownNamesAreListed) {
  TuneOptions options;
  options.target = "cuda";
  EXPECT_THAT(errorOf(options.validate()),
              ::testing::StrEq("--target=cuda: known are: cpu"));
  options = {};
  options.scorer = "oracle";
  EXPECT_THAT(
      errorOf(options.validate()),
      ::testing::StrEq("--scorer=oracle: known are: world-model, features, "
                       "random"));
}

TEST(TuneOptions, FlagsThatNeedOrExcludeEachOther) {
  TuneOptions options;
  options.scorer = "features";
  options.model = "folder";
  EXPECT_THAT(errorOf(options.validate()),
              ::testing::StrEq("--model is of no use with --scorer=features"));
  options = {};
  options.scorer = "random";
  options.explain = true;
  EXPECT_THAT(errorOf(options.validate()),
              ::testing::StrEq("--explain: random scores have no reasons"));
  options = {};
  options.measurer = "replay";
  EXPECT_THAT(errorOf(options.validate()),
              ::testing::StrEq("--measurer=replay needs --replay-from"));
  options = {};
  options.dryRun = options.countOnly = true;
  EXPECT_THAT(errorOf(options.validate()),
              ::testing::StrEq("--dry-run, --count-only, --check-knobs and "
                               "--check-space exclude each other"));
  options.countOnly = false;
  options.checkSpace = 8;
  EXPECT_THAT(errorOf(options.validate()),
              ::testing::EndsWith("exclude each other"));
  options = {};
  options.checkSpace = -8;
  EXPECT_THAT(errorOf(options.validate()),
              ::testing::StrEq("--check-space=-8: must be from 0 to 1000000"));
}
