//===- WindowsTest.cpp - Pieces of trajectories for training ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Dataset/Windows.h"

#include "TestUtils.h"

#include "gmock/gmock.h"
#include <set>

using namespace cwm;
using namespace cwm::test;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

namespace {

class WindowsTest : public DatasetTest {
protected:
  /// Two workloads with states of their own.
  void fill() {
    addWorkload('c');
    addWorkload('d');
    addTrajectory('c', "x", {"s0", "s1", "-", "s3", "s4"});
    addTrajectory('c', "y", {"s0", "u1", "u2"});
    addTrajectory('d', "x", {"t0", "t1", "t2"});
    dataset.emplace(load());
  }

  WindowIterator makeWindows(unsigned steps, unsigned stride,
                             uint64_t seed = 0) {
    WindowOptions options;
    options.numSteps = steps;
    options.stride = stride;
    options.seed = seed;
    return llvm::cantFail(WindowIterator::create(*dataset, options));
  }

  std::string getName(uint32_t state) const {
    return dataset->getStateHash(state).str();
  }
  /// "s0 -> s1 ? s3": start and targets, ? where an action leads to a state
  /// that was not kept, . behind the end.
  std::string describe(const Window &window) const {
    std::string text = getName(window.start) + " ->";
    for (size_t i = 0; i < window.actions.size(); ++i)
      text += " " + (!window.hasAction[i]  ? "."
                     : !window.hasState[i] ? "?"
                                           : getName(window.targets[i]));
    return text;
  }
  std::vector<std::string> describeAll(const WindowIterator &windows) const {
    std::vector<std::string> all;
    for (size_t i = 0; i < windows.size(); ++i)
      all.push_back(describe(windows.get(i)));
    return all;
  }

  std::optional<Dataset> dataset;
};

TEST_F(WindowsTest, StepsAndMasks) {
  fill();
  std::vector<std::string> all = describeAll(makeWindows(3, 2));
  llvm::sort(all);
  // From step 2 of the first one on, whose state is not known, the next.
  EXPECT_THAT(all, ElementsAre("s0 -> s1 ? s3", "s0 -> u1 u2 .", "s3 -> s4 . .",
                               "t0 -> t1 t2 ."));
}

TEST_F(WindowsTest, ActionsLeadToTheirTargets) {
  fill();
  WindowIterator windows = makeWindows(3, 2);
  for (size_t i = 0; i < windows.size(); ++i) {
    Window window = windows.get(i);
    for (size_t step = 0; step < 3; ++step)
      if (window.hasState[step]) {
        EXPECT_EQ(dataset->getActions()[window.actions[step]],
                  "to " + getName(window.targets[step]));
      }
  }
}

TEST_F(WindowsTest, Negatives) {
  fill();
  WindowIterator windows = makeWindows(3, 2);
  for (size_t i = 0; i < windows.size(); ++i) {
    Window window = windows.get(i);
    const Dataset::Trajectory &own =
        dataset->getTrajectories()[window.trajectory];
    std::set<uint32_t> distinct;
    for (uint32_t state : window.sameWorkload) {
      EXPECT_TRUE(distinct.insert(state).second);
      EXPECT_EQ(dataset->getWorkloadOfState(state), own.workload);
      EXPECT_THAT(own.states, Not(::testing::Contains(state)));
    }
    for (uint32_t state : window.otherWorkload) {
      EXPECT_TRUE(distinct.insert(state).second);
      EXPECT_NE(dataset->getWorkloadOfState(state), own.workload);
    }
    // All that there are, where there are fewer than four.
    bool isFirst = own.workload == 0;
    size_t numSame = !isFirst                 ? 0
                     : window.trajectory == 0 ? 2  // u1, u2
                                              : 3; // s1, s3, s4
    EXPECT_EQ(window.sameWorkload.size(), numSame);
    EXPECT_EQ(window.otherWorkload.size(), isFirst ? 3U : 4U);
  }
}

TEST_F(WindowsTest, OrderDependsOnSeedAndEpochAlone) {
  fill();
  auto getEpochs = [&](uint64_t seed, std::vector<uint64_t> epochs) {
    WindowIterator windows = makeWindows(1, 1, seed);
    std::vector<std::string> all;
    for (uint64_t epoch : epochs) {
      windows.startEpoch(epoch);
      all = describeAll(windows);
      for (size_t i = 0; i < windows.size(); ++i)
        for (uint32_t state : windows.get(i).otherWorkload)
          all.push_back(getName(state));
    }
    return all;
  };
  EXPECT_EQ(getEpochs(1, {0, 1, 2}), getEpochs(1, {2}));
  EXPECT_NE(getEpochs(1, {0}), getEpochs(1, {1}));
  EXPECT_NE(getEpochs(1, {0}), getEpochs(2, {0}));
}

TEST_F(WindowsTest, EachWindowOnceInAnEpoch) {
  fill();
  WindowIterator windows = makeWindows(2, 1);
  std::vector<std::string> first = describeAll(windows);
  windows.startEpoch(1);
  std::vector<std::string> second = describeAll(windows);
  llvm::sort(first);
  llvm::sort(second);
  EXPECT_EQ(first, second);
  EXPECT_EQ(first.size(), 7U);
}

TEST_F(WindowsTest, OneWorkloadHasNoOtherNegatives) {
  addWorkload('c');
  addTrajectory('c', "x", {"s0", "s1"});
  dataset.emplace(load());
  Window window = makeWindows(2, 1).get(0);
  EXPECT_THAT(window.sameWorkload, IsEmpty());
  EXPECT_THAT(window.otherWorkload, IsEmpty());
}

TEST_F(WindowsTest, NothingToLearn) {
  addWorkload('c');
  addTrajectory('c', "x", {"s0"});
  addTrajectory('c', "y", {"s0", "-"});
  dataset.emplace(load());
  EXPECT_EQ(
      getMessage(WindowIterator::create(*dataset, {}).takeError()),
      "no trajectory has an action between two known states: there is nothing "
      "to learn from");
}

} // namespace
