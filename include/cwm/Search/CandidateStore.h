//===- CandidateStore.h - Candidates and what is derived --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SEARCH_CANDIDATESTORE_H
#define CWM_SEARCH_CANDIDATESTORE_H

#include "cwm/Model/Features.h"
#include "cwm/Search/ActionTable.h"
#include "cwm/Search/Search.h"

namespace cwm {

/// What scoring needs of a candidate.
struct CandidateInfo {
  /// Why the schedule cannot be bound. Empty says little: few are bound to be
  /// scored (see ActionTable).
  std::string failure;
  /// Empty where the script alone does not tell them. Of the store.
  std::vector<const Action *> actions;
  std::vector<float> features;
};

/// Derives actions and features of candidates, once each.
class CandidateStore {
public:
  CandidateStore(llvm::ArrayRef<std::unique_ptr<Space>> spaces,
                 llvm::StringRef stateText)
      : spaces(spaces), actions(spaces), features(WorkloadFeatures(stateText)) {
  }

  Candidate make(unsigned space, Assignment assignment) const {
    std::string key = spaces[space]->getKey(assignment);
    return {space, std::move(assignment), std::move(key)};
  }
  /// The candidate of a key, if it is one of these spaces.
  std::optional<Candidate> parse(llvm::StringRef key) const;

  /// Valid until the next call of forget().
  const CandidateInfo &getInfo(const Candidate &candidate);
  /// Text of the bound script; fails with the diagnostic that binding gave.
  llvm::Expected<std::string> getScript(const Candidate &candidate) const;
  /// Drops what was derived when there is a lot of it.
  void forget();

private:
  llvm::ArrayRef<std::unique_ptr<Space>> spaces;
  ActionTable actions;
  FeatureTable features;
  llvm::StringMap<std::unique_ptr<CandidateInfo>> infos;
};

} // namespace cwm

#endif // CWM_SEARCH_CANDIDATESTORE_H
