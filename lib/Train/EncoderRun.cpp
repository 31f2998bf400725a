//===- EncoderRun.cpp - One run of cwm-train encoder ---------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncoderRun.h"
#include "StageFlags.h"

#include "cwm/Database/Database.h"
#include "cwm/Dataset/Workloads.h"
#include "cwm/Model/RobertaImport.h"
#include "cwm/Support/CommandLine.h"
#include "cwm/Support/Interrupt.h"
#include "cwm/Support/ReadFile.h"
#include "cwm/Support/WriteFile.h"
#include "cwm/Trajectory/StateText.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <atomic>
#include <cmath>

using namespace llvm;

namespace cwm {

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

Error EncoderRunOptions::validate() const {
  if (Error error = checkFlagRanges({
          {"layers", network.numLayers, 1, 64},
          {"hidden", network.hiddenSize, 1, 8192},
          {"heads", network.numHeads, 1, 128},
          {"intermediate", network.intermediateSize, 1, 65536},
          {"dim", dim, 1, 8192},
          {"window", network.windowTokens, 4, 1024},
          {"batch-files", training.batches.files, 1, 65536},
          {"batch-texts", training.batches.textsPerFile, 1, 65536},
          {"max-windows", training.views.maxWindows, 1, 65536},
      }))
    return error;
  if (Error error = cwm::validate(training, training.step.adam))
    return error;
  if (Error error = checkRealFlags({
          {"dropout", training.step.dropout, 0, 0.9},
          {"temperature", training.step.temperature, 0.001, 100},
          {"intra-weight", training.step.intraWeight, 0, 1e6},
          {"inter-weight", training.step.interWeight, 0, 1e6},
          {"rewrites", training.views.rewriteShare, 0, 1},
          {"validation", validation, 0, 0.9},
      }))
    return error;
  if (network.hiddenSize % network.numHeads != 0)
    return makeFlagError("--hidden=" + Twine(network.hiddenSize) +
                         ": must be a multiple of --heads, " +
                         Twine(network.numHeads));
  if (hasSizes && !initFrom.empty())
    return makeFlagError("--init-from sets the sizes of the network: give no "
                         "--layers, --hidden, --heads or --intermediate");
  if (tokenizer.empty() && initFrom.empty())
    return makeFlagError("--tokenizer=<file> or --init-from=<folder> is "
                         "needed");
  if (texts.empty() && training.steps > 0)
    return makeFlagError("a file of texts is needed to train on (--steps=0 "
                         "trains nothing)");
  return processes.validate();
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

namespace {
class EncoderRun {
public:
  explicit EncoderRun(EncoderRunOptions &options) : options(options) {}
  TrainExit run();

private:
  Error checkModel();
  Error checkHeldOut() const;
  Error loadNetwork();
  Error train(EncoderData &validation, TrainingResult &result);
  Error writeModel(const TrainingResult &result);
  std::string getFingerprint() const;
  bool isFirst() const { return options.processes.isFirst(); }

  EncoderRunOptions &options;
  std::string tokenizerText;
  std::optional<Tokenizer> tokenizer;
  std::optional<TorchEncoder> network;
  EncoderData data;
};
} // namespace

Error EncoderRun::checkModel() {
  for (StringRef name : {StringRef(ModelDirectory::transitionFile),
                         StringRef(ModelDirectory::rankerFile)})
    if (sys::fs::exists(joinPath(options.model, name)))
      return createStringError(
          "'" + options.model + "' has a " + name +
          ", which was trained with another encoder: give another folder, or "
          "remove it");
  return Error::success();
}

/// Whoever wrote the texts has asked the split already; a file of another
/// origin has not.
Error EncoderRun::checkHeldOut() const {
  Expected<WorkloadTable> table = WorkloadTable::load(options.workloads);
  if (!table)
    return table.takeError();
  Expected<Split> split = Split::create(*table, SplitOptions());
  if (!split)
    return split.takeError();
  for (const EncoderFile &file : data.files)
    if (split->isInHeldOutNetwork(file.workload))
      return createStringError("'" + options.texts +
                               "' has texts of workload '" + file.workload +
                               "', which is held out of all training");
  return Error::success();
}

Error EncoderRun::loadNetwork() {
  if (options.initFrom.empty() || !options.tokenizer.empty()) {
    Expected<std::unique_ptr<MemoryBuffer>> buffer =
        readInput(options.tokenizer);
    if (!buffer)
      return buffer.takeError();
    tokenizerText = (*buffer)->getBuffer().str();
  } else {
    Expected<std::string> text = readRobertaTokenizer(options.initFrom);
    if (!text)
      return text.takeError();
    tokenizerText = std::move(*text);
  }
  Expected<Tokenizer> parsed = Tokenizer::parse(tokenizerText);
  if (!parsed)
    return createStringError(
        "cannot read tokenizer '" +
        (options.tokenizer.empty() ? options.initFrom : options.tokenizer) +
        "': " + toString(parsed.takeError()));
  tokenizer = std::move(*parsed);

  EncoderConfig config = options.network;
  const auto words = static_cast<int64_t>(tokenizer->getVocabularySize());
  std::optional<SafeTensors> weights;
  if (options.initFrom.empty()) {
    config.vocabSize = words;
    config.maxPositions = config.windowTokens + config.padTokenId + 1;
  } else {
    Expected<EncoderConfig> imported =
        readRobertaConfig(joinPath(options.initFrom, "config.json"));
    if (!imported)
      return imported.takeError();
    config = *imported;
    if (options.hasWindow) {
      config.windowTokens =
          std::min(config.windowTokens, options.network.windowTokens);
      config.windowStride = config.windowTokens / 2;
    }
    if (words != config.vocabSize)
      return createStringError("the tokenizer has " + Twine(words) +
                               " tokens, the encoder of '" + options.initFrom +
                               "' has " + Twine(config.vocabSize));
    Expected<SafeTensors> file =
        SafeTensors::open(joinPath(options.initFrom, "model.safetensors"));
    if (!file)
      return file.takeError();
    weights = std::move(*file);
  }
  Expected<TorchEncoder> made =
      TorchEncoder::create(config, options.dim, options.seed);
  if (!made)
    return made.takeError();
  network.emplace(std::move(*made));
  if (weights)
    if (Error error = network->loadWeights(*weights, /*isImport=*/true))
      return error;
  return options.processes.join(network->getLibrary());
}

std::string EncoderRun::getFingerprint() const {
  const EncoderTrainingOptions &training = options.training;
  const EncoderConfig &config = network->getConfig();
  std::string text;
  raw_string_ostream os(text);
  for (int64_t value :
       {config.vocabSize, config.hiddenSize, config.numLayers, config.numHeads,
        config.intermediateSize, config.maxPositions, config.windowTokens,
        config.windowStride, options.dim, training.steps, training.warmupSteps,
        training.batches.files, training.batches.textsPerFile,
        training.views.maxWindows, training.evaluateEvery, training.patience,
        training.evaluationBatches, static_cast<int64_t>(options.seed)})
    os << value << ' ';
  for (double value :
       {training.step.temperature, training.step.intraWeight,
        training.step.interWeight, training.step.adam.learningRate,
        training.step.adam.weightDecay, training.step.dropout,
        training.views.rewriteShare, options.validation})
    os << formatv("{0:e17} ", value);
  os << options.initFrom << ' ' << hashText(tokenizerText) << ' '
     << options.dataDigest;
  return hashText(text);
}

Error EncoderRun::train(EncoderData &validation, TrainingResult &result) {
  EncoderTrainingOptions &training = options.training;
  training.folder = options.workDir;
  auto say = [&](const Twine &line) {
    if (isFirst())
      errs() << "cwm-train: " << line << "\n";
  };
  say(Twine(data.getNumTexts()) + " texts of " + Twine(data.files.size()) +
      " files to train on, " + Twine(validation.getNumTexts()) + " of " +
      Twine(validation.files.size()) + " for validation");
  Expected<std::unique_ptr<ContrastiveModel>> model = makeTorchModel(*network);
  if (!model)
    return model.takeError();
  StopFlag stop;
  InterruptScope interrupts("cwm-train: interrupted; the same command goes "
                            "on\n");
  interrupts.setWork(stop);
  Expected<TrainingResult> outcome =
      trainEncoder(**model, data, validation, *tokenizer, network->getConfig(),
                   training, stop.flag, say);
  if (!outcome)
    return outcome.takeError();
  result = std::move(*outcome);
  return Error::success();
}

Error EncoderRun::writeModel(const TrainingResult &result) {
  // The best weights are in a file; without training the network's count.
  if (options.training.steps > 0) {
    Expected<SafeTensors> best =
        SafeTensors::open(joinPath(options.workDir, "best.safetensors"));
    if (!best)
      return best.takeError();
    if (Error error = network->loadWeights(*best))
      return error;
  }
  Expected<std::map<std::string, TensorView>> weights = network->getWeights();
  if (!weights)
    return weights.takeError();
  TensorsToWrite file{std::move(*weights), {}};
  if (Error error = writeSafeTensors(
          joinPath(options.model, ModelDirectory::encoderFile), file))
    return error;
  if (Error error =
          writeFile(joinPath(options.model, ModelDirectory::tokenizerFile),
                    tokenizerText))
    return error;
  ModelConfig config;
  config.target = options.target;
  config.toolchain = getToolchainVersion();
  config.dim = network->getDim();
  config.encoder = network->getConfig();
  json::Object record{{"seed", static_cast<int64_t>(options.seed)},
                      {"steps", result.lastStep}};
  if (options.training.steps > 0) {
    record["best_step"] = result.bestStep;
    record["validation_loss"] = result.bestLoss;
    record["validation_accuracy"] = result.bestAccuracy;
  }
  if (!options.initFrom.empty())
    record["initialised_from"] = sys::path::filename(options.initFrom);
  config.training["encoder"] = std::move(record);
  return ModelDirectory::write(options.model, config);
}

TrainExit EncoderRun::run() {
  if (Error error = options.validate())
    return reportTrainError(std::move(error));
  if (Error error = checkModel())
    return reportTrainError(std::move(error));
  const bool trains = options.training.steps > 0;
  EncoderData validation;
  if (trains) {
    Expected<EncoderData> read = EncoderData::read(options.texts);
    if (!read)
      return reportTrainError(read.takeError());
    data = std::move(*read);
    options.dataDigest = data.getDigest();
    if (Error error = checkHeldOut())
      return reportTrainError(std::move(error));
    if (data.files.empty())
      return reportTrainError(createStringError("'" + options.texts +
                                                "' has no texts to learn from"),
                              TrainExit::NoResult);
    Expected<EncoderData> kept =
        data.splitValidation(options.validation, options.seed);
    if (!kept)
      return reportTrainError(kept.takeError(), TrainExit::NoResult);
    validation = std::move(*kept);
  }
  if (Error error = loadNetwork())
    return reportTrainError(std::move(error));
  for (const std::string &folder : {options.model, options.workDir})
    if (Error error = makeFolder(folder))
      return reportTrainError(std::move(error));
  TrainingResult result;
  if (trains) {
    options.training.fingerprint = getFingerprint();
    if (Error error = train(validation, result))
      return reportTrainError(std::move(error));
  }
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
  if (Error error = writeModel(result))
    return reportTrainError(std::move(error));
  errs() << "cwm-train: wrote '" << options.model << "'";
  if (trains)
    errs() << formatv(": step {0} of {1}, validation loss {2:f4}, accuracy "
                      "{3:f3}",
                      result.bestStep, result.lastStep, result.bestLoss,
                      result.bestAccuracy);
  errs() << "\n";
  return TrainExit::Done;
}

TrainExit runEncoder(EncoderRunOptions options) {
  return EncoderRun(options).run();
}

} // namespace cwm
