//===- RankingTask.cpp - A workload's measured candidates -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/RankingTask.h"

#include "cwm/Model/WorldModel.h"
#include "cwm/Target/CPU/Hardware.h"
#include "cwm/Train/RankingMetrics.h"

#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace llvm;

namespace cwm {

double RankingTask::getBestScore() const {
  double best = 0;
  for (const Candidate &candidate : candidates)
    if (candidate.isOk)
      best = std::max(best, candidate.score);
  return best;
}

std::vector<double> RankingTask::getTimes() const {
  std::vector<double> reference;
  for (const Candidate &candidate : candidates)
    if (candidate.isOk)
      reference.push_back(candidate.timeNs * candidate.score);
  const double median = computeQuantile(std::move(reference), 0.5);
  std::vector<double> times;
  times.reserve(candidates.size());
  for (const Candidate &candidate : candidates)
    times.push_back(candidate.isOk && candidate.score > 0
                        ? median / candidate.score
                        : failureTime);
  return times;
}

//===----------------------------------------------------------------------===//
// From databases and pools
//===----------------------------------------------------------------------===//

namespace {
/// Numbers texts as they come.
class TextTable {
public:
  explicit TextTable(std::vector<std::string> &texts) : texts(texts) {}
  uint32_t get(StringRef text) {
    auto [it, isNew] =
        numbers.try_emplace(text, static_cast<uint32_t>(texts.size()));
    if (isNew)
      texts.push_back(text.str());
    return it->second;
  }

private:
  std::vector<std::string> &texts;
  StringMap<uint32_t> numbers;
};
} // namespace

static void setResult(RankingTask::Candidate &candidate,
                      const TrialResult &result) {
  candidate.isOk = result.isOk() && result.score > 0;
  candidate.score = result.score;
  candidate.timeNs = result.timeNs;
}

/// The last state that is known.
static std::optional<uint32_t> getLastState(ArrayRef<uint32_t> states) {
  for (uint32_t state : llvm::reverse(states))
    if (state != Dataset::noState)
      return state;
  return std::nullopt;
}

/// The records of training's workloads on one target.
static Expected<std::vector<Record>>
selectRecords(Database &database, const StringMap<size_t> &workloads,
              std::string &target) {
  Expected<std::vector<Record>> all = database.getAllRecords();
  if (!all)
    return all.takeError();
  llvm::erase_if(*all, [&](const Record &record) {
    return !workloads.contains(record.workload) ||
           record.toolchain != getToolchainVersion();
  });
  std::set<std::string> targets;
  for (const Record &record : *all)
    targets.insert(record.target);
  std::string quoted = "'" + database.getPath().str() + "'";
  if (targets.empty())
    return createStringError("nothing that training may see was measured in " +
                             quoted + ": collect with --measure");
  if (target.empty() && targets.size() > 1)
    return createStringError("measurements in " + quoted +
                             " are of several targets, choose one with "
                             "--measured-on: " +
                             join(targets, ", "));
  if (target.empty())
    target = *targets.begin();
  if (!targets.count(target))
    return createStringError("no measurement in " + quoted +
                             " is of the target '" + target +
                             "'; there are: " + join(targets, ", "));
  llvm::erase_if(*all,
                 [&](const Record &record) { return record.target != target; });
  return all;
}

Expected<std::vector<RankingTask>> loadRankingTasks(Database &database,
                                                    const Dataset &dataset,
                                                    std::string &target,
                                                    bool withFinalStates) {
  StringMap<size_t> numbers;
  std::vector<RankingTask> tasks;
  for (const WorkloadInfo &workload : dataset.getWorkloads()) {
    numbers[workload.hash] = tasks.size();
    tasks.emplace_back().workload = workload;
  }
  Expected<std::vector<Record>> records =
      selectRecords(database, numbers, target);
  if (!records)
    return records.takeError();

  // Final states, by what they were recorded of.
  StringMap<uint32_t> finalStates;
  if (withFinalStates) {
    for (const Dataset::Trajectory &trajectory : dataset.getTrajectories()) {
      if (trajectory.toolchain != getToolchainVersion())
        continue;
      StringRef hash = dataset.getWorkloads()[trajectory.workload].hash;
      if (std::optional<uint32_t> state = getLastState(trajectory.states))
        finalStates[(hash + trajectory.candidate).str()] = *state;
    }
  }
  std::vector<TextTable> tables;
  std::vector<DenseMap<uint32_t, uint32_t>> statePlaces(tasks.size());
  tables.reserve(tasks.size());
  for (RankingTask &task : tasks)
    tables.emplace_back(task.actions);
  for (Record &record : *records) {
    const size_t number = numbers[record.workload];
    RankingTask &task = tasks[number];
    RankingTask::Candidate &candidate = task.candidates.emplace_back();
    candidate.name = record.candidate;
    for (const std::string &action : record.actions)
      candidate.actions.push_back(tables[number].get(action));
    setResult(candidate, record.result);
    task.hardware = std::move(record.hardware);
    auto state = finalStates.find(record.workload + record.candidate);
    if (state == finalStates.end())
      continue;
    auto [place, isNew] = statePlaces[number].try_emplace(
        state->second, static_cast<uint32_t>(task.states.size()));
    if (isNew)
      task.states.emplace_back();
    candidate.finalState = place->second;
  }
  // Texts: of payloads, whose hash is the workload's, and of final states.
  if (Error error =
          dataset.visitStateTexts([&](uint32_t state, StringRef text) -> Error {
            auto workload = numbers.find(dataset.getStateHash(state));
            if (workload != numbers.end())
              tasks[workload->second].stateText = text.str();
            if (!withFinalStates)
              return Error::success();
            for (const auto &[task, known] : zip_equal(tasks, statePlaces)) {
              auto place = known.find(state);
              if (place != known.end())
                task.states[place->second] = text.str();
            }
            return Error::success();
          }))
    return std::move(error);
  llvm::erase_if(tasks, [](const RankingTask &task) {
    return task.candidates.empty() || task.stateText.empty();
  });
  if (tasks.empty())
    return createStringError("'" + database.getPath() +
                             "' has no payload of what was measured");
  return std::move(tasks);
}

Expected<RankingTask> makeRankingTask(Pool pool) {
  RankingTask task;
  task.workload = std::move(pool.header.workload);
  task.networks = std::move(pool.header.networks);
  task.noiseFloor = pool.header.noiseFloor;
  task.actions = std::move(pool.actions);
  Expected<HardwareDescription> hardware =
      HardwareDescription::fromJSON(pool.header.hardware);
  if (!hardware)
    return hardware.takeError();
  task.hardware = hardware->getVector();
  if (pool.candidates.empty())
    return createStringError("it has no candidates");
  DenseMap<uint32_t, uint32_t> places;
  for (PoolCandidate &one : pool.candidates) {
    RankingTask::Candidate &candidate = task.candidates.emplace_back();
    candidate.name = std::move(one.candidate);
    candidate.actions = std::move(one.actions);
    setResult(candidate, one.result);
    for (uint32_t state : one.states)
      if (state != Dataset::noState && state >= pool.states.size())
        return createStringError("it lacks the state " + Twine(state));
    if (!one.states.empty() && one.states.front() != Dataset::noState)
      task.stateText = pool.states[one.states.front()].text;
    std::optional<uint32_t> last = getLastState(one.states);
    if (!last)
      continue;
    auto [place, isNew] =
        places.try_emplace(*last, static_cast<uint32_t>(task.states.size()));
    if (isNew)
      task.states.push_back(pool.states[*last].text);
    candidate.finalState = place->second;
  }
  if (task.stateText.empty())
    return createStringError("no candidate of it has a first state");
  return std::move(task);
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

static Error computeFinal(const RankingTask &task, LatentModel &latents,
                          std::vector<float> &rows) {
  std::vector<StringRef> texts(task.states.begin(), task.states.end());
  std::vector<float> states;
  if (!texts.empty()) {
    Expected<std::vector<float>> encoded = latents.getEncoder().encode(texts);
    if (!encoded)
      return encoded.takeError();
    states = std::move(*encoded);
  }
  const size_t dim = latents.getDim();
  for (const RankingTask::Candidate &candidate : task.candidates) {
    if (!candidate.finalState)
      rows.resize(rows.size() + dim, std::numeric_limits<float>::quiet_NaN());
    else
      append_range(rows,
                   ArrayRef(states).slice(*candidate.finalState * dim, dim));
  }
  return Error::success();
}

/// The modelled actions of each candidate, as the model's numbers.
static std::vector<std::vector<uint32_t>> numberActions(const RankingTask &task,
                                                        LatentModel &latents) {
  std::vector<std::vector<uint32_t>> sequences;
  for (const RankingTask::Candidate &candidate : task.candidates) {
    std::vector<uint32_t> &sequence = sequences.emplace_back();
    for (uint32_t action : candidate.actions) {
      if (isLoweringAction(task.actions[action]))
        break;
      sequence.push_back(latents.addAction(task.actions[action]));
    }
  }
  return sequences;
}

static std::vector<float> computeAllFeatures(const RankingTask &task) {
  FeatureTable table{WorkloadFeatures(task.stateText)};
  std::vector<Action> actions;
  actions.reserve(task.actions.size());
  for (const std::string &text : task.actions)
    actions.push_back(makeAction(text));
  std::vector<float> features;
  for (const RankingTask::Candidate &candidate : task.candidates) {
    std::vector<const Action *> all;
    all.reserve(candidate.actions.size());
    for (uint32_t action : candidate.actions)
      all.push_back(&actions[action]);
    append_range(features, table.compute(all));
  }
  return features;
}

Expected<std::vector<RankingInputs>>
computeRankingInputs(ArrayRef<RankingTask> tasks, LatentModel *latents,
                     const RankingStates &states) {
  // All actions first: the encoder then sees them together.
  std::vector<std::vector<std::vector<uint32_t>>> sequences(tasks.size());
  if (states.rollOut)
    for (const auto &[index, task] : enumerate(tasks))
      sequences[index] = numberActions(task, *latents);
  std::vector<RankingInputs> all;
  for (const auto &[index, task] : enumerate(tasks)) {
    RankingInputs &inputs = all.emplace_back();
    inputs.features = computeAllFeatures(task);
    if (!states.any())
      continue;
    if (Error error = latents->setPayload(task.stateText))
      return std::move(error);
    if (states.initial)
      inputs.initial = latents->getInitial().vec();
    if (states.rollOut) {
      Expected<std::vector<float>> rolled =
          latents->rollOut(std::vector<ArrayRef<uint32_t>>(
              sequences[index].begin(), sequences[index].end()));
      if (!rolled)
        return rolled.takeError();
      inputs.rollOut = std::move(*rolled);
    }
    if (states.final)
      if (Error error = computeFinal(task, *latents, inputs.final))
        return std::move(error);
  }
  return std::move(all);
}

void appendRankingRows(const RankingTask &task, const RankingInputs &inputs,
                       const RankerConfig &config, size_t dim,
                       std::vector<float> &rows) {
  for (size_t i = 0; i < task.candidates.size(); ++i) {
    auto getRow = [&](const std::vector<float> &states) {
      return ArrayRef(states).slice(i * dim, dim);
    };
    ArrayRef<float> state;
    if (config.state == RankerState::Initial)
      state = inputs.initial;
    else if (config.state == RankerState::RollOut)
      state = getRow(inputs.rollOut);
    else if (config.state == RankerState::Final)
      state = getRow(inputs.final);
    config.appendRow(
        state, dim,
        ArrayRef(inputs.features).slice(i * numFeatures, numFeatures),
        task.hardware, rows);
  }
}

} // namespace cwm
