//===- TrainingLoop.cpp - Steps, evaluations, checkpoints -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/TrainingLoop.h"

#include "cwm/Model/TorchEncoder.h"
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

class Loop {
public:
  Loop(LoopTask &task, const LoopOptions &options, double peak,
       const std::atomic<bool> &stop,
       function_ref<void(const Twine &)> progress)
      : task(task), options(options), peak(peak), stop(stop),
        progress(progress) {}

  Expected<TrainingResult> run();

private:
  using End = TrainingResult::End;

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
  TrainingResult finish(End end, std::string message = "") const;

  LoopTask &task;
  const LoopOptions &options;
  double peak;
  const std::atomic<bool> &stop;
  function_ref<void(const Twine &)> progress;
  MetricsLog log;
  Progress state;
  int64_t savedStep = 0;
};

} // namespace

double Loop::getLearningRate(int64_t step) const {
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

Error Loop::saveCheckpoint() {
  savedStep = state.step;
  if (options.rank != 0)
    return Error::success();
  TensorsToWrite file;
  if (Error error = task.visit(/*all=*/true, [&](const CwmTensor &tensor) {
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

Error Loop::saveBest() {
  if (options.rank != 0)
    return Error::success();
  TensorsToWrite file;
  if (Error error = task.visit(/*all=*/false, [&](const CwmTensor &tensor) {
        file.tensors[tensor.name] = viewTensor(tensor);
      }))
    return error;
  file.metadata["cwm.step"] = std::to_string(state.step);
  return writeSafeTensors(getPath("best.safetensors"), file);
}

Error Loop::load() {
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
        "' is the checkpoint of a run with other data or options: give these "
        "again, or --resume=false to start anew");
  if (get("cwm.step").getAsInteger(10, state.step) ||
      get("cwm.best_step").getAsInteger(10, state.bestStep) ||
      get("cwm.worse").getAsInteger(10, state.worse) ||
      readDouble("cwm.best_loss", state.bestLoss) ||
      readDouble("cwm.best_accuracy", state.bestAccuracy))
    return createStringError("'" + path +
                             "' does not say at which step it was made");
  Error failure = Error::success();
  if (Error error = task.visit(/*all=*/true, [&](const CwmTensor &tensor) {
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

Error Loop::evaluate() {
  Expected<CwmStepResult> result = task.evaluate();
  if (!result)
    return result.takeError();
  ++state.worse;
  if (result->loss < state.bestLoss) {
    state.bestLoss = result->loss;
    state.bestAccuracy = result->accuracy;
    state.bestStep = state.step;
    state.worse = 0;
    if (Error error = saveBest())
      return error;
  }
  progress(formatv("step {0}: validation loss {1:f4}, accuracy {2:f3}, best "
                   "{3:f4} at step {4}",
                   state.step, result->loss, result->accuracy, state.bestLoss,
                   state.bestStep)
               .str());
  return log.add(json::Object{{"step", state.step},
                              {"kind", "evaluation"},
                              {"loss", result->loss},
                              {"accuracy", result->accuracy},
                              {"best_step", state.bestStep}});
}

Expected<bool> Loop::shouldStop() {
  double asked[] = {
      stop || (options.stopAfter > 0 && state.step >= options.stopAfter) ? 1.0
                                                                         : 0.0};
  if (Error error = task.sum(asked))
    return error;
  return asked[0] > 0;
}

TrainingResult Loop::finish(End end, std::string message) const {
  return {end,
          state.step,
          state.bestStep,
          state.bestLoss,
          state.bestAccuracy,
          std::move(message)};
}

Expected<TrainingResult> Loop::run() {
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
    const double rate = getLearningRate(step);
    Expected<CwmStepResult> result = task.step(step, rate);
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
                                 {"learning_rate", rate}}))
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

Expected<TrainingResult>
runTrainingLoop(LoopTask &task, const LoopOptions &options,
                double peakLearningRate, const std::atomic<bool> &stop,
                function_ref<void(const Twine &)> progress) {
  return Loop(task, options, peakLearningRate, stop, progress).run();
}

} // namespace cwm
