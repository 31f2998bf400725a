//===- EncoderTraining.cpp - What a step of the encoder is ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/EncoderTraining.h"

using namespace llvm;

namespace cwm {

namespace {
class EncoderTask : public LoopTask {
public:
  EncoderTask(ContrastiveModel &model, const EncoderData &training,
              const EncoderData &validation, const Tokenizer &tokenizer,
              const EncoderConfig &config,
              const EncoderTrainingOptions &options)
      : model(model), sampler(training, options.batches),
        validationSampler(validation, options.batches),
        views(training, tokenizer, config, options.views),
        validationViews(validation, tokenizer, config,
                        makeValidationOptions(options.views)),
        options(options) {}

  /// "" where there is something to learn.
  std::string findReason() const;
  Expected<CwmStepResult> step(int64_t step, double learningRate) override;
  Expected<CwmStepResult> evaluate() override;
  Error visit(bool all,
              function_ref<void(const CwmTensor &)> visitor) override {
    return model.visit(all, visitor);
  }
  Error sum(MutableArrayRef<double> values) override {
    return model.sum(values);
  }

private:
  /// Validation has the same texts and rewrites each time. Without dropout a
  /// text is its own best positive: always rewrite.
  static ViewMaker::Options makeValidationOptions(ViewMaker::Options options) {
    options.rewriteShare = 1;
    options.seed ^= 0xe7a1;
    return options;
  }

  ContrastiveModel &model;
  BatchSampler sampler, validationSampler;
  ViewMaker views, validationViews;
  const EncoderTrainingOptions &options;
};
} // namespace

std::string EncoderTask::findReason() const {
  if (sampler.getNumBatches() > 0 && validationSampler.getNumBatches() > 0)
    return "";
  return std::string("there is one text ") +
         (sampler.getNumBatches() == 0 ? "to train on" : "for validation") +
         " only: it has no negatives";
}

Expected<CwmStepResult> EncoderTask::step(int64_t step, double learningRate) {
  ContrastiveViews batch = views.make(sampler.getBatch(step - 1), step);
  CwmStepOptions stepOptions = options.step;
  stepOptions.adam.learningRate = learningRate;
  return model.step(batch, stepOptions, step);
}

Expected<CwmStepResult> EncoderTask::evaluate() {
  CwmStepResult mean = {};
  const int64_t count =
      std::min(options.evaluationBatches, validationSampler.getNumBatches());
  for (int64_t i = 0; i < count; ++i) {
    ContrastiveViews batch =
        validationViews.make(validationSampler.getBatch(i), i);
    Expected<CwmStepResult> result = model.evaluate(batch, options.step);
    if (!result)
      return result.takeError();
    mean.loss += result->loss / static_cast<double>(count);
    mean.accuracy += result->accuracy / static_cast<double>(count);
  }
  return mean;
}

Expected<TrainingResult>
trainEncoder(ContrastiveModel &model, const EncoderData &training,
             const EncoderData &validation, const Tokenizer &tokenizer,
             const EncoderConfig &config, const EncoderTrainingOptions &options,
             const std::atomic<bool> &stop,
             function_ref<void(const Twine &)> progress) {
  EncoderTask task(model, training, validation, tokenizer, config, options);
  if (std::string reason = task.findReason(); !reason.empty()) {
    TrainingResult result;
    result.end = TrainingResult::End::NothingToLearn;
    result.message = std::move(reason);
    return result;
  }
  return runTrainingLoop(task, options, options.step.adam.learningRate, stop,
                         progress);
}

} // namespace cwm
