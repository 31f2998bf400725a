//===- EvalRun.cpp - Evaluates a model on fixed pools -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvalRun.h"

#include "EvalRollouts.h"

#include "cwm/Support/CommandLine.h"
#include "cwm/Support/WriteFile.h"
#include "cwm/Target/CPU/Hardware.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cwm {

Error EvalOptions::validate() const {
  if (Error error = checkFlagRange("seeds", seeds, 1, 1000))
    return error;
  if (Error error = checkFlagRange("trials", trials, 1, 100000))
    return error;
  if (Error error = checkFlagRange("bootstrap", bootstrap, 1, 10000000))
    return error;
  for (const std::string &method : methods)
    if (Error error = checkFlagName("methods", method, getMethodNames()))
      return error;
  return cwm::validate(training);
}

static void say(const Twine &line) { errs() << "cwm-train: " << line << "\n"; }

//===----------------------------------------------------------------------===//
// What is evaluated, and on what
//===----------------------------------------------------------------------===//

static std::vector<std::string> getTexts(const json::Object &object,
                                         StringRef key) {
  std::vector<std::string> texts;
  if (const json::Array *array = object.getArray(key))
    for (const json::Value &value : *array)
      if (std::optional<StringRef> text = value.getAsString())
        texts.push_back(text->str());
  return texts;
}

Error EvalRun::loadModel() {
  if (options.model.empty())
    return Error::success();
  Expected<ModelDirectory> loaded = ModelDirectory::load(options.model);
  if (!loaded)
    return loaded.takeError();
  model.emplace(std::move(*loaded));
  // The encoder's texts are those that `stats --texts` wrote: of what is held
  // out it refuses to learn, of the rest it keeps no record.
  std::vector<StringRef> stages;
  if (model->has(ModelDirectory::transitionFile))
    stages.push_back("transition");
  if (model->has(ModelDirectory::rankerFile) && wants("model"))
    stages.push_back("ranker");
  for (StringRef name : stages) {
    const json::Object *stage = model->getConfig().training.getObject(name);
    if (!stage)
      continue;
    SplitOptions held;
    held.networks = getTexts(*stage, "leave_out_networks");
    held.families = getTexts(*stage, "leave_out_families");
    held.shapesOneIn = static_cast<unsigned>(
        stage->getInteger("leave_out_shapes").value_or(0));
    Expected<Split> split = Split::create(*options.table, held);
    if (!split)
      return split.takeError();
    modelSplits.push_back(std::move(*split));
  }
  return Error::success();
}

Error EvalRun::addPool(StringRef path) {
  Expected<Pool> pool = readPoolFile(path);
  if (!pool)
    return pool.takeError();
  const PoolHeader &header = pool->header;
  const std::string hash = header.workload.hash;
  const bool inHeldOut = options.split->isInHeldOutNetwork(hash);
  // What saw a workload in training is not judged by it.
  auto isHeldOut = [&](const Split &split) {
    return split.isHeldOut(header.workload);
  };
  if (!isHeldOut(*options.split) || !all_of(modelSplits, isHeldOut)) {
    evaluation.notes.push_back("- Left out, as training saw it: " +
                               header.workload.file + " (" + hash + ")");
    return Error::success();
  }
  if (!seenWorkloads.insert(hash).second)
    return createStringError("pool '" + path +
                             "': another one is of the same "
                             "workload, " +
                             hash);
  targets.insert(header.target);
  toolchains.insert(header.toolchain);
  hardware = header.hardware;
  double weight = 0;
  for (const auto &[network, count] : header.networks)
    if (!inHeldOut ||
        is_contained(options.table->getHeldOutNetworks(), network))
      weight += static_cast<double>(count);
  if (options.rollouts)
    pools[inHeldOut ? 0 : 1].push_back(*pool);
  Expected<RankingTask> task = makeRankingTask(std::move(*pool));
  if (!task)
    return createStringError("pool '" + path +
                             "': " + toString(task.takeError()));
  evaluation.groups[inHeldOut ? 0 : 1].pools.push_back(tasks.size());
  evaluation.pools.push_back(makeEvaluatedPool(*task, std::max(weight, 1.0)));
  tasks.push_back(std::move(*task));
  return Error::success();
}

