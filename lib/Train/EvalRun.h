//===- EvalRun.h - Evaluates a model on fixed pools -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRAIN_EVALRUN_H
#define CWM_LIB_TRAIN_EVALRUN_H

#include "RankerRun.h"

#include "cwm/Model/ModelDirectory.h"
#include "cwm/Train/Evaluation.h"

#include <set>

namespace cwm {

/// What the command line says.
struct EvalOptions {
  std::vector<std::string> pools;
  /// Empty: nothing is trained; only what the model has is evaluated.
  std::string database;
  /// Empty: no latent states.
  std::string model;
  std::string workDir, latents, target;
  /// Prefix of the report's two files.
  std::string output;
  /// For the head of the report.
  std::string commit, command;
  /// Whether roll-outs are measured, which encodes every state.
  bool rollouts = false;
  /// Names of methods; empty: all that there is something for.
  std::vector<std::string> methods;
  int64_t seeds = 5, trials = 128, bootstrap = 10000;
  std::optional<WorkloadTable> table;
  std::optional<Split> split;
  SplitOptions splitOptions;
  RankerTrainingOptions training;

  /// Names the flag and the rule.
  llvm::Error validate() const;
};

/// Names that --methods takes, in the order of the report.
std::vector<llvm::StringRef> getMethodNames();

/// A ranker that the evaluation trains.
struct Variant {
  llvm::StringLiteral name, description;
  RankerState state;
  bool actions;
  llvm::StringLiteral objective;
};
/// In the order of the report; the first is what others are compared with.
llvm::ArrayRef<Variant> getVariants();

/// One evaluation; its methods are in EvalMethods.cpp.
class EvalRun {
public:
  explicit EvalRun(EvalOptions &options) : options(options) {}
  TrainExit run();

private:
  llvm::Error loadModel();
  llvm::Error readPools();
  llvm::Error addPool(llvm::StringRef path);
  bool wants(llvm::StringRef method) const {
    return options.methods.empty() ||
           llvm::is_contained(options.methods, method);
  }
  bool canTrain(const Variant &variant) const;
  llvm::Error checkMethods() const;
  llvm::Error openLatents(bool withTransition);
  llvm::Error computeInputs();
  llvm::Error evaluateModel();
  llvm::Error evaluateVariant(const Variant &variant);
  llvm::Error evaluateOnline();
  void evaluateRandomAndOracle();
  llvm::Error score(const Booster &booster, const RankerConfig &config,
                    size_t dim, uint64_t seed,
                    std::vector<PoolMetrics> &results);
  llvm::Error measureRollouts();
  void fillHead();
  llvm::Error writeReport();
  size_t getDim() const { return latents ? latents->getDim() : 0; }
  bool shouldStop() const { return stop.flag; }

  EvalOptions &options;
  StopFlag stop;
  std::optional<ModelDirectory> model;
  /// What the stages of the model that count did not see.
  std::vector<Split> modelSplits;
  std::optional<LatentModel> latents;
  RankerData training;
  std::vector<RankingInputs> trainingInputs;
  std::vector<RankingTask> tasks;
  std::vector<RankingInputs> inputs;
  /// Kept for roll-outs only, by group.
  std::vector<Pool> pools[2];
  std::set<std::string> targets, toolchains, seenWorkloads;
  std::string hardware;
  Evaluation evaluation;
};

TrainExit runEval(EvalOptions options);

} // namespace cwm

#endif // CWM_LIB_TRAIN_EVALRUN_H
