//===- RankerTraining.cpp - Trains the ranker G -----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/RankerTraining.h"

#include "Random.h"

#include "cwm/Model/Features.h"
#include "cwm/Support/Nesting.h"
#include "cwm/Support/ReadFile.h"
#include "cwm/Support/WriteFile.h"
#include "cwm/Train/MetricsLog.h"
#include "cwm/Train/RankingMetrics.h"
#include "cwm/Trajectory/StateText.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <set>

using namespace llvm;

namespace cwm {

std::string RankerTrainingOptions::getFingerprint() const {
  return formatv("{0} {1} {2} | {3} {4} {5} {6} {7} | {8:e17} {9:e17} {10:e17} "
                 "{11:e17} {12:e17} {13:e17} | {14}",
                 stringifyRankerState(inputs.state), inputs.actions,
                 inputs.objective, trees, depth, pairs, seed, patience,
                 learningRate, rowShare, columnShare, minChildWeight, lambda,
                 validation, featureVersion)
      .str();
}

namespace {

/// Rows of some tasks, one group each.
struct Rows {
  std::vector<float> values, labels;
  std::vector<uint32_t> groups;
  /// The first row of each task, and their number.
  std::vector<size_t> begins = {0};
};

/// Where a run is.
struct Progress {
  int64_t bestTree = 0;
  double bestNDCG = -1;
};

class Training {
public:
  Training(ArrayRef<RankingTask> tasks, ArrayRef<RankingInputs> inputs,
           size_t dim, const RankerTrainingOptions &options,
           const std::atomic<bool> &stop,
           function_ref<void(const Twine &)> progress)
      : tasks(tasks), inputs(inputs), dim(dim), options(options), stop(stop),
        progress(progress) {}

  Expected<RankerTrainingResult> run();

private:
  using End = RankerTrainingResult::End;

  std::string findNothingToLearn() const;
  void split();
  Rows makeRows(ArrayRef<size_t> places) const;
  Booster::Parameters getParameters() const;
  bool isRanking() const {
    return StringRef(result.inputs.objective).starts_with("rank:");
  }
  std::string getFile(StringRef name) const {
    SmallString<256> path(options.folder);
    sys::path::append(path, name);
    return path.str().str();
  }
  Expected<double> evaluate(const Booster &booster) const;
  Error load(std::optional<Booster> &booster);
  Error save(const Booster &booster);
  Error grow(Booster &booster, const BoosterMatrix &matrix);

  ArrayRef<RankingTask> tasks;
  ArrayRef<RankingInputs> inputs;
  size_t dim;
  const RankerTrainingOptions &options;
  const std::atomic<bool> &stop;
  function_ref<void(const Twine &)> progress;

