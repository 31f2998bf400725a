//===- TransitionRun.cpp - One run of cwm-train transition ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransitionRun.h"

#include "EncodeTexts.h"
#include "StageFlags.h"

#include "cwm/Model/TorchEncoder.h"
#include "cwm/Support/CommandLine.h"
#include "cwm/Support/WriteFile.h"
#include "cwm/Trajectory/StateText.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;

namespace cwm {

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

Error TransitionRunOptions::validate() const {
  const RolloutSampler::Options &batches = training.batches;
  if (Error error = checkFlagRanges(
          {{"action-dim", actionDim, 1, 8192},
           {"hidden", hidden, 0, 65536},
           {"batch-windows", batches.windows, 1, 65536},
           {"window-steps", batches.windowSteps, 1, 4096},
           {"window-stride", batches.stride, 1, 4096},
           {"batch-whole", batches.whole, 1, 65536},
           {"negatives", batches.sameWorkload, 0, 4096},
           {"other-negatives", batches.otherWorkload, 0, 4096}}))
    return error;
  if (Error error = cwm::validate(training, training.step.adam))
    return error;
  if (training.steps == 0)
    return makeFlagError("--steps=0: must be at least 1");
  if (Error error = checkRealFlags(
          {{"whole", batches.wholeShare, 0, 1},
           {"final-weight", batches.finalWeight, 0, 1e6},
           {"margin", training.step.sameMargin, 0, 2},
           {"other-margin", training.step.otherMargin, 0, 2},
           {"margin-weight", training.step.sameWeight, 0, 1e6},
           {"other-margin-weight", training.step.otherWeight, 0, 1e6},
           {"validation", validation, 0, 0.9}}))
    return error;
  return processes.validate();
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

namespace {
class TransitionRun {
public:
  explicit TransitionRun(TransitionRunOptions &options) : options(options) {}
  TrainExit run();

private:
  Error loadModel();
  Error openDatabase();
  Error loadData();
  /// False when it was interrupted.
  Expected<bool> encode();
  Error train(TrainingResult &result);
  Error measure();
  Error writeModel(const TrainingResult &result);
  std::string getFingerprint() const;
  bool isFirst() const { return options.processes.isFirst(); }
  void say(const Twine &line) const {
    if (isFirst())
      errs() << "cwm-train: " << line << "\n";
  }

  TransitionRunOptions &options;
  StopFlag stop;
  const TorchLibrary *library = nullptr;
  std::optional<ModelDirectory> model;
  std::string encoderIdentity, digest;
  std::unique_ptr<Database> database;
  std::optional<Dataset> dataset, training, validation;
  LatentTrajectories trainingLatents, validationLatents;
  std::vector<RolloutReport> reports;
};
} // namespace

Error TransitionRun::loadModel() {
  Expected<ModelDirectory> loaded = ModelDirectory::load(options.model);
  if (!loaded)
    return loaded.takeError();
  model.emplace(std::move(*loaded));
  Expected<std::string> identity = getEncoderIdentity(*model);
  if (!identity)
    return identity.takeError();
  encoderIdentity = std::move(*identity);
  if (sys::fs::exists(joinPath(options.model, ModelDirectory::rankerFile)))
    return createStringError("'" + options.model + "' has a " +
                             ModelDirectory::rankerFile +
                             ", which was trained with another transition: "
                             "give another folder, or remove it");
  return Error::success();
}

Error TransitionRun::openDatabase() {
  // Without the lock: several ranks read the same file.
  Expected<std::unique_ptr<Database>> opened =
      Database::openToRead(options.database);
  if (!opened)
    return opened.takeError();
  database = std::move(*opened);
  return Error::success();
}

Error TransitionRun::loadData() {
  Expected<Dataset> loaded =
      Dataset::load(*database, *options.split, DatasetPart::Training);
  if (!loaded)
    return loaded.takeError();
  dataset.emplace(std::move(*loaded));
  digest = getDigest(*dataset);
  Expected<std::pair<Dataset, Dataset>> parts =
      splitValidation(*dataset, options.validation, options.seed);
  if (!parts)
    return parts.takeError();
  training.emplace(std::move(parts->first));
  validation.emplace(std::move(parts->second));
  say(Twine(training->getTrajectories().size()) + " trajectories of " +
      Twine(training->getWorkloads().size()) + " workloads to train on, " +
      Twine(validation->getTrajectories().size()) + " of " +
      Twine(validation->getWorkloads().size()) + " for validation; " +
      Twine(dataset->getNumStates()) + " states, " +
      Twine(dataset->getActions().size()) + " actions");
  return Error::success();
}

Expected<bool> TransitionRun::encode() {
  std::string path = options.latents.empty()
                         ? joinPath(options.workDir, "latents.bin")
                         : options.latents;
  Expected<LatentStore> store = LatentStore::open(
      isFirst() ? path : "", encoderIdentity, model->getConfig().dim,
      [&](const Twine &line) { say(line); });
  if (!store)
    return store.takeError();
  Expected<bool> done =
      encodeTexts(*dataset, *model, *store, options.processes, stop,
                  [&](const Twine &line) { say(line); });
  if (!done || !*done)
    return done;
  for (auto [part, latents] : {std::pair(&*training, &trainingLatents),
                               std::pair(&*validation, &validationLatents)}) {
    Expected<LatentTrajectories> made = makeLatentTrajectories(*part, *store);
    if (!made)
      return made.takeError();
    *latents = std::move(*made);
  }
  return true;
}

std::string TransitionRun::getFingerprint() const {
  const TransitionTrainingOptions &training = options.training;
  const RolloutSampler::Options &batches = training.batches;
  std::string text;
  raw_string_ostream os(text);
  for (int64_t value :
       {options.actionDim, options.hidden, training.steps, training.warmupSteps,
        training.evaluateEvery, training.patience, training.evaluationBatches,
        batches.windows, batches.windowSteps, batches.stride, batches.whole,
        batches.sameWorkload, batches.otherWorkload,
        static_cast<int64_t>(options.seed)})
    os << value << ' ';
  for (double value :
       {training.step.sameMargin, training.step.otherMargin,
        training.step.sameWeight, training.step.otherWeight,
        training.step.adam.learningRate, training.step.adam.weightDecay,
        batches.wholeShare, batches.finalWeight, options.validation})
    os << formatv("{0:e17} ", value);
  os << encoderIdentity << ' ' << digest;
  return hashText(text);
}

Error TransitionRun::train(TrainingResult &result) {
  options.training.folder = options.workDir;
  options.training.fingerprint = getFingerprint();
  CwmTransitionShape shape = {};
  shape.dim = shape.encoding = model->getConfig().dim;
  shape.action = options.actionDim;
  shape.hidden = options.hidden;
  Expected<std::unique_ptr<TransitionModel>> network =
      makeTransitionModel(*library, shape, options.seed);
  if (!network)
    return network.takeError();
  Expected<TrainingResult> outcome = trainTransition(
      **network, *training, trainingLatents, *validation, validationLatents,
      options.training, stop.flag, [&](const Twine &line) { say(line); });
  if (!outcome)
    return outcome.takeError();
  result = std::move(*outcome);
  return Error::success();
}

Error TransitionRun::measure() {
  Expected<SafeTensors> best =
      SafeTensors::open(joinPath(options.workDir, "best.safetensors"));
  if (!best)
    return best.takeError();
  Expected<Transition> transition = Transition::load(*best);
  if (!transition)
    return transition.takeError();
  for (const std::unique_ptr<RolloutPredictor> &predictor :
       {makeTransitionPredictor(*transition), makeIdentityPredictor(),
        makeMeanDeltaPredictor(trainingLatents),
        makeLinearPredictor(trainingLatents)})
    reports.push_back(measureRollouts(validationLatents, *predictor));
  return writeFile(
      joinPath(options.workDir, "rollout.json"),
      formatv("{0:2}\n", toJSON(reports, validationLatents)).str());
}

/// What config.json remembers of a report.
static json::Object summarize(const RolloutReport &report) {
  auto toNumber = [](double value) {
    return std::isnan(value) ? json::Value(nullptr) : json::Value(value);
  };
  return json::Object{{"final_cosine", toNumber(report.getFinalCosine())},
                      {"retrieval_1", toNumber(report.getRetrieval(1))},
                      {"retrieval_5", toNumber(report.getRetrieval(5))}};
}

Error TransitionRun::writeModel(const TrainingResult &result) {
  Expected<SafeTensors> best =
      SafeTensors::open(joinPath(options.workDir, "best.safetensors"));
  if (!best)
    return best.takeError();
  TensorsToWrite file;
  for (const auto &[name, tensor] : best->getTensors())
    file.tensors[name] = tensor;
  if (Error error = writeSafeTensors(
          joinPath(options.model, ModelDirectory::transitionFile), file))
    return error;
  ModelConfig config = model->getConfig();
  config.training["transition"] = json::Object{
      {"seed", static_cast<int64_t>(options.seed)},
      {"steps", result.lastStep},
      {"best_step", result.bestStep},
      {"validation_loss", result.bestLoss},
      {"validation_accuracy", result.bestAccuracy},
      {"validation_rollouts", summarize(reports.front())},
      {"leave_out_networks", json::Array(options.splitOptions.networks)},
      {"leave_out_families", json::Array(options.splitOptions.families)},
      {"leave_out_shapes",
       static_cast<int64_t>(options.splitOptions.shapesOneIn)}};
  return ModelDirectory::write(options.model, config);
}

TrainExit TransitionRun::run() {
  if (Error error = options.validate())
    return reportTrainError(std::move(error));
  if (Error error = loadModel())
    return reportTrainError(std::move(error));
  InterruptScope interrupts("cwm-train: interrupted; the same command goes "
                            "on\n");
  if (Error error = openDatabase())
    return reportTrainError(std::move(error));
  if (Error error = loadData())
    return reportTrainError(std::move(error), TrainExit::NoResult);
  if (Error error = makeFolder(options.workDir))
    return reportTrainError(std::move(error));
  Expected<const TorchLibrary *> opened = TorchLibrary::get();
  if (!opened)
    return reportTrainError(opened.takeError());
  library = *opened;
  if (Error error = options.processes.join(*library))
    return reportTrainError(std::move(error));
  interrupts.setWork(stop);
  Expected<bool> encoded = encode();
  if (!encoded)
    return reportTrainError(encoded.takeError());
  if (!*encoded) {
    errs() << "cwm-train: interrupted while encoding; the same command goes "
              "on\n";
    return TrainExit::Interrupted;
  }
  TrainingResult result;
  if (Error error = train(result))
    return reportTrainError(std::move(error));
  if (result.end == TrainingResult::End::Diverged ||
      result.end == TrainingResult::End::NothingToLearn)
    return reportTrainError(createStringError(result.message),
                            TrainExit::NoResult);
  if (result.end == TrainingResult::End::Interrupted) {
    errs() << "cwm-train: interrupted after step " << result.lastStep
           << "; the same command goes on\n";
    return TrainExit::Interrupted;
  }
  if (!isFirst())
    return TrainExit::Done;
  if (Error error = measure())
    return reportTrainError(std::move(error));
  if (Error error = writeModel(result))
    return reportTrainError(std::move(error));
  errs() << formatRollouts(reports)
         << formatv("cwm-train: wrote '{0}': step {1} of {2}, validation loss "
                    "{3:f4}, accuracy {4:f3}\n",
                    options.model, result.bestStep, result.lastStep,
                    result.bestLoss, result.bestAccuracy);
  return TrainExit::Done;
}

TrainExit runTransition(TransitionRunOptions options) {
  return TransitionRun(options).run();
}

} // namespace cwm
