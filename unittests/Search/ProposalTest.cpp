//===- ProposalTest.cpp - Tests of what a search measures -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include "cwm/Model/RandomScorer.h"
#include "cwm/Model/RankerScorer.h"

using namespace llvm;
using namespace cwm;
using namespace cwm::test;

namespace {
using SearchTest = cwm::test::SearchTest;

TEST_F(SearchTest, BeatsRandomSearch) {
  spaces.push_back(makeTileSpace());
  options.numTrials = 64;
  options.populationSize = 64;
  options.numGenerations = 4;
  double random = 0, evolved = 0, ranked = 0;
  int wins = 0;
  constexpr int numSeeds = 4;
  for (int seed = 0; seed < numSeeds; ++seed) {
    options.seed = seed;
    auto getBest = [&](StringRef name, Scorer &scorer) {
      SyntheticMeasurer measurer(getTileResult);
      std::unique_ptr<Database> database =
          openDatabase((name + Twine(seed)).str());
      SearchSummary summary = cantFail(run(*database, measurer, scorer));
      EXPECT_EQ(summary.trials, 64);
      return summary.bestResult.score;
    };
    RandomScorer none;
    RankerScorer ranker;
    options.randomOnly = true;
    double byChance = getBest("random", none);
    options.randomOnly = false;
    evolved += getBest("evolved", none);
    double byRanker = getBest("ranked", ranker);
    random += byChance;
    ranked += byRanker;
    wins += byRanker > byChance;
  }
  std::string means = "random " + std::to_string(random / numSeeds) +
                      ", evolved " + std::to_string(evolved / numSeeds) +
                      ", ranked " + std::to_string(ranked / numSeeds);
  RecordProperty("means", means);
  EXPECT_EQ(wins, numSeeds) << means;
  EXPECT_GT(evolved, random) << means;
  EXPECT_GT(ranked, evolved) << means;
  EXPECT_GT(ranked / numSeeds, 93) << means;
}

TEST_F(SearchTest, SeedsDiffer) {
  spaces.push_back(makeTileSpace());
  SyntheticMeasurer measurer(getTileResult);
  cantFail(run("a.db", measurer));
  options.seed = 1;
  cantFail(run("b.db", measurer));
  EXPECT_NE(getRecords("a.db"), getRecords("b.db"));
}

/// Results depend on the space, which the key of a candidate starts with.
struct BySpace : SyntheticMeasurer {
  using SyntheticMeasurer::SyntheticMeasurer;
  Error measure(ArrayRef<MeasureRequest> requests, ResultFn onResult) override {
    return SyntheticMeasurer::measure(
        requests, [&](size_t index, TrialResult result) {
          StringRef key = requests[index].key;
          if (key.starts_with("slow"))
            result.score *= 0.4;
          if (key.starts_with("broken"))
            result = makeFailure(TrialStatus::LowerError, "no lowering");
          onResult(index, std::move(result));
        });
  }
};

TEST_F(SearchTest, BudgetGoesToTheBetterSpace) {
  spaces.push_back(makeTileSpace("slow"));
  spaces.push_back(makeTileSpace("fast"));
  spaces.push_back(makeTileSpace("broken"));
  options.numTrials = 64;
  int fast = 0, broken = 0;
  BySpace measurer(getTileResult);
  cantFail(run("records.db", measurer));
  for (const auto &[key, count] : measurer.counts) {
    fast += StringRef(key).starts_with("fast");
    broken += StringRef(key).starts_with("broken");
  }
  EXPECT_GT(fast, 32);
  EXPECT_GE(broken, 1);
  EXPECT_LT(broken, 16);
}

TEST_F(SearchTest, ConstraintsThatLeaveNothing) {
  spaces.push_back(makeSpace(R"mlir(
    %a = transform.tune.knob<"a"> options = [2, 4] -> !transform.param<i64>
    transform.smt.constrain_params(%a) : (!transform.param<i64>) -> () {
    ^bb0(%x: !smt.int):
      %c = smt.int.constant 3
      %eq = smt.eq %x, %c : !smt.int
      smt.assert %eq
    }
  )mlir",
                             "nothing"));
  SyntheticMeasurer measurer([](const Knobs &) { return makeResult(1); });
  Expected<SearchSummary> summary = run("records.db", measurer);
  ASSERT_FALSE(summary);
  EXPECT_EQ(toString(summary.takeError()),
            "no valid candidate: the constraints leave none");
  EXPECT_TRUE(measurer.counts.empty());
}

} // namespace
