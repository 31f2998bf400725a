//===- TrainingLoop.h - Steps, evaluations, checkpoints ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAIN_TRAININGLOOP_H
#define CWM_TRAIN_TRAININGLOOP_H

#include "cwm/Model/TorchTable.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <string>

namespace cwm {

/// What the loop needs of what it trains.
class LoopTask {
public:
  virtual ~LoopTask() = default;
  /// One update, the `step`-th from 1, which depends on nothing but the state
  /// that visit() shows and the arguments.
  virtual llvm::Expected<CwmStepResult> step(int64_t step,
                                             double learningRate) = 0;
  /// On what is kept for validation; the same each time.
  virtual llvm::Expected<CwmStepResult> evaluate() = 0;
  /// Shows the parameters, and with `all` the optimiser's state too.
  virtual llvm::Error
  visit(bool all, llvm::function_ref<void(const CwmTensor &)> visitor) = 0;
  /// Sums over all processes.
  virtual llvm::Error sum(llvm::MutableArrayRef<double> values) = 0;
};

struct LoopOptions {
  int64_t steps = 2000;
  /// The learning rate rises linearly over these, and falls linearly to a tenth
  /// at the last step.
  int64_t warmupSteps = 100;
  /// Steps between evaluations, and how many of these may pass without a better
  /// loss before training stops; 0: never.
  int64_t evaluateEvery = 100, patience = 5;
  int64_t checkpointEvery = 100;
  /// Ends the run after this step, as an interrupt does; 0: not.
  int64_t stopAfter = 0;

  /// Where checkpoint, best weights and log are; only the process of rank 0
  /// writes there.
  std::string folder;
  /// What a checkpoint must agree with: everything that the result depends on.
  std::string fingerprint;
  bool resume = true;

  int64_t rank = 0;
};

/// How training ended.
struct TrainingResult {
  enum class End { Done, EarlyStop, Interrupted, Diverged, NothingToLearn };
  End end = End::Done;
  int64_t lastStep = 0, bestStep = 0;
  double bestLoss = 0, bestAccuracy = 0;
  /// Why there is no result: of a divergence the step, the value, and the
  /// checkpoint that was kept.
  std::string message;
};

/// Trains until the last step, an early stop, an interrupt (`stop`) or a loss
/// that is not finite. The folder then has
/// - `checkpoint.safetensors`: parameters, moments, and where the run is, from
///   which a further call goes on to the same result as one without a pause;
/// - `best.safetensors`: the parameters of the best evaluation;
/// - `metrics.jsonl`: a line a step and a line an evaluation.
/// Each is replaced in one step. A checkpoint with another fingerprint is an
/// error.
llvm::Expected<TrainingResult>
runTrainingLoop(LoopTask &task, const LoopOptions &options,
                double peakLearningRate, const std::atomic<bool> &stop,
                llvm::function_ref<void(const llvm::Twine &)> progress);

} // namespace cwm

#endif // CWM_TRAIN_TRAININGLOOP_H
