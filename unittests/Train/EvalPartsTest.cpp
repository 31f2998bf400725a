//===- EvalPartsTest.cpp - Roll-outs of pools, kept searches ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../lib/Train/EvalRollouts.h"
#include "../../lib/Train/PickStore.h"
#include "../Dataset/TestUtils.h"
#include "RankingTestUtils.h"

#include "gmock/gmock.h"

using namespace llvm;
using namespace cwm;
using namespace cwm::test;
using ::testing::ElementsAre;
using ::testing::Pointee;

TEST(EvalRolloutsTest, PoolsUpToTheLowering) {
  Pool pool;
  pool.header.workload.hash = "w";
  pool.actions = {"one", "three", "apply_patterns vector.lower_x"};
  pool.states = {{"h0", "s0"}, {"h1", "state1"}};
  pool.candidates.resize(3);
  pool.candidates[0].actions = {0, 1, 2, 0};
  pool.candidates[0].states = {0, Dataset::noState, 1, Dataset::noState, 0};
  // Could not be applied; the payload was not kept.
  pool.candidates[1].actions = {0};
  pool.candidates[2].actions = {0};
  pool.candidates[2].states = {Dataset::noState, 1};
  std::vector<Pool> pools(2, pool);
  LengthEncoder encoder;
  LatentTrajectories data = cantFail(encodePools(pools, encoder));
  EXPECT_THAT(data.states, ElementsAre(2, 1, 6, 1, 2, 1, 6, 1));
  ASSERT_EQ(data.actions.size(), 6u);
  EXPECT_EQ(data.getEncoding(4)[0], 5);
  ASSERT_EQ(data.trajectories.size(), 2u);
  EXPECT_THAT(data.trajectories[0].actions, ElementsAre(0, 1));
  EXPECT_THAT(data.trajectories[0].states,
              ElementsAre(0, LatentTrajectories::unknown, 1));
  // Of the second pool, with numbers of its own.
  EXPECT_EQ(data.trajectories[1].workload, 1u);
  EXPECT_THAT(data.trajectories[1].actions, ElementsAre(3, 4));
  EXPECT_THAT(data.trajectories[1].states,
              ElementsAre(2, LatentTrajectories::unknown, 3));
}

TEST_F(DatasetTest, EncodedByNumber) {
  addWorkload('c');
  addTrajectory('c', "x", {"s0", "longer", "-"});
  Dataset dataset = load();
  LengthEncoder encoder;
  LatentTrajectories data = cantFail(encodeDataset(dataset, encoder));
  // The texts are "text s0" and "text longer".
  EXPECT_THAT(data.states, ElementsAre(7, 1, 11, 1));
  ASSERT_EQ(data.trajectories.size(), 1u);
  EXPECT_THAT(data.trajectories[0].states,
              ElementsAre(0, 1, LatentTrajectories::unknown));
}

TEST_F(FolderTest, KeepsPicks) {
  {
    PickStore store(at("picks"));
    EXPECT_EQ(store.find("a"), nullptr);
    ASSERT_FALSE(store.add("a", {3, 1, 2}));
    ASSERT_FALSE(store.add("b", {}));
  }
  // The end of a run that was killed.
  put("picks", get("picks") + R"({"key": "c", "picks": [1)");
  {
    PickStore store(at("picks"));
    EXPECT_THAT(store.find("a"), Pointee(ElementsAre(3, 1, 2)));
    EXPECT_THAT(store.find("b"), Pointee(ElementsAre()));
    EXPECT_EQ(store.find("c"), nullptr);
    ASSERT_FALSE(store.add("c", {4}));
  }
  PickStore store(at("picks"));
  EXPECT_THAT(store.find("c"), Pointee(ElementsAre(4)));
  EXPECT_THAT(store.find("a"), Pointee(ElementsAre(3, 1, 2)));
}
