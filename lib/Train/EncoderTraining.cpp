//===- EncoderTraining.cpp - The loop that trains the encoder - -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/EncoderTraining.h"

#include "cwm/Train/MetricsLog.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace llvm;

namespace cwm {

namespace {

/// Where a run is; what a checkpoint has beside tensors.
struct Progress {
  int64_t step = 0;
  int64_t bestStep = 0;
  double bestLoss = std::numeric_limits<double>::infinity();
  double bestAccuracy = 0;
  /// Evaluations since the best.
  int64_t worse = 0;
};

class Training {
public:
  Training(ContrastiveModel &model, const EncoderData &training,
           const EncoderData &validation, const Tokenizer &tokenizer,
           const EncoderConfig &config, const EncoderTrainingOptions &options,
           const std::atomic<bool> &stop,
           function_ref<void(const Twine &)> progress)
      : model(model), sampler(training, options.batches),
        validationSampler(validation, options.batches),
        views(training, tokenizer, config, options.views),
        validationViews(validation, tokenizer, config,
                        makeValidationOptions(options.views)),
        options(options), stop(stop), progress(progress) {}

  Expected<EncoderTrainingResult> run();

private:
  using End = EncoderTrainingResult::End;

  /// Validation has the same texts and rewrites each time. Without dropout a
  /// text is its own best positive: always rewrite.
  static ViewMaker::Options makeValidationOptions(ViewMaker::Options options) {
    options.rewriteShare = 1;
    options.seed ^= 0xe7a1;
    return options;
  }

  std::string getPath(StringRef name) const {
    SmallString<256> path(options.folder);
    sys::path::append(path, name);
    return path.str().str();
  }
  double getLearningRate(int64_t step) const;
  Error load();
  Error saveCheckpoint();
  Error saveBest();
  Error evaluate();
  /// True when this or another process was asked to stop.
  Expected<bool> shouldStop();
  EncoderTrainingResult finish(End end, std::string message = "") const;

