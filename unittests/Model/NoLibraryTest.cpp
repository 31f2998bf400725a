//===- NoLibraryTest.cpp - The ranker without XGBoost -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/RankerScorer.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace llvm;
using namespace cwm;

namespace {

// A binary of its own: the library is looked for once a process.
TEST(NoLibrary, SaysSoOnceAndIsNeverReady) {
  ::setenv("CWM_XGBOOST_LIBRARY", "/nowhere/libxgboost.so", 1);
  RankerScorer ranker;
  std::vector<TrainingItem> items(40);
  for (size_t i = 0; i < items.size(); ++i) {
    items[i].features = {float(i)};
    items[i].ok = true;
    items[i].score = double(i);
  }
  std::string message = toString(ranker.update(items));
  EXPECT_NE(message.find("cannot load XGBoost"), std::string::npos) << message;
  EXPECT_NE(message.find("/nowhere/libxgboost.so"), std::string::npos);
  EXPECT_NE(message.find("the ranker is unavailable"), std::string::npos);
  EXPECT_FALSE(ranker.isReady());
  EXPECT_FALSE(ranker.update(items));
  EXPECT_FALSE(ranker.isReady());
}

} // namespace
