//===- HistoryTest.cpp - The states and actions of a history ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Trajectory/History.h"

#include "gtest/gtest.h"

using namespace cwm;

namespace {

TEST(History, LoweringActions) {
  for (const char *text :
       {"bufferization.one_shot_bufferize bufferize_function_boundaries=true "
        "on root",
        "apply_patterns body={vector.lower_contraction lowering_strategy=2} "
        "on func.func",
        "apply_registered_pass pass_name=\"one-shot-bufferize\" on func.func",
        "apply_registered_pass pass_name=\"convert-linalg-to-loops\" on "
        "func.func"})
    EXPECT_TRUE(isLoweringAction(text)) << text;
  for (const char *text :
       {"structured.vectorize vector_sizes=[4, 8] on linalg.pack",
        "bufferization.eliminate_empty_tensors on root",
        "apply_patterns body={vector.reduction_to_contract; canonicalization} "
        "on func.func",
        "structured.lower_pack on linalg.pack", "apply_cse on func.func",
        "apply_registered_pass pass_name=\"canonicalize\" on func.func"})
    EXPECT_FALSE(isLoweringAction(text)) << text;
}

TEST(History, ModelledActionsEndBeforeTheLowering) {
  std::vector<Action> actions = {{"a", "a"},
                                 {"b", "b"},
                                 {"bufferization.one_shot_bufferize",
                                  "bufferization.one_shot_bufferize on root"},
                                 {"c", "c"}};
  EXPECT_EQ(getModelledActions(actions).size(), 2U);
  EXPECT_EQ(getModelledActions(llvm::ArrayRef(actions).take_front(1)).size(),
            1U);
}

/// States 0 to 3; the second detached, the last one too long.
Trajectory makeTrajectory() {
  Trajectory trajectory;
  for (const std::string &text :
       {std::string("s0"), std::string("part"), std::string("s2"),
        std::string(History::maxStateBytes + 1, 'x')}) {
    State &state = trajectory.states.emplace_back();
    state.hash = "hash " + text.substr(0, 4);
    state.text = text;
  }
  trajectory.states[1].detached = true;
  for (unsigned step = 0; step < 4; ++step) {
    trajectory.steps.emplace_back();
    trajectory.steps.back().text = "action " + std::to_string(step);
  }
  trajectory.history = {{0, 2}, {1, {}}, {2, 1}, {3, 3}};
  return trajectory;
}

TEST(History, KeepsStatesOfTheWholePayload) {
  History history = makeHistory(makeTrajectory());
  ASSERT_EQ(history.states.size(), 2U);
  EXPECT_EQ(history.states[0].text, "s0");
  EXPECT_EQ(history.states[1].text, "s2");
  EXPECT_EQ(history.states[1].hash, "hash s2");
  ASSERT_EQ(history.entries.size(), 4U);
  EXPECT_EQ(history.entries[0].state, 1U);
  EXPECT_EQ(history.entries[1].state, std::nullopt);
  EXPECT_EQ(history.entries[2].state, std::nullopt);
  EXPECT_EQ(history.entries[3].state, std::nullopt);
  EXPECT_EQ(history.entries[3].action, "action 3");
}

TEST(History, RoundTrip) {
  History history = makeHistory(makeTrajectory());
  llvm::json::Value value = toJSON(history);
  History read;
  llvm::json::Path::Root root;
  ASSERT_TRUE(fromJSON(value, read, root));
  EXPECT_EQ(toJSON(read), value);
}

TEST(History, MalformedJSON) {
  for (const char *text :
       {"[]", R"({"states": []})", R"({"states": [["h"]], "entries": []})",
        R"({"states": [[1, "t"]], "entries": []})",
        R"({"states": [["h", "t"]], "entries": [["a", 1]]})",
        R"({"states": [["h", "t"]], "entries": [["a", -1]]})",
        R"({"states": [["h", "t"]], "entries": [["a"]]})"}) {
    History history;
    llvm::json::Path::Root root;
    EXPECT_FALSE(
        fromJSON(llvm::cantFail(llvm::json::parse(text)), history, root))
        << text;
  }
}

} // namespace
