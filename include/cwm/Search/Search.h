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
#include "llvm/ADT/StringMap.h"

#include <functional>

namespace cwm {

struct SearchOptions {
  /// Candidates sent to measurement, those found in the database included.
  /// What a static rule refuses does not count.
  int64_t numTrials = 64;
  double timeBudgetSeconds = 0; ///< 0: no limit
  uint64_t seed = 0;
  int64_t batchSize = 8;
  double epsilon = 0.1; ///< share of a batch picked at random
  /// Share of a batch that varies the best measured candidates, whatever their
  /// score; the rest has the best scores.
  double variedShare = 0.25;
  /// Candidates scored in each generation of each batch.
  int64_t populationSize = 64;
  int64_t numGenerations = 4;
  int64_t numFinalists = 5;
  /// Uniform picks only, no evolution and no scores: the baseline of searches.
  bool randomOnly = false;
  /// Receives what the user should know and the search survives (a scorer that
  /// fails, once). Null: written to stderr.
  std::function<void(llvm::StringRef)> onWarning;
  /// Receives the key and result of each trial that fails. May be null.
  std::function<void(llvm::StringRef, const TrialResult &)> onFailure;
};

/// A candidate of the union of spaces.
struct Candidate {
  unsigned space = 0;
  Assignment assignment;
  std::string key;
};

/// Identity of a candidate in records: its key and a hash of its bound script,
/// so that records of a schedule that was edited since do not count.
std::string getCandidateId(llvm::StringRef key, llvm::StringRef boundScript);

/// Text of a bound script as it is measured and hashed.
std::string printScript(mlir::ModuleOp boundScript);

/// Progress as reported after each trial.
struct SearchProgress {
  int64_t trialsDone = 0, trialsTotal = 0, failures = 0;
  double bestScore = 0, baselineScore = 0;
  /// Shortest time of those that were the best when they came. Scores decide:
  /// times also follow the clock of the machine.
  double bestTimeNs = 0;
  double seconds = 0;
  std::string stage;
};

/// A candidate and what was measured of it.
struct Finalist {
  Candidate candidate;
  TrialResult result;
};

struct SearchSummary {
  Candidate best, baseline;
  TrialResult bestResult, baselineResult; ///< of the final, joint measurement
  bool bestIsBaseline = false;
  /// All of the final measurement, best first.
  std::vector<Finalist> finalists;
  int64_t trials = 0, reused = 0; ///< measured now; found in the database
  /// Candidates refused by a static rule, not part of the trials.
  int64_t refused = 0;
  /// Records of earlier runs that this run learned from: of this workload, of
  /// others.
  int64_t priorRecords = 0, otherRecords = 0;
  llvm::StringMap<int64_t> trialsByStatus;
  llvm::StringMap<double> secondsByStage; ///< compile, check, time, score, ...
  bool interrupted = false, exhausted = false, outOfTime = false;
};

/// Searches the union of `spaces`. Deterministic given seed, earlier records
/// and measured results: a rerun after a kill takes the same decisions, takes
/// known results from the database and measures only what is missing. What
/// counts as earlier is fixed when a run is first started, by the largest
/// record id, which the database keeps; a run with more trials or more time
/// continues the same sequence.
class Search {
public:
  Search(const ScoringContext &context, std::string targetKey,
         llvm::ArrayRef<std::unique_ptr<Space>> spaces, Measurer &measurer,
         Scorer &scorer, Database &database, const SearchOptions &options);

  /// Runs until trials, time or the space are exhausted, or a stop was asked
  /// for (Measurer::requestStop). Fails with NoValidCandidate when there is
  /// none, and with other errors when the measurer or the database failed.
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

/// Every candidate failed, or no space has one; the message counts them by
/// class. Tools exit with 2.
class NoValidCandidate : public llvm::ErrorInfo<NoValidCandidate> {
public:
  static char ID;
  explicit NoValidCandidate(std::string message)
      : message(std::move(message)) {}
  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

private:
  std::string message;
};

} // namespace cwm

#endif // CWM_SEARCH_SEARCH_H
