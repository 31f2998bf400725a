//===- Proposer.h - Which candidates to measure next ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SEARCH_PROPOSER_H
#define CWM_LIB_SEARCH_PROPOSER_H

#include "cwm/Search/CandidateStore.h"

#include "llvm/ADT/StringSet.h"

namespace cwm {

/// A candidate and why it was picked.
struct Proposal {
  Candidate candidate;
  std::string provenance;
  double predicted = 0;
};

/// A trial that is over.
struct Trial {
  Candidate candidate;
  TrialResult result;
  std::vector<float> features;
};

/// Picks batches. A batch is a function of the seed, the round, and the trials
/// before: nothing here knows of time or of the order in which results came.
class Proposer {
public:
  Proposer(llvm::ArrayRef<std::unique_ptr<Space>> spaces, CandidateStore &store,
           Scorer &scorer, const ScoringContext &context,
           const SearchOptions &options,
           llvm::function_ref<void(llvm::StringRef)> warn);

  /// The candidate is not proposed again.
  void markSeen(const Candidate &candidate) { seen.insert(candidate.key); }

  /// The next batch, never empty unless everything was proposed. Round 0
  /// starts with the default of each space, the baseline first.
  std::vector<Proposal> propose(int64_t round, llvm::ArrayRef<Trial> trials);

private:
  struct Scored {
    Candidate candidate;
    double score = 0;
  };
  /// What is known of each space.
  struct SpaceState {
    /// All candidates with their keys when there are few.
    std::optional<std::vector<Candidate>> all;
    bool exhausted = false;
    double weight = 1;
  };

  void listSmallSpaces();
  void updateWeights(llvm::ArrayRef<Trial> trials);
  std::optional<unsigned> pickSpace(RandomEngine &engine) const;
  std::optional<Candidate> pickUnseen(unsigned space, RandomEngine &engine);
  std::optional<Candidate> pickRandom(RandomEngine &engine);
  std::optional<Candidate> vary(llvm::ArrayRef<const Candidate *> parents,
                                RandomEngine &engine) const;
  bool isTaken(const Candidate &candidate) const {
    return seen.contains(candidate.key);
  }

  void addDefaults(std::vector<Proposal> &batch);
  void addRandom(std::vector<Proposal> &batch, size_t size,
                 RandomEngine &engine);
  void addEvolved(std::vector<Proposal> &batch, size_t size,
                  llvm::ArrayRef<const Candidate *> elites,
                  RandomEngine &engine);
  /// False when the scorer failed.
  bool addScored(std::vector<Proposal> &batch, size_t size,
                 llvm::ArrayRef<const Candidate *> elites,
                 RandomEngine &engine);
  /// Everything unseen when that is little.
  std::optional<std::vector<Candidate>> listUnseen(size_t limit) const;
  bool scoreAll(llvm::ArrayRef<Candidate> candidates,
                std::vector<Scored> &pool);
  void take(std::vector<Proposal> &batch, Candidate candidate,
            llvm::StringRef provenance, double predicted = 0);
  bool isCrowded(llvm::ArrayRef<Proposal> batch, const Candidate &candidate,
                 size_t size) const;

  llvm::ArrayRef<std::unique_ptr<Space>> spaces;
  CandidateStore &store;
  Scorer &scorer;
  const ScoringContext &context;
  const SearchOptions &options;
  llvm::function_ref<void(llvm::StringRef)> warn;
  std::vector<SpaceState> states;
  llvm::StringSet<> seen;
  bool scorerFailed = false;
};

/// Measured valid candidates, best first; ties in the order of the trials.
std::vector<const Trial *> rankTrials(llvm::ArrayRef<Trial> trials);

} // namespace cwm

#endif // CWM_LIB_SEARCH_PROPOSER_H
