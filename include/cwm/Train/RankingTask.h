//===- RankingTask.h - A workload's measured candidates ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAIN_RANKINGTASK_H
#define CWM_TRAIN_RANKINGTASK_H

#include "cwm/Dataset/Pool.h"
#include "cwm/Model/LatentModel.h"
#include "cwm/Model/RankerConfig.h"

namespace cwm {

/// What was measured of a workload: what rankers are trained on, from a
/// database, and judged by, from a pool. Failures are among the candidates.
struct RankingTask {
  struct Candidate {
    std::string name;
    /// All actions, places in `actions`.
    std::vector<uint32_t> actions;
    /// The true state behind the last modelled action, a place in `states`;
    /// absent where the candidate could not be applied.
    std::optional<uint32_t> finalState;
    bool isOk = false;
    double score = 0, timeNs = 0;
  };

  WorkloadInfo workload;
  std::map<std::string, int64_t> networks;
  double noiseFloor = 0;
  std::string stateText;       ///< s0
  std::vector<float> hardware; ///< h
  std::vector<std::string> actions;
  /// Texts of final states; empty ones where they were not asked for.
  std::vector<std::string> states;
  std::vector<Candidate> candidates;

  /// The best score; 0 where all failed.
  double getBestScore() const;
  /// Nanoseconds of each candidate by its score, failureTime where it failed:
  /// the time that the reference kernel took during the measurement (the median
  /// over the candidates) / the score. Scores are what search maximises; times
  /// themselves follow the clock of the machine as well.
  std::vector<double> getTimes() const;
};

/// Measured candidates of the dataset's workloads on `target` ("" for the only
/// one that the database has), failures included, by workload in the dataset's
/// order; workloads without any are left out. Errors: several targets, or none
/// of this name; a record without a workload's payload. With `withFinalStates`
/// the texts of final states are read.
llvm::Expected<std::vector<RankingTask>>
loadRankingTasks(Database &database, const Dataset &dataset,
                 std::string &target, bool withFinalStates);

/// The same of a pool. Fails where a pool has no candidate, or none whose first
/// state is known.
llvm::Expected<RankingTask> makeRankingTask(Pool pool);

/// What rankers see of the candidates of a task.
struct RankingInputs {
  /// numFeatures a candidate.
  std::vector<float> features;
  /// One latent state, and one each a candidate; empty where they were not
  /// asked for. Of `final`, NaN where there is no final state.
  std::vector<float> initial, rollOut, final;
};

/// Which latent states to compute.
struct RankingStates {
  bool initial = false, rollOut = false, final = false;
  void add(RankerState state) {
    initial |= state == RankerState::Initial;
    rollOut |= state == RankerState::RollOut;
    final |= state == RankerState::Final;
  }
  bool any() const { return initial || rollOut || final; }
};

/// Of each task. `latents` may be null when no state is asked for.
llvm::Expected<std::vector<RankingInputs>>
computeRankingInputs(llvm::ArrayRef<RankingTask> tasks, LatentModel *latents,
                     const RankingStates &states);

/// Appends the rows of a task's candidates. `dim`: of a latent state.
void appendRankingRows(const RankingTask &task, const RankingInputs &inputs,
                       const RankerConfig &config, size_t dim,
                       std::vector<float> &rows);

} // namespace cwm

#endif // CWM_TRAIN_RANKINGTASK_H
