//===- TransitionTraining.cpp - Trains the transition -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/TransitionTraining.h"

#include "cwm/Model/TorchEncoder.h"

using namespace llvm;

namespace cwm {

//===----------------------------------------------------------------------===//
// The network
//===----------------------------------------------------------------------===//

namespace {
class TorchTransition : public TransitionModel {
public:
  explicit TorchTransition(const TorchLibrary &library) : library(library) {}
  ~TorchTransition() override {
    if (trainer)
      library->destroyTrainer(trainer);
    if (network)
      library->destroyTransition(network);
  }
  TorchTransition(const TorchTransition &) = delete;
  TorchTransition &operator=(const TorchTransition &) = delete;

  Error create(const CwmTransitionShape &shape, uint64_t seed) {
    if (Error error =
            library.check(library->createTransition(&shape, seed, &network),
                          "cannot make the transition"))
      return error;
    return library.check(library->createTransitionTrainer(network, &trainer),
                         "cannot train the transition");
  }

  Expected<CwmStepResult> step(const RolloutBatch &batch,
                               const CwmRolloutOptions &options,
                               int64_t step) override {
    const CwmRolloutBatch view = batch.get();
    CwmStepResult result = {};
    if (Error error = library.check(
            library->stepTransition(trainer, &view, &options, step, &result),
            "step " + Twine(step)))
      return error;
    return result;
  }

  Expected<CwmStepResult> evaluate(const RolloutBatch &batch,
                                   const CwmRolloutOptions &options) override {
    const CwmRolloutBatch view = batch.get();
    CwmStepResult result = {};
    if (Error error = library.check(
            library->evaluateTransition(trainer, &view, &options, &result),
            "evaluation"))
      return error;
    return result;
  }

  Error visit(bool all,
              function_ref<void(const CwmTensor &)> visitor) override {
    return visitTensors(
        library,
        [&](CwmTensorVisitor visit, void *context) {
          return all ? library->visitState(trainer, visit, context)
                     : library->visitTransition(network, visit, context);
        },
        visitor);
  }

  Error sum(MutableArrayRef<double> values) override {
    return library.check(
        library->sumOverGroup(values.data(),
                              static_cast<int64_t>(values.size())),
        "cannot reach the other processes");
  }

private:
  const TorchLibrary &library;
  CwmTransition *network = nullptr;
  CwmTrainer *trainer = nullptr;
};
} // namespace

Expected<std::unique_ptr<TransitionModel>>
makeTransitionModel(const TorchLibrary &library,
                    const CwmTransitionShape &shape, uint64_t seed) {
  auto model = std::make_unique<TorchTransition>(library);
  if (Error error = model->create(shape, seed))
    return std::move(error);
  return std::move(model);
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

namespace {
class TransitionTask : public LoopTask {
public:
  TransitionTask(TransitionModel &model, RolloutSampler training,
                 RolloutSampler validation,
                 const TransitionTrainingOptions &options)
      : model(model), training(std::move(training)),
        validation(std::move(validation)), options(options) {}

  Expected<CwmStepResult> step(int64_t step, double learningRate) override {
    CwmRolloutOptions stepOptions = options.step;
    stepOptions.adam.learningRate = learningRate;
    return model.step(training.getBatch(step - 1), stepOptions, step);
  }

  Expected<CwmStepResult> evaluate() override;

  Error visit(bool all,
              function_ref<void(const CwmTensor &)> visitor) override {
    return model.visit(all, visitor);
  }
  Error sum(MutableArrayRef<double> values) override {
    return model.sum(values);
  }

private:
  TransitionModel &model;
  RolloutSampler training, validation;
  const TransitionTrainingOptions &options;
};
} // namespace

Expected<CwmStepResult> TransitionTask::evaluate() {
  CwmStepResult mean = {};
  for (bool isWhole : {false, true}) {
    const double share =
        isWhole ? options.batches.wholeShare : 1 - options.batches.wholeShare;
    if (share <= 0)
      continue;
    const int64_t count = std::min(options.evaluationBatches,
                                   validation.getNumEvaluationBatches(isWhole));
    for (int64_t i = 0; i < count; ++i) {
      Expected<CwmStepResult> result = model.evaluate(
          validation.getEvaluationBatch(isWhole, i), options.step);
      if (!result)
        return result.takeError();
      mean.loss += result->loss * share / static_cast<double>(count);
      mean.accuracy += result->accuracy * share / static_cast<double>(count);
    }
  }
  return mean;
}

Expected<TrainingResult> trainTransition(
    TransitionModel &model, const Dataset &training,
    const LatentTrajectories &trainingLatents, const Dataset &validation,
    const LatentTrajectories &validationLatents,
    const TransitionTrainingOptions &options, const std::atomic<bool> &stop,
    function_ref<void(const Twine &)> progress) {
  auto reportNothing = [](Error error) {
    TrainingResult result;
    result.end = TrainingResult::End::NothingToLearn;
    result.message = toString(std::move(error));
    return result;
  };
  Expected<RolloutSampler> sampler =
      RolloutSampler::create(training, trainingLatents, options.batches);
  if (!sampler)
    return reportNothing(sampler.takeError());
  Expected<RolloutSampler> validationSampler =
      RolloutSampler::create(validation, validationLatents, options.batches);
  if (!validationSampler)
    return reportNothing(validationSampler.takeError());
  TransitionTask task(model, std::move(*sampler), std::move(*validationSampler),
                      options);
  return runTrainingLoop(task, options, options.step.adam.learningRate, stop,
                         progress);
}

} // namespace cwm