  ContrastiveModel &model;
  BatchSampler sampler, validationSampler;
  ViewMaker views, validationViews;
  const EncoderTrainingOptions &options;
  const std::atomic<bool> &stop;
  function_ref<void(const Twine &)> progress;
  MetricsLog log;
  Progress state;
  int64_t savedStep = 0;
};

} // namespace

double Training::getLearningRate(int64_t step) const {
  const double peak = options.step.learningRate;
  if (step <= options.warmupSteps)
    return peak * static_cast<double>(step) /
           static_cast<double>(options.warmupSteps);
  const double rest = static_cast<double>(options.steps - step) /
                      static_cast<double>(std::max<int64_t>(
                          1, options.steps - options.warmupSteps));
  return peak * (0.1 + 0.9 * rest);
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

/// A double as text that reads back as the same number.
static std::string print(double value) {
  return formatv("{0:x}", llvm::bit_cast<uint64_t>(value)).str();
}

static constexpr StringLiteral checkpointName = "checkpoint.safetensors";

Error Training::saveCheckpoint() {
  savedStep = state.step;
  if (options.rank != 0)
    return Error::success();
  TensorsToWrite file;
  if (Error error = model.visit(/*all=*/true, [&](const CwmTensor &tensor) {
        file.tensors[tensor.name] = viewTensor(tensor);
      }))
    return error;
  file.metadata = {{"cwm.fingerprint", options.fingerprint},
                   {"cwm.step", std::to_string(state.step)},
                   {"cwm.best_step", std::to_string(state.bestStep)},
                   {"cwm.best_loss", print(state.bestLoss)},
                   {"cwm.best_accuracy", print(state.bestAccuracy)},
                   {"cwm.worse", std::to_string(state.worse)}};
  return writeSafeTensors(getPath(checkpointName), file);
}

Error Training::saveBest() {
  if (options.rank != 0)
    return Error::success();
  TensorsToWrite file;
  if (Error error = model.visit(/*all=*/false, [&](const CwmTensor &tensor) {
        file.tensors[tensor.name] = viewTensor(tensor);
      }))
    return error;
  file.metadata["cwm.step"] = std::to_string(state.step);
  return writeSafeTensors(getPath("best.safetensors"), file);
}

Error Training::load() {
  std::string path = getPath(checkpointName);
  if (!options.resume || !sys::fs::exists(path))
    return Error::success();
  Expected<SafeTensors> file = SafeTensors::open(path);
  if (!file)
    return file.takeError();
  auto get = [&](StringRef key) -> StringRef {
    auto it = file->getMetadata().find(key);
    return it == file->getMetadata().end() ? StringRef() : it->second;
  };
  auto readDouble = [&](StringRef key, double &value) {
    uint64_t bits = 0;
    bool failed = get(key).getAsInteger(0, bits);
    value = llvm::bit_cast<double>(bits);
    return failed;
  };
  if (get("cwm.fingerprint") != options.fingerprint)
    return createStringError(
        "'" + path +
        "' is the checkpoint of a run with other texts or options: give these "
        "again, or --resume=false to start anew");
  if (get("cwm.step").getAsInteger(10, state.step) ||
      get("cwm.best_step").getAsInteger(10, state.bestStep) ||
      get("cwm.worse").getAsInteger(10, state.worse) ||
      readDouble("cwm.best_loss", state.bestLoss) ||
      readDouble("cwm.best_accuracy", state.bestAccuracy))
    return createStringError("'" + path +
                             "' does not say at which step it was made");
  Error failure = Error::success();
  if (Error error = model.visit(/*all=*/true, [&](const CwmTensor &tensor) {
        if (failure)
          return;
        Expected<std::vector<float>> data = file->getFloats(
            tensor.name, ArrayRef<int64_t>(tensor.shape, tensor.rank));
        if (data)
          std::copy(data->begin(), data->end(), tensor.data);
        else
          failure = data.takeError();
      }))
    return joinErrors(std::move(error), std::move(failure));
  if (failure)
    return failure;
  savedStep = state.step;
  progress("going on behind step " + Twine(state.step));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

Error Training::evaluate() {
  double loss = 0, accuracy = 0;
  const int64_t count =
      std::min(options.evaluationBatches, validationSampler.getNumBatches());
  for (int64_t i = 0; i < count; ++i) {
    ContrastiveViews batch =
        validationViews.make(validationSampler.getBatch(i), i);
    Expected<CwmStepResult> result = model.evaluate(batch, options.step);
    if (!result)
      return result.takeError();
    loss += result->loss / static_cast<double>(count);
    accuracy += result->accuracy / static_cast<double>(count);
  }
  ++state.worse;
  if (loss < state.bestLoss) {
    state.bestLoss = loss;
    state.bestAccuracy = accuracy;
    state.bestStep = state.step;
    state.worse = 0;
    if (Error error = saveBest())
      return error;
  }
  progress(formatv("step {0}: validation loss {1:f4}, accuracy {2:f3}, best "
                   "{3:f4} at step {4}",
                   state.step, loss, accuracy, state.bestLoss, state.bestStep)
               .str());
  return log.add(json::Object{{"step", state.step},
                              {"kind", "evaluation"},
                              {"loss", loss},
                              {"accuracy", accuracy},
                              {"best_step", state.bestStep}});
}

Expected<bool> Training::shouldStop() {
  double asked[] = {
      stop || (options.stopAfter > 0 && state.step >= options.stopAfter) ? 1.0
                                                                         : 0.0};
  if (Error error = model.sum(asked))
    return error;
  return asked[0] > 0;
}

EncoderTrainingResult Training::finish(End end, std::string message) const {
  return {end,
          state.step,
          state.bestStep,
          state.bestLoss,
          state.bestAccuracy,
          std::move(message)};
}

Expected<EncoderTrainingResult> Training::run() {
  if (sampler.getNumBatches() == 0 || validationSampler.getNumBatches() == 0)
    return finish(
        End::NothingToLearn,
        std::string("there is one text ") +
            (sampler.getNumBatches() == 0 ? "to train on" : "for validation") +
            " only: it has no negatives");
  if (Error error = load())
    return error;
  Expected<MetricsLog> opened = MetricsLog::open(
      options.rank == 0 ? getPath("metrics.jsonl") : "", state.step);
  if (!opened)
    return opened.takeError();
  log = std::move(*opened);

  auto isTime = [&](int64_t every) {
    return state.step == options.steps ||
           (every > 0 && state.step % every == 0);
  };
  auto isEarly = [&] {
    return options.patience > 0 && state.worse >= options.patience;
  };
  while (state.step < options.steps && !isEarly()) {
    Expected<bool> stops = shouldStop();
    if (!stops)
      return stops.takeError();
    if (*stops) {
      if (savedStep != state.step)
        if (Error error = saveCheckpoint())
          return error;
      return finish(End::Interrupted);
    }
    const int64_t step = state.step + 1;
    ContrastiveViews batch = views.make(sampler.getBatch(state.step), step);
    CwmStepOptions stepOptions = options.step;
    stepOptions.learningRate = getLearningRate(step);
    Expected<CwmStepResult> result = model.step(batch, stepOptions, step);
    if (!result)
      return result.takeError();
    if (!result->finite) {
      std::string what = std::isfinite(result->loss) ? "gradient" : "loss";
      return finish(End::Diverged,
                    "the " + what + " of step " + std::to_string(step) +
                        " is not a number" +
                        (savedStep > 0
                             ? "; '" + getPath(checkpointName) +
                                   "' has the state of step " +
                                   std::to_string(savedStep)
                             : std::string("; there is no checkpoint yet")));
    }
    state.step = step;
    if (Error error =
            log.add(json::Object{{"step", step},
                                 {"kind", "step"},
                                 {"loss", result->loss},
                                 {"accuracy", result->accuracy},
                                 {"gradient_norm", result->gradientNorm},
                                 {"learning_rate", stepOptions.learningRate}}))
      return error;
    if (isTime(options.evaluateEvery))
      if (Error error = evaluate())
        return error;
    if (isTime(options.checkpointEvery) || isEarly())
      if (Error error = saveCheckpoint())
        return error;
  }
  return finish(state.step < options.steps ? End::EarlyStop : End::Done);
}

Expected<EncoderTrainingResult>
trainEncoder(ContrastiveModel &model, const EncoderData &training,
             const EncoderData &validation, const Tokenizer &tokenizer,
             const EncoderConfig &config, const EncoderTrainingOptions &options,
             const std::atomic<bool> &stop,
             function_ref<void(const Twine &)> progress) {
  return Training(model, training, validation, tokenizer, config, options, stop,
                  progress)
      .run();
}

} // namespace cwm