Error EvalRun::readPools() {
  evaluation.groups = {{"Networks that are held out", {}},
                       {"Other workloads that training did not see", {}}};
  std::vector<std::string> files;
  for (const std::string &path : options.pools) {
    if (!sys::fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    std::error_code code;
    for (sys::fs::directory_iterator it(path, code), end; it != end && !code;
         it.increment(code))
      if (StringRef(it->path()).ends_with(".pool.zst"))
        found.push_back(it->path());
    if (code)
      return createStringError("cannot read the folder '" + path +
                               "': " + code.message());
    if (found.empty())
      return createStringError("there is no *.pool.zst in '" + path + "'");
    llvm::sort(found);
    append_range(files, found);
  }
  for (const std::string &file : files)
    if (Error error = addPool(file))
      return error;
  if (tasks.empty())
    return createStringError("training saw all workloads of these pools");
  if (targets.size() > 1)
    return createStringError("the pools are of several targets: " +
                             join(targets, ", "));
  return Error::success();
}

bool EvalRun::canTrain(const Variant &variant) const {
  if (!wants(variant.name) || options.database.empty())
    return false;
  if (variant.state == RankerState::None)
    return true;
  return model && model->has(ModelDirectory::encoderFile) &&
         (variant.state != RankerState::RollOut ||
          model->has(ModelDirectory::transitionFile));
}

Error EvalRun::checkMethods() const {
  if (options.rollouts &&
      (!model || !model->has(ModelDirectory::transitionFile)))
    return makeFlagError("--rollouts needs a --model with a transition");
  for (const std::string &method : options.methods) {
    if (method == "model" &&
        (!model || !model->has(ModelDirectory::rankerFile)))
      return makeFlagError("--methods=model needs the --model of a ranker");
    for (const Variant &variant : getVariants()) {
      if (variant.name != method || canTrain(variant))
        continue;
      if (options.database.empty())
        return makeFlagError("--methods=" + method +
                             " needs --database=<file>");
      return makeFlagError(
          "--methods=" + method + " needs a --model with encoder" +
          (variant.state == RankerState::RollOut ? " and transition" : ""));
    }
  }
  return Error::success();
}

Error EvalRun::openLatents(bool withTransition) {
  Expected<LatentModel> opened = openLatentModel(
      *model, withTransition, options.latents, options.workDir, say);
  if (!opened)
    return opened.takeError();
  latents.emplace(std::move(*opened));
  return Error::success();
}

Error EvalRun::computeInputs() {
  RankingStates trained, judged;
  for (const Variant &variant : getVariants())
    if (canTrain(variant))
      trained.add(variant.state);
  judged = trained;
  if (model && model->has(ModelDirectory::rankerFile) && wants("model"))
    judged.add(model->getConfig().ranker->state);
  if (judged.any())
    if (Error error = openLatents(judged.rollOut))
      return error;
  LatentModel *states = latents ? &*latents : nullptr;
  Expected<std::vector<RankingInputs>> made =
      computeRankingInputs(tasks, states, judged);
  if (!made)
    return made.takeError();
  inputs = std::move(*made);
  if (options.database.empty())
    return Error::success();
  if (Error error = training.open(options.database))
    return error;
  if (Error error =
          training.read(*options.split, options.target, trained.final))
    return error;
  if (training.target != *targets.begin())
    say("warning: the pools are of '" + *targets.begin() +
        "', training is on measurements of '" + training.target + "'");
  say(Twine(training.countCandidates()) + " measured candidates of " +
      Twine(training.tasks.size()) + " workloads to train on, " +
      Twine(tasks.size()) + " pools");
  Expected<std::vector<RankingInputs>> rows =
      computeRankingInputs(training.tasks, states, trained);
  if (!rows)
    return rows.takeError();
  trainingInputs = std::move(*rows);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

Error EvalRun::measureRollouts() {
  if (!options.rollouts)
    return Error::success();
  Expected<Transition> transition = Transition::load(*model);
  if (!transition)
    return transition.takeError();
  if (!latents)
    if (Error error = openLatents(/*withTransition=*/false))
      return error;
  std::vector<std::unique_ptr<RolloutPredictor>> predictors;
  predictors.push_back(makeTransitionPredictor(*transition));
  predictors.push_back(makeIdentityPredictor());
  LatentTrajectories seen;
  if (!options.database.empty()) {
    Expected<Dataset> dataset = Dataset::load(
        *training.database, *options.split, DatasetPart::Training);
    if (!dataset)
      return dataset.takeError();
    Expected<LatentTrajectories> encoded =
        encodeDataset(*dataset, latents->getEncoder());
    if (!encoded)
      return encoded.takeError();
    seen = std::move(*encoded);
    predictors.push_back(makeMeanDeltaPredictor(seen));
    predictors.push_back(makeLinearPredictor(seen));
  }
  for (const auto &[group, part] : zip(evaluation.groups, pools)) {
    if (part.empty())
      continue;
    Expected<LatentTrajectories> data =
        encodePools(part, latents->getEncoder());
    if (!data)
      return data.takeError();
    std::vector<RolloutReport> reports;
    reports.reserve(predictors.size());
    for (const std::unique_ptr<RolloutPredictor> &predictor : predictors)
      reports.push_back(cwm::measureRollouts(*data, *predictor));
    evaluation.rollouts +=
        group.name + ":\n\n```\n" + formatRollouts(reports) + "```\n\n";
  }
  return Error::success();
}

void EvalRun::fillHead() {
  auto add = [&](StringRef key, const Twine &value) {
    evaluation.head.emplace_back(key.str(), value.str());
  };
  add("command", "`" + options.command + "`");
  if (!options.commit.empty())
    add("commit", options.commit);
  add("toolchain",
      getToolchainVersion() + "; of the pools: " + join(toolchains, ", "));
  add("machine of the pools", *targets.begin());
  if (Expected<HardwareDescription> machine =
          HardwareDescription::fromJSON(hardware))
    add("hardware", machine->cpu + ", " + Twine(machine->numCores) +
                        " cores, " + Twine(machine->vectorBits) +
                        "-bit vectors, " +
                        formatv("{0:f1} GFLOP/s and {1:f1} GB/s of one core",
                                machine->peakGflops, machine->bandwidthGBs)
                            .str());
  else
    consumeError(machine.takeError());
  if (!options.database.empty())
    add("training data",
        formatv("{0} measured candidates of {1} workloads, {2}",
                training.countCandidates(), training.tasks.size(),
                training.target)
            .str());
  if (!options.splitOptions.networks.empty())
    add("left out as well", join(options.splitOptions.networks, ", "));
  if (model)
    add("model", formatv("`{0}`: {1}", options.model,
                         json::Value(json::Object(model->getConfig().training)))
                     .str());
  add("seeds", formatv("{0} (0 to {1}) of training and search", options.seeds,
                       options.seeds - 1)
                   .str());
  const RankerTrainingOptions &trees = options.training;
  if (!options.database.empty())
    add("rankers",
        formatv("at most {0} trees of depth {1}, learning rate {2}, {3} of the "
                "rows and {4} of the columns each, lambda {5}, least child "
                "weight {6}, {7} pairs; the number of trees by NDCG@10 on {8} "
                "of the training workloads, patience {9}",
                trees.trees, trees.depth, trees.learningRate, trees.rowShare,
                trees.columnShare, trees.lambda, trees.minChildWeight,
                trees.pairs, trees.validation, trees.patience)
            .str());
}

Error EvalRun::writeReport() {
  evaluation.reference = getVariants().front().name.str();
  // Without a transition there is still something to compare with.
  if (none_of(evaluation.methods, [&](const EvaluatedMethod &method) {
        return method.name == evaluation.reference;
      }))
    evaluation.reference = "phi-only";
  evaluation.numTrials = static_cast<size_t>(options.trials);
  evaluation.bootstrapRounds = static_cast<size_t>(options.bootstrap);
  fillHead();
  std::string text = printEvaluation(evaluation);
  if (Error error = writeFile(options.output + ".md", text))
    return error;
  if (Error error = writeFile(options.output + ".json",
                              formatv("{0:2}\n", toJSON(evaluation)).str()))
    return error;
  return writeFile("-", text);
}

TrainExit EvalRun::run() {
  if (Error error = loadModel())
    return reportTrainError(std::move(error));
  if (Error error = checkMethods())
    return reportTrainError(std::move(error));
  if (Error error = readPools())
    return reportTrainError(std::move(error));
  if (Error error = makeFolder(options.workDir))
    return reportTrainError(std::move(error));
  InterruptScope interrupts("cwm-train: interrupted; the same command goes "
                            "on\n");
  if (Error error = computeInputs())
    return reportTrainError(std::move(error));
  if (Error error = measureRollouts())
    return reportTrainError(std::move(error));
  interrupts.setWork(stop);
  if (Error error = evaluateModel())
    return reportTrainError(std::move(error));
  for (const Variant &variant : getVariants())
    if (!shouldStop() && canTrain(variant))
      if (Error error = evaluateVariant(variant))
        return reportTrainError(std::move(error), TrainExit::NoResult);
  if (!shouldStop())
    if (Error error = evaluateOnline())
      return reportTrainError(std::move(error));
  if (shouldStop()) {
    say("interrupted; the same command goes on");
    return TrainExit::Interrupted;
  }
  evaluateRandomAndOracle();
  if (Error error = writeReport())
    return reportTrainError(std::move(error));
  say("wrote '" + options.output + ".md' and '" + options.output + ".json'");
  return TrainExit::Done;
}

TrainExit runEval(EvalOptions options) { return EvalRun(options).run(); }

} // namespace cwm
