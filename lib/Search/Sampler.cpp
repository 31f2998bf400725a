//===- Sampler.cpp - Distinct random candidates of spaces -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Search/Sampler.h"

#include <numeric>

using namespace llvm;

namespace cwm {

/// Draws that give nothing new before a space counts as used up.
static constexpr int maxRepeats = 64;

CandidateSampler::CandidateSampler(ArrayRef<std::unique_ptr<Space>> spaces,
                                   uint64_t seed)
    : spaces(spaces), engine(seed), seen(spaces.size()), open(spaces.size()) {
  std::iota(open.begin(), open.end(), 0U);
}

std::optional<Candidate> CandidateSampler::draw(unsigned index) {
  const Space &space = *spaces[index];
  for (int attempt = 0; attempt < maxRepeats; ++attempt) {
    std::optional<Assignment> assignment = space.sample(engine);
    if (!assignment)
      return std::nullopt;
    std::string key = space.getKey(*assignment);
    if (seen[index].insert(key).second)
      return Candidate{index, std::move(*assignment), std::move(key)};
  }
  return std::nullopt;
}

std::optional<Candidate> CandidateSampler::next() {
  while (!open.empty()) {
    size_t place = turn++ % open.size();
    if (std::optional<Candidate> candidate = draw(open[place]))
      return candidate;
    open.erase(open.begin() + static_cast<ptrdiff_t>(place));
  }
  return std::nullopt;
}

} // namespace cwm
