//===- TransitionTraining.h - Trains the transition -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAIN_TRANSITIONTRAINING_H
#define CWM_TRAIN_TRANSITIONTRAINING_H

#include "cwm/Train/TrainingLoop.h"
#include "cwm/Train/TransitionData.h"

#include <memory>

namespace cwm {

class TorchLibrary;

/// What the loop needs of the network that it trains. The torch component's is
/// made by makeTransitionModel(); tests have one of their own.
class TransitionModel {
public:
  virtual ~TransitionModel() = default;
  /// One update, the `step`-th from 1.
  virtual llvm::Expected<CwmStepResult> step(const RolloutBatch &batch,
                                             const CwmRolloutOptions &options,
                                             int64_t step) = 0;
  /// The loss alone.
  virtual llvm::Expected<CwmStepResult>
  evaluate(const RolloutBatch &batch, const CwmRolloutOptions &options) = 0;
  /// Shows the parameters, and with `all` the optimiser's state too.
  virtual llvm::Error
  visit(bool all, llvm::function_ref<void(const CwmTensor &)> visitor) = 0;
  /// Sums over all processes.
  virtual llvm::Error sum(llvm::MutableArrayRef<double> values) = 0;
};

/// A network of the torch component, with random weights by `seed`.
llvm::Expected<std::unique_ptr<TransitionModel>>
makeTransitionModel(const TorchLibrary &library,
                    const CwmTransitionShape &shape, uint64_t seed);

struct TransitionTrainingOptions : LoopOptions {
  RolloutSampler::Options batches;
  CwmRolloutOptions step = {/*sameMargin=*/0.1,
                            /*otherMargin=*/0.3,
                            /*sameWeight=*/1,
                            /*otherWeight=*/0.5,
                            /*adam=*/
                            {/*learningRate=*/1e-3, /*beta1=*/0.9,
                             /*beta2=*/0.999, /*epsilon=*/1e-8,
                             /*weightDecay=*/0.01, /*clipNorm=*/1}};
  /// Batches of an evaluation, of windows and of whole trajectories.
  int64_t evaluationBatches = 8;
};

/// See runTrainingLoop. An evaluation's loss is that of windows and of whole
/// trajectories, weighted as training sees them.
llvm::Expected<TrainingResult> trainTransition(
    TransitionModel &model, const Dataset &training,
    const LatentTrajectories &trainingLatents, const Dataset &validation,
    const LatentTrajectories &validationLatents,
    const TransitionTrainingOptions &options, const std::atomic<bool> &stop,
    llvm::function_ref<void(const llvm::Twine &)> progress);

} // namespace cwm

#endif // CWM_TRAIN_TRANSITIONTRAINING_H
