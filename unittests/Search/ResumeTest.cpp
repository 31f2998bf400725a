//===- ResumeTest.cpp - Killed runs end like undisturbed ones ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

using namespace llvm;
using namespace cwm;
using namespace cwm::test;

namespace {
using SearchTest = cwm::test::SearchTest;

TEST_F(SearchTest, KilledRunsEndLikeUndisturbedOnes) {
  spaces.push_back(makeTileSpace());
  spaces.push_back(makeLine(5));
  auto formula = [](const Knobs &knobs) {
    return knobs.count("x") ? makeResult(5.0 * knobs.at("x"))
                            : getTileResult(knobs);
  };
  SyntheticMeasurer undisturbed(formula);
  SearchSummary expected = cantFail(run("undisturbed.db", undisturbed));
  std::map<std::string, double> records = getRecords("undisturbed.db");
  ASSERT_EQ(records.size(), 32u);

  RandomEngine engine(5);
  for (int round = 0; round < 4; ++round) {
    std::string name = "killed" + std::to_string(round) + ".db";
    std::map<std::string, int> counts;
    // Two kills, then a run to the end; results come in random order.
    for (size_t dieAfter :
         {1 + uniformBelow(engine, 12), uniformBelow(engine, 12)}) {
      SyntheticMeasurer killed(formula);
      killed.shuffle = true;
      killed.dieAfter = dieAfter;
      EXPECT_EQ(toString(run(name, killed).takeError()), "killed");
      for (const auto &[key, count] : killed.counts)
        counts[key] += count;
    }
    // Records of another workload that came meanwhile change nothing.
    {
      std::unique_ptr<Database> database = openDatabase(name);
      for (int i = 0; i < 50; ++i) {
        Record other;
        other.workload = "another";
        other.target = "cpu:test";
        other.candidate = std::to_string(i);
        other.features.assign(256, float(i));
        other.hardware = context.hardware;
        other.result = makeResult(i + 1);
        cantFail(database->insert(other));
      }
    }
    SyntheticMeasurer last(formula);
    last.shuffle = true;
    SearchSummary summary = cantFail(run(name, last));
    for (const auto &[key, count] : last.counts)
      counts[key] += count;
    EXPECT_EQ(getRecords(name), records);
    EXPECT_EQ(counts.size(), 32u);
    for (const auto &[key, count] : counts)
      EXPECT_EQ(count, 1) << key;
    EXPECT_EQ(summary.best.key, expected.best.key);
    EXPECT_EQ(summary.trials + summary.reused, 32);
  }
}

TEST_F(SearchTest, ARerunMeasuresNothingAgain) {
  spaces.push_back(makeTileSpace());
  SyntheticMeasurer first(getTileResult), second(getTileResult);
  SearchSummary one = cantFail(run("records.db", first));
  SearchSummary two = cantFail(run("records.db", second));
  EXPECT_TRUE(second.counts.empty());
  EXPECT_EQ(two.trials, 0);
  EXPECT_EQ(two.reused, 32);
  EXPECT_EQ(two.best.key, one.best.key);
}

TEST_F(SearchTest, MoreTrialsContinueTheSequence) {
  spaces.push_back(makeTileSpace());
  SyntheticMeasurer direct(getTileResult), few(getTileResult),
      more(getTileResult);
  cantFail(run("direct.db", direct));
  options.numTrials = 19; // in the middle of a batch
  cantFail(run("records.db", few));
  EXPECT_EQ(few.counts.size(), 19u);
  options.numTrials = 32;
  cantFail(run("records.db", more));
  EXPECT_EQ(more.counts.size(), 13u);
  EXPECT_EQ(getRecords("records.db"), getRecords("direct.db"));
}

TEST_F(SearchTest, AnotherSeedLearnsFromEarlierRecords) {
  spaces.push_back(makeTileSpace());
  SyntheticMeasurer first(getTileResult), second(getTileResult);
  cantFail(run("records.db", first));
  options.seed = 1;
  SearchSummary summary = cantFail(run("records.db", second));
  EXPECT_EQ(summary.priorRecords, 32);
  // The baseline is known; everything else is new.
  EXPECT_EQ(summary.reused, 1);
  EXPECT_EQ(summary.trials, 31);
  EXPECT_EQ(getRecords().size(), 63u);
}

TEST_F(SearchTest, RecordsOfAnEditedScheduleDoNotCount) {
  auto make = [&](StringRef attribute) {
    return makeSpace(
        ("transform.annotate %root \"" + attribute +
         "\" : !transform.any_op\n"
         "transform.annotate %root \"y\" {cwm.bind = {name = {knob = \"x\", "
         "options = [\"1\", \"2\", \"3\"]}}} : !transform.any_op")
            .str(),
        "line");
  };
  auto formula = [](const Knobs &knobs) {
    return makeResult(double(knobs.at("x")));
  };
  spaces.push_back(make("before"));
  SyntheticMeasurer first(formula), second(formula);
  cantFail(run("records.db", first));
  spaces[0] = make("after");
  SearchSummary summary = cantFail(run("records.db", second));
  EXPECT_EQ(summary.priorRecords, 0);
  EXPECT_EQ(summary.trials, 3);
  EXPECT_EQ(getRecords().size(), 6u);
}

TEST_F(SearchTest, OtherWorkloadsTeachTheRanker) {
  spaces.push_back(makeTileSpace());
  SyntheticMeasurer first(getTileResult), second(getTileResult);
  cantFail(run("records.db", first));
  context.workload = "second";
  SearchSummary summary = cantFail(run("records.db", second));
  EXPECT_EQ(summary.otherRecords, 32);
  std::vector<Record> records =
      cantFail(openDatabase()->getRecords("second", "cpu:test"));
  // Without them the ranker has nothing to go by so early: in the first batch,
  // behind the baseline.
  EXPECT_EQ(records[0].provenance, "baseline");
  EXPECT_EQ(records[1].provenance, "features");
}

} // namespace
