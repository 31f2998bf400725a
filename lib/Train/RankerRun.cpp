//===- RankerRun.cpp - The stage that trains the ranker ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankerRun.h"

#include "StoredEncoder.h"

#include "cwm/Model/Features.h"
#include "cwm/Model/Ranker.h"
#include "cwm/Support/CommandLine.h"
#include "cwm/Support/WriteFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cwm {

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

Error validate(const RankerTrainingOptions &options) {
  if (Error error = checkFlagRanges(
          {{"trees", options.trees, 1, 100000},
           {"depth", options.depth, 1, 20},
           {"pairs", options.pairs, 1, 100000},
           {"patience", options.patience, 0, 100000},
           {"threads", options.threads, 1, 1024},
           {"checkpoint-every", options.checkpointEvery, 1, 100000}}))
    return error;
  if (Error error =
          checkRealFlags({{"learning-rate", options.learningRate, 1e-6, 1},
                          {"row-share", options.rowShare, 0.01, 1},
                          {"column-share", options.columnShare, 0.01, 1},
                          {"min-child-weight", options.minChildWeight, 0, 1e6},
                          {"lambda", options.lambda, 0, 1e6},
                          {"validation", options.validation, 0, 0.9}}))
    return error;
  return checkFlagName("objective", options.inputs.objective,
                       {"rank:ndcg", "rank:pairwise", "reg:squarederror"});
}

