//===- SpaceCheckTest.cpp - What a sampled space is said to be -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Tune/SpaceCheck.h"

#include "cwm/InitAll.h"
#include "cwm/Runner/ReplayMeasurer.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace cwm;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {
/// A space of `size` candidates.
std::unique_ptr<Space> makeSpace(MLIRContext &context, StringRef name,
                                 int64_t size) {
  std::string text = R"mlir(
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %k = transform.tune.knob<"k"> options = {lower_bound = 1 : i64, upper_bound = SIZE : i64, divisible_by = 1 : i64} -> !transform.param<i64>
    transform.annotate %root "k" = %k : !transform.any_op, !transform.param<i64>
    transform.yield
  }
})mlir";
  text.replace(text.find("SIZE"), 4, std::to_string(size));
  auto module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  FailureOr<std::unique_ptr<Space>> space =
      Space::create(std::move(module), name);
  EXPECT_TRUE(succeeded(space));
  return std::move(*space);
}

TrialResult makeResult(TrialStatus status, StringRef reason, double timeNs) {
  TrialResult result;
  result.status = status;
  result.reason = reason.str();
  result.timeNs = timeNs;
  return result;
}

struct SpaceCheckTest : ::testing::Test {
  void SetUp() override {
    DialectRegistry registry;
    mlir::registerAllDialects(registry);
    mlir::registerAllExtensions(registry);
    cwm::registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    spaces.push_back(makeSpace(context, "small", 2));
    spaces.push_back(makeSpace(context, "large", 1000));
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::vector<std::unique_ptr<Space>> spaces;
};
} // namespace

TEST_F(SpaceCheckTest, SmallSpacesLeaveTheirShareToOthers) {
  ArrayRef<std::unique_ptr<Space>> all = spaces;
  EXPECT_EQ(SpaceCheck(spaces, 20, 0).getNumCandidates(), 20u);
  EXPECT_EQ(SpaceCheck(spaces, 3, 0).getNumCandidates(), 3u);
  EXPECT_EQ(SpaceCheck(all.take_front(), 20, 0).getNumCandidates(), 2u);
}

TEST_F(SpaceCheckTest, CountsByClass) {
  SpaceCheck check(spaces, 10, 0);
  size_t numDone = 0;
  // Of the small space one fails; what else is accepted is wrong on other
  // inputs where the small space has it.
  ReplayMeasurer first([](StringRef key) -> std::optional<TrialResult> {
    if (key.starts_with("small{k=1}"))
      return makeResult(TrialStatus::TransformError, "no loop", 0);
    if (key.starts_with("small"))
      return makeResult(TrialStatus::Ok, "", 5e6);
    return makeResult(TrialStatus::Ok, "", 2e3);
  });
  ReplayMeasurer second([](StringRef key) -> std::optional<TrialResult> {
    if (key.starts_with("small"))
      return makeResult(TrialStatus::WrongResult, "element 3 differs", 0);
    return makeResult(TrialStatus::Ok, "", 2e3);
  });
  auto count = [&](const TrialResult &) { ++numDone; };
  ASSERT_FALSE(check.measure(first, count));
  EXPECT_EQ(numDone, 10u);
  EXPECT_EQ(check.getNumAccepted(), 9u);
  ASSERT_FALSE(check.verify(second, count));
  EXPECT_EQ(numDone, 19u);
  EXPECT_EQ(check.getNumWronglyAccepted(), 1u);
  std::string text = check.format();
  EXPECT_THAT(text, ::testing::ContainsRegex(
                        "small +2 +50.0 % +0 +1  5.00 ms / 5.00 ms / 5.00 ms"));
  EXPECT_THAT(text,
              ::testing::ContainsRegex(
                  "large +8 +100.0 % +0 +0  2.00 us / 2.00 us / 2.00 us"));
  EXPECT_THAT(text, ::testing::ContainsRegex(
                        "all +10 +90.0 % +0 +1  2.00 us / 2.00 us / 5.00 ms"));
  EXPECT_THAT(text, HasSubstr("     1  transform_error: no loop\n"
                              "        as in: small{k=1}\n"));
  EXPECT_THAT(text, HasSubstr("     1  accepted, then wrong_result: element 3 "
                              "differs\n        as in: small{k=2}\n"));
}

TEST_F(SpaceCheckTest, WhatWasNotMeasuredDoesNotCount) {
  ArrayRef<std::unique_ptr<Space>> all = spaces;
  SpaceCheck check(all.take_back(), 4, 0);
  std::string text = check.format();
  EXPECT_THAT(text, ::testing::ContainsRegex("large +0 +0.0 % +0 +0  -\n"));
  EXPECT_THAT(text, Not(HasSubstr("why not valid")));
}
