//===- ReplayMeasurerTest.cpp - Tests of results and their replay ---------===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/ReplayMeasurer.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace cwm;

namespace {

std::string writeTemporary(llvm::StringRef text) {
  llvm::SmallString<128> path;
  EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("replay", "jsonl", path));
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  out << text;
  return path.str().str();
}

TEST(TrialResultTest, StatusNamesRoundTrip) {
  for (TrialStatus status :
       {TrialStatus::Ok, TrialStatus::Invalid, TrialStatus::TransformError,
        TrialStatus::LowerError, TrialStatus::CompileTimeout,
        TrialStatus::Crash, TrialStatus::RunTimeout, TrialStatus::WrongResult})
    EXPECT_EQ(symbolizeTrialStatus(stringifyTrialStatus(status)), status);
  EXPECT_EQ(symbolizeTrialStatus("fine"), std::nullopt);
}

TEST(TrialResultTest, JSONIsLossless) {
  TrialResult result;
  result.status = TrialStatus::WrongResult;
  result.reason = "differs\nat \"x\"";
  result.timeNs = 1.0 / 3;
  result.score = 1e-300;
  result.codeBytes = int64_t(1) << 53;
  result.checkMs = 0.1;
  llvm::Expected<llvm::json::Value> parsed =
      llvm::json::parse(llvm::formatv("{0}", toJSON(result)).str());
  ASSERT_TRUE(bool(parsed));
  TrialResult again;
  llvm::json::Path::Root root;
  ASSERT_TRUE(fromJSON(*parsed, again, root));
  EXPECT_EQ(again.status, result.status);
  EXPECT_EQ(again.reason, result.reason);
  EXPECT_EQ(again.timeNs, result.timeNs);
  EXPECT_EQ(again.score, result.score);
  EXPECT_EQ(again.codeBytes, result.codeBytes);
  EXPECT_EQ(again.checkMs, result.checkMs);
}

TEST(ReplayMeasurerTest, AnswersByKeyAndStops) {
  std::string path = writeTemporary(
      "{\"candidate\": \"a\", \"result\": {\"status\": \"ok\", \"score\": 2}}\n"
      "{\"key\": \"b\", \"result\": {\"status\": \"crash\", \"reason\": "
      "\"signal\"}}\n");
  std::string journal = writeTemporary("");
  llvm::FileRemover removePath(path), removeJournal(journal);
  auto measurer = ReplayMeasurer::fromFile(path);
  ASSERT_TRUE(bool(measurer)) << llvm::toString(measurer.takeError());
  (*measurer)->setJournal(journal);

  std::vector<MeasureRequest> requests = {{"b", ""}, {"a", ""}, {"b", ""}};
  std::vector<TrialResult> results(3);
  ASSERT_FALSE(bool(
      (*measurer)->measure(requests, [&](size_t index, TrialResult result) {
        results[index] = std::move(result);
        if (index == 1)
          (*measurer)->requestStop();
      })));
  EXPECT_EQ(results[0].status, TrialStatus::Crash);
  EXPECT_EQ(results[0].reason, "signal");
  EXPECT_EQ(results[1].score, 2);
  EXPECT_EQ(results[2].status, TrialStatus::Invalid);
  EXPECT_EQ((*llvm::MemoryBuffer::getFile(journal))->getBuffer(), "b\na\n");
}

TEST(ReplayMeasurerTest, NamesWhatIsMissing) {
  ReplayMeasurer measurer([](llvm::StringRef) { return std::nullopt; });
  std::string message = llvm::toString(
      measurer.measure({{"k1", ""}}, [](size_t, TrialResult) {}));
  EXPECT_EQ(message, "no recorded result for candidate 'k1'");
}

TEST(ReplayMeasurerTest, NamesTheBadLine) {
  std::string path = writeTemporary(
      "{\"candidate\": \"a\", \"result\": {\"status\": \"ok\"}}\n"
      "{\"candidate\": \"b\", \"result\": {\"status\": \"meh\"}}\n");
  llvm::FileRemover removePath(path);
  auto measurer = ReplayMeasurer::fromFile(path);
  ASSERT_FALSE(bool(measurer));
  std::string message = llvm::toString(measurer.takeError());
  EXPECT_NE(message.find(path + ":2: unknown status"), std::string::npos)
      << message;
}

} // namespace
