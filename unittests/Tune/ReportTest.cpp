//===- ReportTest.cpp - Progress and the final table ---------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Tune/Report.h"
#include "cwm/Tune/ApplyCommand.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace cwm;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Report, TimesHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(formatTime(0.5), "0.50 ns");
  EXPECT_EQ(formatTime(12.34), "12.3 ns");
  EXPECT_EQ(formatTime(1234), "1.23 us");
  EXPECT_EQ(formatTime(1.5e6), "1.50 ms");
  EXPECT_EQ(formatTime(4.56e8), "456 ms");
  EXPECT_EQ(formatTime(2e9), "2.00 s");
}

static SearchProgress makeProgress(int64_t done, double best) {
  SearchProgress progress;
  progress.trialsDone = done;
  progress.trialsTotal = 64;
  progress.bestTimeNs = best;
  progress.bestScore = best > 0 ? 1 / best : 0;
  progress.baselineScore = 1 / 4e6;
  progress.seconds = 12;
  return progress;
}

TEST(Report, ProgressSaysWhatIsKnown) {
  SearchProgress progress = makeProgress(3, 0);
  EXPECT_EQ(formatProgress(progress, 1e6), "[3/64] no result yet, 12 s");
  progress = makeProgress(12, 2e6);
  progress.failures = 4;
  progress.stage = "measuring";
  EXPECT_EQ(formatProgress(progress, 2.5e8),
            "[12/64] best 2.00 ms (125.0 GFLOP/s, 2.00x the baseline), 4 "
            "failed, 12 s, measuring");
}

TEST(Report, TerminalLineFitsItsWidth) {
  std::string text;
  llvm::raw_string_ostream os(text);
  ProgressPrinter printer(os, 1e9, /*columns=*/20);
  printer.show(makeProgress(12, 2e6));
  EXPECT_EQ(text, "\r[12/64] best 2.00 m\x1b[K");
  printer.finish();
  EXPECT_EQ(text.back(), '\n');
}

TEST(Report, PlainLinesOnlyWhenThereIsNews) {
  std::string text;
  llvm::raw_string_ostream os(text);
  ProgressPrinter printer(os, 1e9, /*columns=*/0);
  for (int64_t done = 1; done <= 64; ++done)
    printer.show(makeProgress(done, done < 5 ? 3e6 : 2e6));
  // First, the improvement, every 16 after it, the last.
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(text).split(lines, '\n', -1, /*KeepEmpty=*/false);
  ASSERT_EQ(lines.size(), 6U) << text;
  EXPECT_TRUE(lines[1].starts_with("[5/64] best 2.00 ms"));
  EXPECT_TRUE(lines.back().starts_with("[64/64]"));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
}

static RunReport makeReport() {
  RunReport report;
  report.payloadFile = report.appliedFile = "mm.mlir";
  report.outputFile = "best.mlir";
  report.flops = 2e8;
  report.peakGflops = 200;
  report.wallSeconds = 40;
  report.busySeconds = 38;
  report.summary.best.key = "packed{mr=6}";
  report.summary.bestResult.status = TrialStatus::Ok;
  report.summary.bestResult.timeNs = 2e6;
  report.summary.bestResult.score = 3;
  report.summary.baselineResult.status = TrialStatus::Ok;
  report.summary.baselineResult.timeNs = 6e6;
  report.summary.baselineResult.score = 1;
  report.summary.trials = 60;
  report.summary.reused = 4;
  report.summary.trialsByStatus["ok"] = 62;
  report.summary.trialsByStatus["crash"] = 2;
  report.summary.secondsByStage["compile"] = 20;
  return report;
}

TEST(Report, TableHasWhatTheUserAsksFor) {
  std::string text;
  llvm::raw_string_ostream os(text);
  makeReport().print(os);
  EXPECT_THAT(text, HasSubstr("best         2.00 ms     100.0      50.0 %"
                              "     3.00x\n"));
  EXPECT_THAT(text, HasSubstr("baseline     6.00 ms      33.3      16.7 %"
                              "     1.00x\n"));
  EXPECT_THAT(text, HasSubstr("60 measured, 4 from records: 2 crash, 62 ok\n"));
  EXPECT_THAT(text, HasSubstr("40.0 in all: compile 20.0; driver overhead "
                              "5.0 %\n"));
  EXPECT_THAT(text, HasSubstr(getMlirOptName().str() + " mm.mlir"));
}

TEST(Report, ResultOnStdoutHasNoNameToApply) {
  RunReport report = makeReport();
  report.outputFile = "-";
  std::string text;
  llvm::raw_string_ostream os(text);
  report.print(os);
  EXPECT_THAT(text, HasSubstr("written    to stdout\n"));
  EXPECT_THAT(text, HasSubstr("transform-library-paths=RESULT.mlir}"));
  EXPECT_THAT(text, HasSubstr("where RESULT.mlir is the result"));
  EXPECT_THAT(text, Not(HasSubstr("best.mlir")));
}

TEST(Report, WhatOtherRunsMeasuredIsNamed) {
  RunReport report = makeReport();
  report.summary.priorRecords = 7;
  std::string text;
  llvm::raw_string_ostream os(text);
  report.print(os);
  EXPECT_THAT(text,
              HasSubstr("2 crash, 62 ok; 7 more known from other runs\n"));
  EXPECT_EQ(report.toJSON().getAsObject()->getInteger("prior_records"), 7);
}

TEST(Report, BytesThatJSONCannotHoldAreReplaced) {
  RunReport report = makeReport();
  report.payloadFile = "caf\xe9.mlir";
  llvm::json::Value value = report.toJSON();
  EXPECT_EQ(value.getAsObject()->getString("payload"), "caf\xef\xbf\xbd.mlir");
}

TEST(Report, BaselineAsBestIsNoSpeedup) {
  RunReport report = makeReport();
  report.summary.bestIsBaseline = true;
  EXPECT_EQ(report.getSpeedup(), 1);
  report = makeReport();
  report.summary.baselineResult = {};
  EXPECT_EQ(report.getSpeedup(), 1);
}

TEST(Report, JSONCarriesTheNumbers) {
  llvm::json::Value value = makeReport().toJSON();
  const llvm::json::Object &object = *value.getAsObject();
  EXPECT_EQ(object.getNumber("driver_overhead"), 0.05);
  EXPECT_EQ(object.getNumber("speedup"), 3.0);
  EXPECT_EQ(object.getObject("trials_by_status")->getInteger("ok"), 62);
}
