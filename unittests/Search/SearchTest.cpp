//===- SearchTest.cpp - Tests of how a search ends --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include "cwm/Model/RandomScorer.h"

using namespace llvm;
using namespace cwm;
using namespace cwm::test;

namespace {
using SearchTest = cwm::test::SearchTest;

TrialResult byX(const Knobs &knobs) {
  return makeResult(double(knobs.at("x")));
}

TEST_F(SearchTest, SmallSpaceIsExhausted) {
  spaces.push_back(makeLine(12));
  SyntheticMeasurer measurer(byX);
  SearchSummary summary = cantFail(run("records.db", measurer));
  EXPECT_TRUE(summary.exhausted);
  EXPECT_FALSE(summary.interrupted);
  EXPECT_EQ(summary.trials, 12);
  EXPECT_EQ(measurer.counts.size(), 12u);
  EXPECT_EQ(summary.best.key, "line{x=12}");
  EXPECT_EQ(summary.bestResult.score, 12);
  EXPECT_EQ(summary.baseline.key, "line{x=1}");
  EXPECT_EQ(summary.baselineResult.score, 1);
  EXPECT_FALSE(summary.bestIsBaseline);
  EXPECT_EQ(summary.finalists.size(), 6u);
  EXPECT_EQ(summary.finalists.front().result.score, 12);
  EXPECT_EQ(summary.trialsByStatus.lookup("ok"), 12);
  EXPECT_EQ(progress.back().stage, "final");
  EXPECT_EQ(progress.back().trialsDone, 12);
  EXPECT_EQ(progress.back().bestScore, 12);
  EXPECT_EQ(progress.back().baselineScore, byX({{"x", 1}}).score);
}

TEST_F(SearchTest, BaselineIsMeasuredFirst) {
  spaces.push_back(makeLine(12));
  spaces.push_back(makeLine(12, "other"));
  SyntheticMeasurer measurer(byX);
  cantFail(run("records.db", measurer));
  std::vector<Record> records =
      cantFail(openDatabase()->getRecords("workload", "cpu:test"));
  ASSERT_GE(records.size(), 3u);
  EXPECT_EQ(records[0].provenance, "baseline");
  EXPECT_TRUE(StringRef(records[0].candidate).starts_with("line{x=1}#"));
  EXPECT_EQ(records[1].provenance, "default");
  EXPECT_TRUE(StringRef(records[1].candidate).starts_with("other{x=1}#"));
  EXPECT_EQ(records[2].provenance, "random");
  EXPECT_EQ(records[0].actions.size(), 1u);
  EXPECT_EQ(records[0].features.size(), 256u);
  EXPECT_EQ(records[0].hardware, context.hardware);
}

TEST_F(SearchTest, SpaceWithOneCandidate) {
  spaces.push_back(makeSpace("", "fixed"));
  SyntheticMeasurer measurer([](const Knobs &) { return makeResult(3); });
  SearchSummary summary = cantFail(run("records.db", measurer));
  EXPECT_TRUE(summary.exhausted);
  EXPECT_TRUE(summary.bestIsBaseline);
  EXPECT_EQ(summary.trials, 1);
  EXPECT_EQ(summary.bestResult.score, 3);
}

TEST_F(SearchTest, AllFail) {
  spaces.push_back(makeLine(10));
  SyntheticMeasurer measurer([](const Knobs &knobs) {
    return knobs.at("x") % 2
               ? makeFailure(TrialStatus::Crash, "SIGSEGV")
               : makeFailure(TrialStatus::WrongResult, "NaN at 0");
  });
  Expected<SearchSummary> summary = run("records.db", measurer);
  ASSERT_FALSE(summary);
  Error error = summary.takeError();
  EXPECT_TRUE(error.isA<NoValidCandidate>());
  EXPECT_EQ(toString(std::move(error)),
            "no valid candidate: 5 crash, 5 wrong_result; the first: "
            "line{x=1}: SIGSEGV");
  EXPECT_EQ(getRecords().size(), 10u);
}

TEST_F(SearchTest, NearlyAllFail) {
  spaces.push_back(makeLine(400));
  options.numTrials = 400;
  SyntheticMeasurer measurer([](const Knobs &knobs) {
    return knobs.at("x") % 100 ? makeFailure(TrialStatus::Crash, "SIGILL")
                               : byX(knobs);
  });
  SearchSummary summary = cantFail(run("records.db", measurer));
  EXPECT_EQ(summary.best.key, "line{x=400}");
  EXPECT_EQ(summary.trialsByStatus.lookup("crash"), 396);
  EXPECT_EQ(summary.trialsByStatus.lookup("ok"), 4);
  // A baseline that failed has no result.
  EXPECT_FALSE(summary.baselineResult.isOk());
  EXPECT_FALSE(summary.bestIsBaseline);
}

TEST_F(SearchTest, RefusedCandidatesAreNotTrials) {
  spaces.push_back(makeLine(100));
  options.numTrials = 20;
  SyntheticMeasurer measurer([](const Knobs &knobs) {
    return knobs.at("x") % 4 ? makeFailure(TrialStatus::Invalid, "too big")
                             : byX(knobs);
  });
  SearchSummary summary = cantFail(run("records.db", measurer));
  EXPECT_EQ(summary.trials, 20);
  EXPECT_GT(summary.refused, 10);
  for (const auto &[key, count] : measurer.counts)
    EXPECT_EQ(count, 1) << key;
}

TEST_F(SearchTest, NeverSlowerThanTheBaseline) {
  spaces.push_back(makeLine(10));
  // The best by the first measurement turns out to be within the noise.
  SyntheticMeasurer measurer(byX);
  measurer.finalFormula = [](const Knobs &knobs) {
    return makeResult(knobs.at("x") == 1 ? 10.0 : 10.1);
  };
  SearchSummary summary = cantFail(run("records.db", measurer));
  EXPECT_TRUE(summary.bestIsBaseline);
  EXPECT_EQ(summary.best.key, "line{x=1}");
  measurer.noiseFloor = 0.005;
  summary = cantFail(run("records.db", measurer));
  EXPECT_FALSE(summary.bestIsBaseline);
  EXPECT_EQ(summary.reused, 10);
}

TEST_F(SearchTest, FinalistsThatFailAreDropped) {
  spaces.push_back(makeLine(10));
  SyntheticMeasurer measurer(byX);
  measurer.finalFormula = [](const Knobs &knobs) {
    return knobs.at("x") > 8 ? makeFailure(TrialStatus::WrongResult, "differs")
                             : byX(knobs);
  };
  SearchSummary summary = cantFail(run("records.db", measurer));
  EXPECT_EQ(summary.best.key, "line{x=8}");
  // Each with its reason: a record says that it was valid.
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_EQ(warnings.front().substr(0, 17), "finalist line{x=1");
  EXPECT_NE(
      warnings.back().find(
          " is dropped: measured again, it ended as wrong_result: differs"),
      std::string::npos)
      << warnings.back();
}

TEST_F(SearchTest, InterruptedRunSummarises) {
  spaces.push_back(makeTileSpace());
  SyntheticMeasurer measurer(getTileResult);
  measurer.stopAfter = 11;
  SearchSummary summary = cantFail(run("records.db", measurer));
  EXPECT_TRUE(summary.interrupted);
  EXPECT_EQ(summary.trials, 11);
  EXPECT_EQ(getRecords().size(), 11u);
  double best = 0;
  for (const auto &[id, score] : getRecords())
    best = std::max(best, score);
  EXPECT_EQ(summary.bestResult.score, best);
}

TEST_F(SearchTest, InterruptedBeforeAnything) {
  spaces.push_back(makeLine(10));
  SyntheticMeasurer measurer(byX);
  measurer.requestStop();
  EXPECT_EQ(toString(run("records.db", measurer).takeError()),
            "no valid candidate: nothing was measured before the run ended");
}

TEST_F(SearchTest, TimeBudget) {
  spaces.push_back(makeTileSpace());
  SyntheticMeasurer measurer(getTileResult);
  options.timeBudgetSeconds = 1e-9;
  SearchSummary summary = cantFail(run("records.db", measurer));
  EXPECT_TRUE(summary.outOfTime);
  EXPECT_EQ(summary.trials, 1);
  EXPECT_TRUE(summary.bestIsBaseline);
  // With time enough the run goes on where it was.
  options.timeBudgetSeconds = 1e9;
  summary = cantFail(run("records.db", measurer));
  EXPECT_FALSE(summary.outOfTime);
  EXPECT_EQ(summary.trials, 31);
  EXPECT_EQ(summary.reused, 1);
}

/// Ready at once and failing at once.
struct BrokenScorer : Scorer {
  StringRef getName() const override { return "broken"; }
  bool isReady() const override { return true; }
  Expected<std::vector<double>> score(const ScoringContext &,
                                      ArrayRef<ScoringItem>) override {
    return createStringError("out of order");
  }
  Error update(ArrayRef<TrainingItem>) override {
    return createStringError("does not learn");
  }
};

TEST_F(SearchTest, BrokenScorerIsSurvived) {
  spaces.push_back(makeTileSpace());
  SyntheticMeasurer measurer(getTileResult);
  BrokenScorer scorer;
  std::unique_ptr<Database> database = openDatabase();
  SearchSummary summary = cantFail(run(*database, measurer, scorer));
  EXPECT_EQ(summary.trials, 32);
  // Each complaint once.
  EXPECT_EQ(warnings,
            (std::vector<std::string>{"does not learn",
                                      "the scorer 'broken' failed, the search "
                                      "goes on without it: out of order"}));
}

TEST_F(SearchTest, DatabaseErrorEndsTheRun) {
  spaces.push_back(makeLine(10));
  SyntheticMeasurer measurer(byX);
  std::unique_ptr<Database> database = openDatabase();
  RandomScorer scorer;
  // Something else stores the candidate behind the search's back: what cannot
  // be kept ends the run.
  measurer.formula = [&](const Knobs &knobs) {
    if (knobs.at("x") == 1) {
      Record record;
      record.workload = "workload";
      record.target = "cpu:test";
      record.candidate = measurer.counts.begin()->first;
      record.result = makeResult(1);
      cantFail(database->insert(record));
    }
    return byX(knobs);
  };
  std::string message = toString(run(*database, measurer, scorer).takeError());
  EXPECT_NE(message.find("is already in"), std::string::npos) << message;
  EXPECT_EQ(measurer.numResults, 1u);
}

} // namespace
