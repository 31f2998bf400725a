//===- Run.h - The state of one run of a search -----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SEARCH_RUN_H
#define CWM_LIB_SEARCH_RUN_H

#include "Proposer.h"

#include <chrono>

namespace cwm {

/// What the parts of a run share.
struct RunContext {
  const ScoringContext &context;
  llvm::StringRef targetKey;
  llvm::ArrayRef<std::unique_ptr<Space>> spaces;
  Measurer &measurer;
  Scorer &scorer;
  Database &database;
  const SearchOptions &options;
  llvm::function_ref<void(const SearchProgress &)> onProgress;
  llvm::function_ref<void(llvm::StringRef)> warn;
};

/// One call of Search::run.
class Run {
public:
  explicit Run(const RunContext &run)
      : run(run), store(run.spaces, run.context.stateText),
        proposer(run.spaces, store, run.scorer, run.context, run.options,
                 run.warn) {}

  llvm::Expected<SearchSummary> execute();

private:
  /// Seconds of a stage, added up when it ends.
  class Stage;

  llvm::Error loadRecords();
  llvm::Error searchSpace();
  llvm::Error finish();

  /// How much of the queue may be measured before looking at the clock again;
  /// 0: the time is over.
  size_t getChunkSize(size_t queued) const;
  /// Measures proposals, or finds them in the database, and adds them to the
  /// trials in their order.
  llvm::Error measure(llvm::ArrayRef<Proposal> proposals, int64_t round);
  llvm::Error storeRecord(const Proposal &proposal, llvm::StringRef id,
                          int64_t round, TrialResult &result);
  void learn();
  void addTrial(const Proposal &proposal, const TrialResult &result,
                bool isNew);
  void countStages(const TrialResult &result);
  void report(llvm::StringRef stage);
  llvm::Error measureFinalists(std::vector<Finalist> &finalists);
  llvm::Error makeNoCandidateError() const;
  double getElapsedSeconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }

  const RunContext &run;
  CandidateStore store;
  Proposer proposer;
  SearchSummary summary;
  SearchProgress progress;
  /// Of earlier runs and this one, in the order of decisions.
  std::vector<Trial> trials;
  /// What this run measured before it was killed, by candidate id.
  llvm::StringMap<TrialResult> known;
  std::vector<TrainingItem> otherItems;
  std::optional<Candidate> baseline;
  std::optional<TrialResult> baselineResult;
  int64_t numTrials = 0, numMeasured = 0;
  double measureSeconds = 0;
  bool learnFailed = false;
  std::string firstFailure;
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

} // namespace cwm

#endif // CWM_LIB_SEARCH_RUN_H
