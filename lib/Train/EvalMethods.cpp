//===- EvalMethods.cpp - What an evaluation compares ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvalRun.h"

#include "PickStore.h"
#include "Random.h"
#include "SearchSimulation.h"

#include "cwm/Model/Ranker.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cwm {

static constexpr Variant variants[] = {
    {"full", "ranker on predicted final state, action features and hardware",
     RankerState::RollOut, true, "rank:ndcg"},
    {"phi-only", "pretrained ranker on action features and hardware, no state",
     RankerState::None, true, "rank:ndcg"},
    {"initial-state",
     "as full, with the payload's state instead: no transition",
     RankerState::Initial, true, "rank:ndcg"},
    {"final-state",
     "as full, with the true final state (missing where a candidate could not "
     "be applied): what a perfect transition would give",
     RankerState::Final, true, "rank:ndcg"},
    {"no-action-features", "predicted final state and hardware only",
     RankerState::RollOut, false, "rank:ndcg"},
    {"regression", "as full, trained by squared error on relative speed",
     RankerState::RollOut, true, "reg:squarederror"},
};

ArrayRef<Variant> getVariants() { return variants; }

std::vector<StringRef> getMethodNames() {
  std::vector<StringRef> names = {"model"};
  for (const Variant &variant : variants)
    names.push_back(variant.name);
  names.insert(names.end(), {"online", "random", "oracle"});
  return names;
}

static void say(const Twine &line) { errs() << "cwm-train: " << line << "\n"; }

Error EvalRun::score(const Booster &booster, const RankerConfig &config,
                     size_t dim, uint64_t seed,
                     std::vector<PoolMetrics> &results) {
  for (const auto &[index, task] : enumerate(tasks)) {
    std::vector<float> rows;
    appendRankingRows(task, inputs[index], config, dim, rows);
    Expected<std::vector<float>> scores =
        booster.predict(rows, config.getNumColumns(dim));
    if (!scores)
      return scores.takeError();
    results.push_back(measureScores(evaluation.pools[index], *scores,
                                    static_cast<size_t>(options.trials), seed));
  }
  return Error::success();
}

Error EvalRun::evaluateModel() {
  if (!model || !wants("model") || !model->has(ModelDirectory::rankerFile))
    return Error::success();
  Expected<Ranker> ranker = Ranker::load(*model);
  if (!ranker)
    return ranker.takeError();
  if (static_cast<size_t>(ranker->getConfig().hardware) !=
      tasks.front().hardware.size())
    return createStringError("'" + options.model +
                             "': its ranker was trained on hardware vectors of "
                             "another length than the pools have");
  EvaluatedMethod method{
      "model",
      "the ranker of the model directory, state " +
          stringifyRankerState(ranker->getConfig().state).str(),
      {}};
  if (Error error = score(ranker->getBooster(), ranker->getConfig(),
                          ranker->getDim(), 0, method.results.emplace_back()))
    return error;
  evaluation.methods.push_back(std::move(method));
  return Error::success();
}

Error EvalRun::evaluateVariant(const Variant &variant) {
  EvaluatedMethod method{variant.name.str(), variant.description.str(), {}};
  for (int64_t seed = 0; seed < options.seeds && !shouldStop(); ++seed) {
    RankerTrainingOptions one = options.training;
    one.inputs.state = variant.state;
    one.inputs.actions = variant.actions;
    one.inputs.objective = variant.objective.str();
    one.seed = static_cast<uint64_t>(seed);
    one.folder = joinPath(options.workDir,
                          variant.name.str() + "-" + std::to_string(seed));
    if (Error error = makeFolder(one.folder))
      return error;
    Expected<RankerTrainingResult> result =
        trainRanker(training.tasks, trainingInputs, getDim(), one, stop.flag,
                    [](const Twine &) {});
    if (!result)
      return result.takeError();
    if (result->end == RankerTrainingResult::End::NothingToLearn)
      return createStringError(result->message);
    if (result->end == RankerTrainingResult::End::Interrupted)
      return Error::success();
    say(formatv("{0}, seed {1}: {2} trees, NDCG@10 {3:f4} on {4} validation "
                "workloads",
                variant.name, seed, result->bestTree, result->bestNDCG,
                result->validationTasks)
            .str());
    if (Error error = score(*result->booster, result->inputs, getDim(),
                            one.seed, method.results.emplace_back()))
      return error;
  }
  evaluation.methods.push_back(std::move(method));
  return Error::success();
}

Error EvalRun::evaluateOnline() {
  if (!wants("online"))
    return Error::success();
  EvaluatedMethod method{
      "online",
      "no training beforehand: ranker on action features and hardware that is "
      "trained during the search (batches of 8, a tenth of them random)",
      {}};
  const auto trials = static_cast<size_t>(options.trials);
  PickStore store(joinPath(options.workDir, "online.jsonl"));
  for (int64_t seed = 0; seed < options.seeds; ++seed) {
    std::vector<PoolMetrics> &results = method.results.emplace_back();
    for (const auto &[index, task] : enumerate(tasks)) {
      if (shouldStop())
        return Error::success();
      const auto number = static_cast<uint64_t>(seed);
      std::string key =
          getSearchKey(task, inputs[index], options.trials, number);
      if (!store.find(key)) {
        Expected<std::vector<uint32_t>> picks =
            simulateOnlineSearch(task, inputs[index], trials, number);
        if (!picks)
          return picks.takeError();
        if (Error error = store.add(key, *picks))
          return error;
      }
      results.push_back(
          measurePicks(evaluation.pools[index], *store.find(key), trials));
    }
    say("online search, seed " + Twine(seed) + " done");
  }
  evaluation.methods.push_back(std::move(method));
  return Error::success();
}

void EvalRun::evaluateRandomAndOracle() {
  const auto trials = static_cast<size_t>(options.trials);
  EvaluatedMethod chance{"random", "any order", {}},
      oracle{"oracle", "the true order", {}};
  for (int64_t seed = 0; seed < options.seeds; ++seed) {
    std::vector<PoolMetrics> &results = chance.results.emplace_back();
    for (const auto &[index, pool] : enumerate(evaluation.pools)) {
      Random random = Random::fork(static_cast<uint64_t>(seed), index);
      std::vector<float> scores;
      scores.reserve(pool.times.size());
      for (size_t i = 0; i < pool.times.size(); ++i)
        scores.push_back(static_cast<float>(random.unit()));
      results.push_back(measureScores(pool, scores, trials, seed));
    }
  }
  std::vector<PoolMetrics> &results = oracle.results.emplace_back();
  for (const EvaluatedPool &pool : evaluation.pools) {
    std::vector<float> scores;
    scores.reserve(pool.times.size());
    for (double time : pool.times)
      scores.push_back(static_cast<float>(-time));
    results.push_back(measureScores(pool, scores, trials, 0));
  }
  if (wants("random"))
    evaluation.methods.push_back(std::move(chance));
  if (wants("oracle"))
    evaluation.methods.push_back(std::move(oracle));
}

} // namespace cwm
