//===- EncoderTraining.h - The loop that trains the encoder --- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAIN_ENCODERTRAINING_H
#define CWM_TRAIN_ENCODERTRAINING_H

#include "cwm/Model/TorchEncoder.h"
#include "cwm/Train/ContrastiveBatches.h"
#include "cwm/Train/EncoderData.h"
#include "cwm/Train/TrainingLoop.h"

#include <memory>

namespace cwm {

/// What the loop needs of the network that it trains. The torch component's is
/// made by makeTorchModel(); tests have one of their own.
class ContrastiveModel {
public:
  virtual ~ContrastiveModel() = default;
  /// One update, the `step`-th from 1.
  virtual llvm::Expected<CwmStepResult> step(ContrastiveViews &views,
                                             const CwmStepOptions &options,
                                             int64_t step) = 0;
  /// The loss alone.
  virtual llvm::Expected<CwmStepResult>
  evaluate(ContrastiveViews &views, const CwmStepOptions &options) = 0;
  /// Shows the parameters, and with `all` the optimiser's state too.
  virtual llvm::Error
  visit(bool all, llvm::function_ref<void(const CwmTensor &)> visitor) = 0;
  /// Sums over all processes.
  virtual llvm::Error sum(llvm::MutableArrayRef<double> values) = 0;
};

/// The model of the torch component; `encoder` must outlive it.
llvm::Expected<std::unique_ptr<ContrastiveModel>>
makeTorchModel(TorchEncoder &encoder);

struct EncoderTrainingOptions : LoopOptions {
  BatchSampler::Options batches;
  ViewMaker::Options views;
  CwmStepOptions step = {/*temperature=*/0.07,
                         /*intraWeight=*/2,
                         /*interWeight=*/1,
                         /*dropout=*/0.1,
                         /*adam=*/
                         {/*learningRate=*/5e-4, /*beta1=*/0.9,
                          /*beta2=*/0.999, /*epsilon=*/1e-8,
                          /*weightDecay=*/0.01, /*clipNorm=*/1}};
  /// Batches of an evaluation.
  int64_t evaluationBatches = 8;
};

/// See runTrainingLoop.
llvm::Expected<TrainingResult>
trainEncoder(ContrastiveModel &model, const EncoderData &training,
             const EncoderData &validation, const Tokenizer &tokenizer,
             const EncoderConfig &config, const EncoderTrainingOptions &options,
             const std::atomic<bool> &stop,
             llvm::function_ref<void(const llvm::Twine &)> progress);

} // namespace cwm

#endif // CWM_TRAIN_ENCODERTRAINING_H