  RankerTrainingResult result;
  std::vector<size_t> trainingPlaces, validationPlaces;
  std::vector<std::vector<double>> validationTimes;
  Rows validationRows;
  std::string fingerprint;
  Progress state;
  MetricsLog log;
};

} // namespace

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// Whether an order of its candidates can be right or wrong.
static bool canBeOrdered(const RankingTask &task) {
  return task.candidates.size() > 1 && task.getBestScore() > 0;
}

std::string Training::findNothingToLearn() const {
  size_t candidates = 0, valid = 0;
  std::set<StringRef> workloads;
  for (const RankingTask &task : tasks) {
    candidates += task.candidates.size();
    valid += count_if(task.candidates, [](const RankingTask::Candidate &one) {
      return one.isOk;
    });
    workloads.insert(task.workload.hash);
  }
  if (candidates == 0)
    return "there are no measured candidates to learn from";
  if (valid == 0)
    return formatv("all {0} measured candidates failed: there is nothing to "
                   "learn from",
                   candidates)
        .str();
  if (workloads.size() < 2)
    return formatv("all measured candidates are of one workload, {0}: at least "
                   "two are needed, since one is kept for validation",
                   tasks.front().workload.hash)
        .str();
  if (count_if(tasks, canBeOrdered) < 2)
    return "fewer than two workloads have several measured candidates of which "
           "one is valid: there is no order to learn";
  return "";
}

void Training::split() {
  std::vector<size_t> ordered;
  for (const auto &[index, task] : enumerate(tasks))
    if (canBeOrdered(task))
      ordered.push_back(index);
  Random(options.seed).shuffle(ordered);
  auto count = static_cast<size_t>(
      std::llround(options.validation * static_cast<double>(ordered.size())));
  count = std::clamp<size_t>(count, 1, ordered.size() - 1);
  std::set<size_t> kept(ordered.begin(),
                        ordered.begin() + static_cast<ptrdiff_t>(count));
  for (size_t index = 0; index < tasks.size(); ++index)
    (kept.count(index) ? validationPlaces : trainingPlaces).push_back(index);
}

Rows Training::makeRows(ArrayRef<size_t> places) const {
  Rows rows;
  for (const auto &[group, place] : enumerate(places)) {
    const RankingTask &task = tasks[place];
    appendRankingRows(task, inputs[place], result.inputs, dim, rows.values);
    const double best = task.getBestScore();
    for (const RankingTask::Candidate &candidate : task.candidates) {
      const bool isValid = candidate.isOk && best > 0;
      rows.labels.push_back(
          isRanking() ? computeRelevance(isValid, candidate.score, best)
          : isValid   ? static_cast<float>(candidate.score / best)
                      : 0);
      rows.groups.push_back(static_cast<uint32_t>(group));
    }
    rows.begins.push_back(rows.labels.size());
  }
  return rows;
}

Booster::Parameters Training::getParameters() const {
  auto real = [](double value) { return formatv("{0:f6}", value).str(); };
  Booster::Parameters parameters = {
      {"validate_parameters", "true"},
      {"objective", result.inputs.objective},
      {"tree_method", "hist"},
      {"nthread", std::to_string(options.threads)},
      // A run that goes on from a checkpoint draws what it would have drawn.
      {"seed_per_iteration", "true"},
      {"seed", std::to_string(options.seed % (1U << 31))},
      {"max_depth", std::to_string(options.depth)},
      {"eta", real(options.learningRate)},
      {"subsample", real(options.rowShare)},
      {"colsample_bytree", real(options.columnShare)},
      {"min_child_weight", real(options.minChildWeight)},
      {"lambda", real(options.lambda)},
  };
  if (!isRanking())
    return parameters;
  parameters.emplace_back("lambdarank_pair_method", "topk");
  parameters.emplace_back("lambdarank_num_pair_per_sample",
                          std::to_string(options.pairs));
  if (result.inputs.objective == "rank:ndcg")
    parameters.emplace_back("ndcg_exp_gain", "false");
  return parameters;
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

Expected<double> Training::evaluate(const Booster &booster) const {
  Expected<std::vector<float>> scores =
      booster.predict(validationRows.values, result.inputs.getNumColumns(dim));
  if (!scores)
    return scores.takeError();
  std::vector<double> values;
  for (const auto &[index, times] : enumerate(validationTimes)) {
    size_t begin = validationRows.begins[index];
    std::vector<uint32_t> order = orderByScore(
        ArrayRef(*scores).slice(begin, times.size()), options.seed);
    values.push_back(*computeNDCG(times, order, 10));
  }
  return computeMean(values);
}

/// A line of JSON, then the model.
Error Training::save(const Booster &booster) {
  Expected<std::string> model = booster.serialize();
  if (!model)
    return model.takeError();
  json::Object header{{"fingerprint", fingerprint},
                      {"best_tree", state.bestTree},
                      {"best_ndcg", state.bestNDCG},
                      {"bytes", static_cast<int64_t>(model->size())},
                      {"hash", hashText(*model)}};
  return writeFile(getFile("checkpoint"),
                   formatv("{0}\n", json::Value(std::move(header))).str() +
                       *model);
}

Error Training::load(std::optional<Booster> &booster) {
  std::string file = getFile("checkpoint");
  if (!options.resume || !sys::fs::exists(file))
    return Error::success();
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readOwnFile(file);
  if (!buffer)
    return buffer.takeError();
  auto [line, model] = (*buffer)->getBuffer().split('\n');
  Expected<json::Value> header = parseJSON(line);
  const json::Object *object = header ? header->getAsObject() : nullptr;
  if (!header)
    consumeError(header.takeError());
  if (!object || object->getInteger("bytes") != model.size() ||
      object->getString("hash") != StringRef(hashText(model)))
    return createStringError("'" + file +
                             "' is damaged: remove it, or give --resume=false");
  if (object->getString("fingerprint") != StringRef(fingerprint))
    return createStringError(
        "'" + file +
        "' is the checkpoint of a run with other data or options: give "
        "another --work-dir, or --resume=false to start anew");
  state.bestTree = object->getInteger("best_tree").value_or(0);
  state.bestNDCG = object->getNumber("best_ndcg").value_or(-1);
  Expected<Booster> loaded = Booster::load(model, getParameters());
  if (!loaded)
    return createStringError("'" + file + "': " + toString(loaded.takeError()));
  progress("goes on behind tree " + Twine(loaded->getNumRounds()));
  booster.emplace(std::move(*loaded));
  return Error::success();
}

Error Training::grow(Booster &booster, const BoosterMatrix &matrix) {
  const bool hasFolder = !options.folder.empty();
  for (int64_t tree = booster.getNumRounds(); tree < options.trees; ++tree) {
    // A run that had ended goes no further when it is started again.
    if (options.patience > 0 && tree >= state.bestTree + options.patience) {
      result.end = End::EarlyStop;
      break;
    }
    if (stop || (options.stopAfter > 0 && tree >= options.stopAfter)) {
      result.end = End::Interrupted;
      break;
    }
    if (Error error = booster.update(static_cast<int>(tree), matrix))
      return error;
    Expected<double> value = evaluate(booster);
    if (!value)
      return value.takeError();
    const int64_t count = tree + 1;
    if (*value > state.bestNDCG) {
      state.bestNDCG = *value;
      state.bestTree = count;
    }
    if (Error error =
            log.add(json::Object{{"step", count}, {"validation_ndcg", *value}}))
      return error;
    if (count % 50 == 0)
      progress(formatv("tree {0}: validation NDCG@10 {1:f4}, best {2:f4}",
                       count, *value, state.bestNDCG)
                   .str());
    if (hasFolder && count % options.checkpointEvery == 0)
      if (Error error = save(booster))
        return error;
  }
  result.lastTree = booster.getNumRounds();
  return hasFolder ? save(booster) : Error::success();
}

Expected<RankerTrainingResult> Training::run() {
  result.inputs = options.inputs;
  result.message = findNothingToLearn();
  if (!result.message.empty()) {
    result.end = End::NothingToLearn;
    return std::move(result);
  }
  const size_t numHardware = tasks.front().hardware.size();
  for (const RankingTask &task : tasks)
    if (task.hardware.size() != numHardware)
      return createStringError(
          formatv("hardware vectors of different lengths, {0} and {1}: some "
                  "candidates were measured by another version of cwm",
                  numHardware, task.hardware.size())
              .str());
  result.inputs.hardware = static_cast<int64_t>(numHardware);
  split();
  Rows rows = makeRows(trainingPlaces);
  validationRows = makeRows(validationPlaces);
  for (size_t place : validationPlaces)
    validationTimes.push_back(tasks[place].getTimes());
  result.trainingTasks = trainingPlaces.size();
  result.validationTasks = validationPlaces.size();
  result.trainingRows = rows.labels.size();
  auto bytes = [](ArrayRef<float> values) {
    return StringRef(reinterpret_cast<const char *>(values.data()),
                     values.size() * sizeof(float));
  };
  fingerprint = hashText(
      options.getFingerprint() + hashText(bytes(rows.values)) +
      hashText(bytes(rows.labels)) + hashText(bytes(validationRows.values)));

  std::optional<Booster> booster;
  if (!options.folder.empty())
    if (Error error = load(booster))
      return std::move(error);
  Expected<MetricsLog> opened =
      MetricsLog::open(options.folder.empty() ? "" : getFile("metrics.jsonl"),
                       booster ? booster->getNumRounds() : 0);
  if (!opened)
    return opened.takeError();
  log = std::move(*opened);
  Expected<BoosterMatrix> matrix = BoosterMatrix::create(
      {rows.values, result.inputs.getNumColumns(dim), rows.labels,
       isRanking() ? ArrayRef(rows.groups) : ArrayRef<uint32_t>()});
  if (!matrix)
    return matrix.takeError();
  if (!booster) {
    Expected<Booster> made = Booster::create(*matrix, getParameters());
    if (!made)
      return made.takeError();
    booster.emplace(std::move(*made));
  }
  if (Error error = grow(*booster, *matrix))
    return std::move(error);
  result.bestTree = state.bestTree;
  result.bestNDCG = state.bestNDCG;
  if (result.end == End::Interrupted)
    return std::move(result);
  Expected<Booster> best = booster->slice(static_cast<int>(state.bestTree));
  if (!best)
    return best.takeError();
  result.booster.emplace(std::move(*best));
  return std::move(result);
}

Expected<RankerTrainingResult>
trainRanker(ArrayRef<RankingTask> tasks, ArrayRef<RankingInputs> inputs,
            size_t dim, const RankerTrainingOptions &options,
            const std::atomic<bool> &stop,
            function_ref<void(const Twine &)> progress) {
  return Training(tasks, inputs, dim, options, stop, progress).run();
}

} // namespace cwm
