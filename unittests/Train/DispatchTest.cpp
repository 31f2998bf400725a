//===- DispatchTest.cpp - Which command a line means ---------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/Train.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <string>
#include <vector>

using namespace cwm;
using testing::ElementsAre;
using testing::HasSubstr;

static std::vector<std::string> seen;

static TrainExit remember(int argc, char **argv) {
  seen.assign(argv, argv + argc);
  EXPECT_EQ(argv[argc], nullptr);
  return TrainExit::NoResult;
}

static constexpr TrainCommand commands[] = {
    {"collect", "samples candidates", remember},
    {"encoder", "trains E", remember},
};

namespace {
struct Outcome {
  TrainExit exit;
  std::string out, err;
};
} // namespace

static Outcome dispatch(std::vector<std::string> words) {
  words.insert(words.begin(), "/some/where/cwm-train");
  std::vector<char *> argv;
  for (std::string &word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  seen.clear();
  Outcome outcome;
  llvm::raw_string_ostream out(outcome.out), err(outcome.err);
  outcome.exit = dispatchTrainCommand(commands, static_cast<int>(words.size()),
                                      argv.data(), out, err);
  return outcome;
}

TEST(Dispatch, RunsTheNamedCommandWithTheRest) {
  Outcome outcome = dispatch({"encoder", "--seed=3", "-"});
  EXPECT_EQ(outcome.exit, TrainExit::NoResult);
  EXPECT_THAT(seen, ElementsAre("cwm-train encoder", "--seed=3", "-"));
  EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST(Dispatch, UnknownCommandIsOneError) {
  Outcome outcome = dispatch({"encode", "--seed=3"});
  EXPECT_EQ(outcome.exit, TrainExit::Error);
  EXPECT_EQ(outcome.err, "cwm-train: error: unknown command 'encode'; known "
                         "are: collect, encoder\n");
  EXPECT_TRUE(seen.empty());
}

TEST(Dispatch, NoCommandIsOneError) {
  Outcome outcome = dispatch({});
  EXPECT_EQ(outcome.exit, TrainExit::Error);
  EXPECT_EQ(
      outcome.err,
      "cwm-train: error: expected a command; known are: collect, encoder\n");
}

TEST(Dispatch, HelpListsTheCommands) {
  Outcome outcome = dispatch({"--help"});
  EXPECT_EQ(outcome.exit, TrainExit::Done);
  EXPECT_THAT(outcome.out, HasSubstr("  collect     - samples candidates\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  encoder     - trains E\n"));
}

TEST(Dispatch, TheRealTableHasUniqueNames) {
  std::vector<llvm::StringRef> names;
  for (const TrainCommand &command : getTrainCommands()) {
    EXPECT_FALSE(llvm::is_contained(names, command.name)) << command.name.str();
    EXPECT_FALSE(command.summary.empty());
    names.push_back(command.name);
  }
}
