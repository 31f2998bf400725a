//===- RankerTraining.h - Trains the ranker G -------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAIN_RANKERTRAINING_H
#define CWM_TRAIN_RANKERTRAINING_H

#include "cwm/Model/Booster.h"
#include "cwm/Train/RankingTask.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <atomic>

namespace cwm {

struct RankerTrainingOptions {
  /// What the ranker sees; `hardware` is taken from the tasks.
  RankerConfig inputs;
  int64_t trees = 400, depth = 6;
  double learningRate = 0.05;
  /// Share of rows, and of columns, that a tree sees.
  double rowShare = 0.8, columnShare = 0.5;
  double minChildWeight = 0.01, lambda = 1;
  /// Pairs that a candidate is compared in.
  int64_t pairs = 32;
  uint64_t seed = 0;
  int64_t threads = 1;
  /// Share of the workloads that is kept to choose the number of trees by, and
  /// trees that may pass without a better one; 0: never stop.
  double validation = 0.1;
  int64_t patience = 60;

  /// Where checkpoint and log go; empty: none.
  std::string folder;
  int64_t checkpointEvery = 25;
  bool resume = true;
  /// Ends the run after this tree, as an interrupt does; 0: not.
  int64_t stopAfter = 0;

  /// Of everything that the result depends on but the data.
  std::string getFingerprint() const;
};

struct RankerTrainingResult {
  enum class End { Done, EarlyStop, Interrupted, NothingToLearn };
  End end = End::Done;
  int64_t lastTree = 0, bestTree = 0;
  /// Mean NDCG@10 over the validation workloads.
  double bestNDCG = 0;
  size_t trainingTasks = 0, validationTasks = 0, trainingRows = 0;
  /// What was trained on, inputs.hardware included.
  RankerConfig inputs;
  /// The best trees; absent when interrupted, or with nothing to learn.
  std::optional<Booster> booster;
  /// Why there is nothing to learn.
  std::string message;
};

/// Trains on measured candidates. The labels are computeRelevance() of a
/// workload's candidates, failures 0; with a regression objective
/// ("reg:squarederror") the label is the score relative to the workload's best,
/// failures 0. Groups are the workloads. The number of trees is that with the
/// best NDCG@10 of the validation workloads. One seed and one set of tasks give
/// the same trees; a run that was interrupted or killed goes on to the same
/// result from the checkpoint in the folder, which also has `metrics.jsonl`.
/// `dim`: of latent states in `inputs`.
llvm::Expected<RankerTrainingResult>
trainRanker(llvm::ArrayRef<RankingTask> tasks,
            llvm::ArrayRef<RankingInputs> inputs, size_t dim,
            const RankerTrainingOptions &options, const std::atomic<bool> &stop,
            llvm::function_ref<void(const llvm::Twine &)> progress);

} // namespace cwm

#endif // CWM_TRAIN_RANKERTRAINING_H
