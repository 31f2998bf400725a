//===- RankerRun.h - The stage that trains the ranker -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRAIN_RANKERRUN_H
#define CWM_LIB_TRAIN_RANKERRUN_H

#include "Stage.h"

#include "cwm/Dataset/Workloads.h"
#include "cwm/Train/RankerTraining.h"
#include "cwm/Train/Train.h"

#include "llvm/Support/CommandLine.h"

namespace cwm {

/// How trees are grown: flags that training and evaluation share.
struct TreeFlags {
  explicit TreeFlags(llvm::cl::OptionCategory &category);
  void apply(RankerTrainingOptions &options) const;

  llvm::cl::opt<int64_t> trees, depth, pairs, patience, threads;
  llvm::cl::opt<double> rate, rows, columns, childWeight, lambda, validation;
};
/// Names the flag and the rule.
llvm::Error validate(const RankerTrainingOptions &options);

/// What rankers are trained on.
struct RankerData {
  std::unique_ptr<Database> database;
  std::vector<RankingTask> tasks;
  /// Whose measurements these are.
  std::string target;

  /// Opens a database that is there.
  llvm::Error open(llvm::StringRef path);
  /// Reads the tasks that training may see; fails where there is nothing to
  /// train on.
  llvm::Error read(const Split &split, llvm::StringRef target,
                   bool withFinalStates);
  size_t countCandidates() const;
};

/// The encoder and, when `withTransition`, the transition of a model, with a
/// store of latent states in the file `latents`, or where that is empty in the
/// folder `workDir`.
llvm::Expected<LatentModel>
openLatentModel(const ModelDirectory &model, bool withTransition,
                llvm::StringRef latents, llvm::StringRef workDir,
                llvm::function_ref<void(const llvm::Twine &)> note);

/// What the command line says.
struct RankerRunOptions {
  std::string database, model, workDir, latents, target;
  std::string state, actions;
  bool replace = false;
  std::optional<Split> split;
  SplitOptions splitOptions;
  RankerTrainingOptions training;

  /// Names the flag and the rule, and takes over `state` and `actions`.
  llvm::Error validate();
};

TrainExit runRanker(RankerRunOptions options);

} // namespace cwm

#endif // CWM_LIB_TRAIN_RANKERRUN_H
