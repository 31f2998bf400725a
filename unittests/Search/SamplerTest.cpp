//===- SamplerTest.cpp - Distinct random candidates of spaces ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Search/Sampler.h"

#include "TestUtils.h"

#include <set>

using namespace cwm;
using namespace cwm::test;

namespace {

std::vector<std::string> draw(CandidateSampler &sampler, size_t count) {
  std::vector<std::string> keys;
  while (keys.size() < count) {
    std::optional<Candidate> candidate = sampler.next();
    if (!candidate)
      break;
    keys.push_back(candidate->key);
  }
  return keys;
}

class SamplerTest : public SearchTest {};

TEST_F(SamplerTest, InTurnUntilASpaceIsUsedUp) {
  spaces.push_back(makeLine(3, "small"));
  spaces.push_back(makeTileSpace("tile"));
  CandidateSampler sampler(spaces, 1);
  std::vector<std::string> keys = draw(sampler, 40);
  ASSERT_EQ(keys.size(), 40U);
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), 40U);
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(llvm::StringRef(keys[i]).starts_with(i % 2 ? "tile{" : "small{"),
              true)
        << keys[i];
  EXPECT_EQ(
      llvm::count_if(
          keys, [](llvm::StringRef key) { return key.starts_with("small{"); }),
      3);
}

TEST_F(SamplerTest, LongerSequencesBeginAlike) {
  spaces.push_back(makeTileSpace("a"));
  spaces.push_back(makeTileSpace("b"));
  CandidateSampler first(spaces, 5), second(spaces, 5), other(spaces, 6);
  std::vector<std::string> few = draw(first, 10), more = draw(second, 25);
  more.resize(10);
  EXPECT_EQ(few, more);
  EXPECT_NE(few, draw(other, 10));
}

TEST_F(SamplerTest, EndsWithTheLastCandidate) {
  spaces.push_back(makeLine(4));
  CandidateSampler sampler(spaces, 0);
  EXPECT_EQ(draw(sampler, 100).size(), 4U);
  EXPECT_FALSE(sampler.next());
}

} // namespace