Error RankerRunOptions::validate() {
  if (Error error = checkFlagName("state", state, getRankerStateNames()))
    return error;
  if (Error error = checkFlagName("actions", actions, {"on", "off"}))
    return error;
  training.inputs.state = *symbolizeRankerState(state);
  training.inputs.actions = actions == "on";
  if (training.inputs.state == RankerState::None && !training.inputs.actions)
    return makeFlagError("--state=none --actions=off leaves the ranker nothing "
                         "to see");
  return cwm::validate(training);
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

Error RankerData::open(StringRef path) {
  Expected<std::unique_ptr<Database>> opened = Database::openToRead(path);
  if (!opened)
    return opened.takeError();
  database = std::move(*opened);
  return Error::success();
}

Error RankerData::read(const Split &split, StringRef measuredOn,
                       bool withFinalStates) {
  Expected<Dataset> dataset =
      Dataset::load(*database, split, DatasetPart::Training);
  if (!dataset)
    return dataset.takeError();
  target = measuredOn.str();
  Expected<std::vector<RankingTask>> loaded =
      loadRankingTasks(*database, *dataset, target, withFinalStates);
  if (!loaded)
    return loaded.takeError();
  tasks = std::move(*loaded);
  return Error::success();
}

size_t RankerData::countCandidates() const {
  size_t count = 0;
  for (const RankingTask &task : tasks)
    count += task.candidates.size();
  return count;
}

Expected<LatentModel> openLatentModel(const ModelDirectory &model,
                                      bool withTransition, StringRef latents,
                                      StringRef workDir,
                                      function_ref<void(const Twine &)> note) {
  std::optional<Transition> transition;
  if (withTransition) {
    Expected<Transition> loaded = Transition::load(model);
    if (!loaded)
      return loaded.takeError();
    transition = std::move(*loaded);
  }
  Expected<std::unique_ptr<Encoder>> encoder = StoredEncoder::open(
      model, latents.empty() ? joinPath(workDir, "latents.bin") : latents.str(),
      note);
  if (!encoder)
    return encoder.takeError();
  return LatentModel(std::move(*encoder), std::move(transition));
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

namespace {
class RankerRun {
public:
  explicit RankerRun(RankerRunOptions &options) : options(options) {}
  TrainExit run();

private:
  Error loadModel();
  Error checkOldRanker();
  Error openLatents();
  Error writeModel(const RankerTrainingResult &result);
  RankerState getState() const { return options.training.inputs.state; }

  RankerRunOptions &options;
  StopFlag stop;
  std::optional<ModelDirectory> model;
  std::optional<LatentModel> latents;
  RankerData data;
};
} // namespace

static void say(const Twine &line) { errs() << "cwm-train: " << line << "\n"; }

Error RankerRun::checkOldRanker() {
  if (options.replace || !model || !model->has(ModelDirectory::rankerFile))
    return Error::success();
  const json::Object *old = model->getConfig().training.getObject("ranker");
  // The same command again goes on, or finds everything done.
  if (old &&
      old->getString("options") == StringRef(options.training.getFingerprint()))
    return Error::success();
  return createStringError("'" + options.model +
                           "' has a ranker that was trained otherwise: give "
                           "another folder, or --replace");
}

Error RankerRun::loadModel() {
  // Without latent states there may be no model yet.
  if (getState() == RankerState::None &&
      !sys::fs::exists(joinPath(options.model, ModelDirectory::configFile)))
    return Error::success();
  Expected<ModelDirectory> loaded = ModelDirectory::load(options.model);
  if (!loaded)
    return loaded.takeError();
  model.emplace(std::move(*loaded));
  return checkOldRanker();
}

Error RankerRun::openLatents() {
  if (getState() == RankerState::None)
    return Error::success();
  Expected<LatentModel> opened =
      openLatentModel(*model, getState() == RankerState::RollOut,
                      options.latents, options.workDir, say);
  if (!opened)
    return opened.takeError();
  latents.emplace(std::move(*opened));
  return Error::success();
}

Error RankerRun::writeModel(const RankerTrainingResult &result) {
  if (Error error = makeFolder(options.model))
    return error;
  Expected<std::string> trees = result.booster->serialize();
  if (!trees)
    return trees.takeError();
  ModelConfig config;
  if (model)
    config = model->getConfig();
  else
    config.target = StringRef(data.target).split(':').first.str();
  config.toolchain = getToolchainVersion();
  config.featureVersion = featureVersion;
  config.ranker = result.inputs;
  config.training["ranker"] = json::Object{
      {"options", options.training.getFingerprint()},
      {"seed", static_cast<int64_t>(options.training.seed)},
      {"trees", result.bestTree},
      {"validation_ndcg", result.bestNDCG},
      {"workloads", static_cast<int64_t>(result.trainingTasks)},
      {"validation_workloads", static_cast<int64_t>(result.validationTasks)},
      {"candidates", static_cast<int64_t>(data.countCandidates())},
      {"measured_on", data.target},
      {"leave_out_networks", json::Array(options.splitOptions.networks)},
      {"leave_out_families", json::Array(options.splitOptions.families)},
      {"leave_out_shapes",
       static_cast<int64_t>(options.splitOptions.shapesOneIn)}};
  if (Error error = writeFile(
          joinPath(options.model, ModelDirectory::rankerFile), *trees))
    return error;
  return ModelDirectory::write(options.model, config);
}

TrainExit RankerRun::run() {
  if (Error error = loadModel())
    return reportTrainError(std::move(error));
  InterruptScope interrupts("cwm-train: interrupted; the same command goes "
                            "on\n");
  if (Error error = data.open(options.database))
    return reportTrainError(std::move(error));
  if (Error error = data.read(*options.split, options.target,
                              getState() == RankerState::Final))
    return reportTrainError(std::move(error), TrainExit::NoResult);
  if (model && !isTargetOf(model->getConfig().target, data.target))
    return reportTrainError(
        createStringError("'" + options.model + "' is for the target '" +
                          model->getConfig().target +
                          "', the measurements are of '" + data.target + "'"));
  if (Error error = makeFolder(options.workDir))
    return reportTrainError(std::move(error));
  if (Error error = openLatents())
    return reportTrainError(std::move(error));
  say(Twine(data.countCandidates()) + " measured candidates of " +
      Twine(data.tasks.size()) + " workloads");
  interrupts.setWork(stop);
  RankingStates states;
  states.add(getState());
  Expected<std::vector<RankingInputs>> inputs =
      computeRankingInputs(data.tasks, latents ? &*latents : nullptr, states);
  if (!inputs)
    return reportTrainError(inputs.takeError());
  options.training.folder = options.workDir;
  Expected<RankerTrainingResult> result =
      trainRanker(data.tasks, *inputs, latents ? latents->getDim() : 0,
                  options.training, stop.flag, say);
  if (!result)
    return reportTrainError(result.takeError());
  using End = RankerTrainingResult::End;
  if (result->end == End::NothingToLearn)
    return reportTrainError(createStringError(result->message),
                            TrainExit::NoResult);
  if (result->end == End::Interrupted) {
    say("interrupted after tree " + Twine(result->lastTree) +
        "; the same command goes on");
    return TrainExit::Interrupted;
  }
  if (Error error = writeModel(*result))
    return reportTrainError(std::move(error));
  say(formatv("wrote '{0}': {1} of {2} trees, NDCG@10 {3:f4} on {4} validation "
              "workloads",
              options.model, result->bestTree, result->lastTree,
              result->bestNDCG, result->validationTasks)
          .str());
  return TrainExit::Done;
}

TrainExit runRanker(RankerRunOptions options) {
  return RankerRun(options).run();
}

} // namespace cwm
