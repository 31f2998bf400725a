//===- Dataset.cpp - What training and evaluation read ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Dataset/Dataset.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cwm {

Expected<Dataset> Dataset::load(Database &database, const Split &split,
                                DatasetPart part) {
  TrajectoryStore store(database);
  Dataset dataset(database);
  Expected<std::vector<WorkloadInfo>> infos = store.getWorkloads();
  if (!infos)
    return infos.takeError();
  StringMap<unsigned> numbers;
  for (WorkloadInfo &info : *infos) {
    if (split.isHeldOut(info) != (part == DatasetPart::HeldOut))
      continue;
    numbers[info.hash] = dataset.workloads.size();
    dataset.workloads.push_back(std::move(info));
  }
  dataset.statesByWorkload.resize(dataset.workloads.size());

  Expected<std::vector<std::string>> texts = store.getActions();
  if (!texts)
    return texts.takeError();
  Expected<std::vector<TrajectoryStore::StateInfo>> states = store.getStates();
  if (!states)
    return states.takeError();
  DenseMap<int64_t, StringRef> hashes;
  for (const TrajectoryStore::StateInfo &state : *states)
    hashes[state.id] = state.hash;

  std::vector<uint32_t> actionNumbers(texts->size(), noState);
  auto addState = [&](int64_t id, unsigned workload) -> Expected<uint32_t> {
    if (id == 0)
      return noState;
    auto [it, isNew] =
        dataset.stateNumbers.try_emplace(id, dataset.stateIds.size());
    if (!isNew)
      return it->second;
    auto hash = hashes.find(id);
    if (hash == hashes.end())
      return createStringError("'" + database.getPath() +
                               "' is corrupt: state " + Twine(id) +
                               " is missing");
    dataset.stateIds.push_back(id);
    dataset.stateHashes.push_back(hash->second.str());
    dataset.stateWorkloads.push_back(workload);
    dataset.statesByWorkload[workload].push_back(it->second);
    return it->second;
  };
  size_t numRows = 0, numFailed = 0, numOther = 0;
  if (Error error =
          store.visitTrajectories("", [&](TrajectoryRow row) -> Error {
            ++numRows;
            auto workload = numbers.find(row.workload);
            if (workload == numbers.end()) {
              ++numOther;
              return Error::success();
            }
            if (row.status != TrialStatus::Ok || row.entries.empty()) {
              ++numFailed;
              return Error::success();
            }
            Trajectory &trajectory = dataset.trajectories.emplace_back();
            trajectory.workload = workload->second;
            trajectory.candidate = std::move(row.candidate);
            trajectory.toolchain = std::move(row.toolchain);
            for (const auto &[place, entry] : enumerate(row.entries)) {
              if (place > 0) {
                if (entry.action <= 0 ||
                    entry.action >= static_cast<int64_t>(texts->size()))
                  return createStringError("'" + database.getPath() +
                                           "' is corrupt: action " +
                                           Twine(entry.action) + " is missing");
                if (isLoweringAction((*texts)[entry.action]))
                  break;
                uint32_t &number = actionNumbers[entry.action];
                if (number == noState) {
                  number = dataset.actions.size();
                  dataset.actions.push_back((*texts)[entry.action]);
                }
                trajectory.actions.push_back(number);
              }
              Expected<uint32_t> state =
                  addState(entry.state, trajectory.workload);
              if (!state)
                return state.takeError();
              trajectory.states.push_back(*state);
            }
            return Error::success();
          }))
    return std::move(error);
  if (!dataset.trajectories.empty())
    return std::move(dataset);
  std::string quoted = "'" + database.getPath().str() + "'";
  if (numRows == 0)
    return createStringError(quoted + " has no trajectories: collect some "
                                      "with cwm-train collect");
  if (numFailed > 0)
    return createStringError(
        "all " + Twine(numFailed) + " trajectories in " + quoted + " that " +
        (part == DatasetPart::Training ? "training may see"
                                       : "are held out of training") +
        " are of candidates that failed");
  return createStringError(
      "none of the " + Twine(numOther) + " trajectories in " + quoted +
      (part == DatasetPart::Training
           ? " may be trained on: their workloads are held out"
           : " is of a workload that is held out"));
}

Dataset
Dataset::restrictTo(function_ref<bool(const WorkloadInfo &)> keep) const {
  Dataset part(*database);
  constexpr unsigned none = ~0U;
  std::vector<unsigned> workloadNumbers(workloads.size(), none);
  for (const auto &[old, info] : enumerate(workloads)) {
    if (!keep(info))
      continue;
    workloadNumbers[old] = part.workloads.size();
    part.workloads.push_back(info);
  }
  part.statesByWorkload.resize(part.workloads.size());
  std::vector<uint32_t> actionNumbers(actions.size(), noState);
  for (const Trajectory &trajectory : trajectories) {
    if (workloadNumbers[trajectory.workload] == none)
      continue;
    Trajectory &copy = part.trajectories.emplace_back(trajectory);
    copy.workload = workloadNumbers[trajectory.workload];
    for (uint32_t &action : copy.actions) {
      uint32_t &number = actionNumbers[action];
      if (number == noState) {
        number = part.actions.size();
        part.actions.push_back(actions[action]);
      }
      action = number;
    }
    for (uint32_t &state : copy.states) {
      if (state == noState)
        continue;
      auto [it, isNew] =
          part.stateNumbers.try_emplace(stateIds[state], part.stateIds.size());
      if (isNew) {
        part.stateIds.push_back(stateIds[state]);
        part.stateHashes.push_back(stateHashes[state]);
        part.stateWorkloads.push_back(copy.workload);
        part.statesByWorkload[copy.workload].push_back(it->second);
      }
      state = it->second;
    }
  }
  return part;
}

Error Dataset::visitStateTexts(
    function_ref<Error(uint32_t, StringRef)> visit) const {
  return TrajectoryStore(*database).visitStateTexts(
      [&](int64_t id, StringRef text) -> Error {
        auto number = stateNumbers.find(id);
        return number == stateNumbers.end() ? Error::success()
                                            : visit(number->second, text);
      });
}

Expected<std::vector<Record>> Dataset::getRecords(StringRef target) const {
  std::vector<Record> all;
  for (const WorkloadInfo &workload : workloads) {
    Expected<std::vector<Record>> records =
        database->getRecords(workload.hash, target);
    if (!records)
      return records.takeError();
    move(*records, std::back_inserter(all));
  }
  return all;
}

Expected<size_t> Dataset::writeTexts(raw_ostream &os, bool withActions) const {
  size_t lines = 0;
  auto write = [&](json::Object line) {
    os << json::Value(std::move(line)) << "\n";
    ++lines;
  };
  if (Error error = visitStateTexts([&](uint32_t state, StringRef text) {
        const WorkloadInfo &workload = workloads[stateWorkloads[state]];
        write(json::Object{{"workload", workload.hash},
                           {"state", stateHashes[state]},
                           {"text", json::fixUTF8(text)}});
        return Error::success();
      }))
    return std::move(error);
  if (!withActions)
    return lines;
  std::vector<bool> written(actions.size());
  for (const Trajectory &trajectory : trajectories) {
    for (uint32_t action : trajectory.actions) {
      if (written[action])
        continue;
      written[action] = true;
      // A file is of one workload: these are negatives of each other.
      const std::string &workload = workloads[trajectory.workload].hash;
      write(json::Object{{"workload", workload},
                         {"file", workload + " actions"},
                         {"text", json::fixUTF8(actions[action])}});
    }
  }
  return lines;
}

} // namespace cwm
