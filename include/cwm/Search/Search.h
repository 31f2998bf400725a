//===- Search.h - The search driver of one workload -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SEARCH_SEARCH_H
#define CWM_SEARCH_SEARCH_H

#include "cwm/Database/Database.h"
#include "cwm/Model/Scorer.h"
#include "cwm/Runner/Measurer.h"
#include "cwm/Space/Space.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace cwm {

struct SearchOptions {
  int64_t numTrials = 64;
  double timeBudgetSeconds = 0; ///< 0: no limit
  uint64_t seed = 0;
  int64_t batchSize = 8;
  double epsilon = 0.15; ///< share of a batch picked at random
  int64_t populationSize = 256;
  int64_t numGenerations = 4;
  int64_t numFinalists = 5;
};

/// A candidate of the union of spaces.
struct Candidate {
  unsigned space = 0;
  Assignment assignment;
  std::string key;
};

/// Progress as reported after each trial.
struct SearchProgress {
  int64_t trialsDone = 0, trialsTotal = 0, failures = 0;
  double bestScore = 0, bestTimeNs = 0, baselineTimeNs = 0, seconds = 0;
  std::string stage;
};

struct SearchSummary {
  Candidate best;
  TrialResult bestResult, baselineResult; ///< of the final, joint measurement
  bool bestIsBaseline = false;
  int64_t trials = 0, reused = 0; ///< measured now; found in the database
  llvm::StringMap<int64_t> trialsByStatus;
  llvm::StringMap<double> secondsByStage; ///< compile, check, time, score, ...
  bool interrupted = false, exhausted = false;
};

/// Searches the union of `spaces`. Deterministic given seed, earlier records
/// and measured results: a rerun after a kill takes the same decisions, takes
/// known results from the database and measures only what is missing.
class Search {
public:
  Search(const ScoringContext &context, std::string targetKey,
         llvm::ArrayRef<std::unique_ptr<Space>> spaces, Measurer &measurer,
         Scorer &scorer, Database &database, const SearchOptions &options);

  /// Runs until trials, time or the space are exhausted, or a stop was asked
  /// for. Error: no valid candidate at all, or the measurer or database failed.
  llvm::Expected<SearchSummary>
  run(llvm::function_ref<void(const SearchProgress &)> onProgress);

private:
  const ScoringContext &context;
  std::string targetKey;
  llvm::ArrayRef<std::unique_ptr<Space>> spaces;
  Measurer &measurer;
  Scorer &scorer;
  Database &database;
  SearchOptions options;
};

} // namespace cwm

#endif // CWM_SEARCH_SEARCH_H
