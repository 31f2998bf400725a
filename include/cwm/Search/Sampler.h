//===- Sampler.h - Distinct random candidates of spaces ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SEARCH_SAMPLER_H
#define CWM_SEARCH_SAMPLER_H

#include "cwm/Search/Search.h"

#include "llvm/ADT/StringSet.h"

namespace cwm {

/// Draws candidates in turn from each of several spaces, uniformly within a
/// space and none twice, until all are used up. The sequence depends on spaces
/// and seed alone: whoever draws more candidates gets the same first ones.
class CandidateSampler {
public:
  CandidateSampler(llvm::ArrayRef<std::unique_ptr<Space>> spaces,
                   uint64_t seed);

  /// The next candidate; nullopt when no space has an unseen one, or none was
  /// found within a bounded number of draws.
  std::optional<Candidate> next();

private:
  std::optional<Candidate> draw(unsigned index);

  llvm::ArrayRef<std::unique_ptr<Space>> spaces;
  RandomEngine engine;
  std::vector<llvm::StringSet<>> seen;
  /// Spaces that are not used up, and whose turn it is.
  std::vector<unsigned> open;
  size_t turn = 0;
};

} // namespace cwm

#endif // CWM_SEARCH_SAMPLER_H
