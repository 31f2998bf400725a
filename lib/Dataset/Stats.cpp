//===- Stats.cpp - What a database of trajectories has ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Dataset/Stats.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace llvm;

namespace cwm {

Spread Spread::of(std::vector<double> values) {
  Spread spread;
  spread.count = values.size();
  if (values.empty())
    return spread;
  llvm::sort(values);
  auto at = [&](double share) {
    return values[static_cast<size_t>(share *
                                      static_cast<double>(values.size() - 1))];
  };
  spread.min = values.front();
  spread.median = at(0.5);
  spread.p90 = at(0.9);
  spread.max = values.back();
  for (double value : values)
    spread.mean += value / static_cast<double>(values.size());
  return spread;
}

namespace {
class Gatherer {
public:
  Gatherer(Database &database, const Split &split)
      : database(database), store(database), split(split) {}

  Error gather(function_ref<size_t(StringRef)> countTokens);
  DatasetStats stats;

private:
  Error readTrajectories();
  Error readRecords();
  Error readTexts(function_ref<size_t(StringRef)> countTokens);
  WorkloadStats &getWorkload(StringRef hash);

  Database &database;
  TrajectoryStore store;
  const Split &split;
  StringMap<size_t> numbers;
  std::vector<std::string> texts;
};
} // namespace

/// Records of cwm-tune may be of workloads that were never collected.
WorkloadStats &Gatherer::getWorkload(StringRef hash) {
  auto [it, isNew] = numbers.try_emplace(hash, stats.workloads.size());
  if (isNew) {
    WorkloadStats &added = stats.workloads.emplace_back();
    added.info.hash = hash.str();
    added.heldOut = split.isHeldOut(added.info);
  }
  return stats.workloads[it->second];
}

Error Gatherer::readTrajectories() {
  std::vector<double> actions, modelled, states, milliseconds;
  if (Error error = store.visitTrajectories("", [&](TrajectoryRow row) {
        ++stats.trajectoriesByStatus[stringifyTrialStatus(row.status).str()];
        WorkloadStats &workload = getWorkload(row.workload);
        ++workload.trajectories;
        if (row.status != TrialStatus::Ok) {
          ++workload.failedTrajectories;
          return Error::success();
        }
        milliseconds.push_back(row.milliseconds);
        double kept = 0, front = 0;
        bool lowering = false;
        for (const TrajectoryRow::Entry &entry : row.entries) {
          kept += entry.state != 0;
          lowering |= entry.action > 0 &&
                      entry.action < static_cast<int64_t>(texts.size()) &&
                      isLoweringAction(texts[entry.action]);
          front += entry.action > 0 && !lowering;
        }
        actions.push_back(static_cast<double>(row.entries.size()) - 1);
        modelled.push_back(front);
        states.push_back(kept);
        return Error::success();
      }))
    return error;
  stats.actions = Spread::of(std::move(actions));
  stats.modelledActions = Spread::of(std::move(modelled));
  stats.states = Spread::of(std::move(states));
  stats.milliseconds = Spread::of(std::move(milliseconds));
  return Error::success();
}

Error Gatherer::readRecords() {
  Expected<std::vector<Record>> records = database.getAllRecords();
  if (!records)
    return records.takeError();
  std::map<std::string, std::map<std::string, std::vector<double>>> times;
  std::set<std::string> targets;
  for (const Record &record : *records) {
    ++stats.measurementsByStatus[stringifyTrialStatus(record.result.status)
                                     .str()];
    WorkloadStats &workload = getWorkload(record.workload);
    ++workload.measured;
    targets.insert(record.target);
    std::vector<double> &ofTarget = times[record.workload][record.target];
    if (record.result.isOk())
      ofTarget.push_back(record.result.timeNs);
    else
      ++workload.failedMeasurements;
  }
  stats.targets = static_cast<int64_t>(targets.size());
  for (auto &[hash, byTarget] : times) {
    auto most = max_element(byTarget, [](const auto &a, const auto &b) {
      return a.second.size() < b.second.size();
    });
    getWorkload(hash).times = Spread::of(most->second);
  }
  return Error::success();
}

Error Gatherer::readTexts(function_ref<size_t(StringRef)> countTokens) {
  Expected<std::vector<TrajectoryStore::StateInfo>> infos = store.getStates();
  if (!infos)
    return infos.takeError();
  std::vector<double> bytes, tokens, actionTokens;
  for (const TrajectoryStore::StateInfo &info : *infos)
    bytes.push_back(static_cast<double>(info.bytes));
  stats.stateBytes = Spread::of(std::move(bytes));
  if (!countTokens)
    return Error::success();
  if (Error error = store.visitStateTexts([&](int64_t, StringRef text) {
        tokens.push_back(static_cast<double>(countTokens(text)));
        return Error::success();
      }))
    return error;
  for (StringRef text : ArrayRef(texts).drop_front())
    actionTokens.push_back(static_cast<double>(countTokens(text)));
  stats.stateTokens = Spread::of(std::move(tokens));
  stats.actionTokens = Spread::of(std::move(actionTokens));
  return Error::success();
}

Error Gatherer::gather(function_ref<size_t(StringRef)> countTokens) {
  Expected<TrajectoryStore::Counts> counts = store.getCounts();
  if (!counts)
    return counts.takeError();
  stats.counts = *counts;
  Expected<std::vector<WorkloadInfo>> infos = store.getWorkloads();
  if (!infos)
    return infos.takeError();
  llvm::sort(*infos, [](const WorkloadInfo &a, const WorkloadInfo &b) {
    return std::tie(a.family, a.hash) < std::tie(b.family, b.hash);
  });
  for (WorkloadInfo &info : *infos) {
    numbers[info.hash] = stats.workloads.size();
    WorkloadStats &workload = stats.workloads.emplace_back();
    workload.heldOut = split.isHeldOut(info);
    workload.info = std::move(info);
  }
  Expected<std::vector<std::string>> actions = store.getActions();
  if (!actions)
    return actions.takeError();
  texts = std::move(*actions);
  if (Error error = readTrajectories())
    return error;
  if (Error error = readRecords())
    return error;
  if (stats.trajectoriesByStatus.empty() && stats.measurementsByStatus.empty())
    return createStringError("'" + database.getPath() +
                             "' has no trajectories and no records: collect "
                             "some with cwm-train collect");
  return readTexts(countTokens);
}

Expected<DatasetStats>
gatherStats(Database &database, const Split &split,
            function_ref<size_t(StringRef)> countTokens) {
  Gatherer gatherer(database, split);
  if (Error error = gatherer.gather(countTokens))
    return std::move(error);
  return std::move(gatherer.stats);
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static void printClasses(raw_ostream &os, StringRef what,
                         const std::map<std::string, int64_t> &byStatus) {
  int64_t all = 0;
  for (const auto &entry : byStatus)
    all += entry.second;
  os << left_justify(what, 16) << all;
  const char *separator = ": ";
  for (const auto &[status, count] : byStatus) {
    os << separator << count << " " << status;
    separator = ", ";
  }
  os << "\n";
}

static void printSpread(raw_ostream &os, StringRef what, const Spread &spread) {
  if (spread.count == 0)
    return;
  os << left_justify(what, 24)
     << format("%10.4g%10.4g%10.4g%10.4g%10.4g\n", spread.min, spread.median,
               spread.p90, spread.max, spread.mean);
}

std::string formatStats(const DatasetStats &stats, bool listWorkloads) {
  std::string text;
  raw_string_ostream os(text);
  int64_t heldOut = count_if(
      stats.workloads, [](const WorkloadStats &one) { return one.heldOut; });
  os << left_justify("workloads", 16) << stats.workloads.size() << ": "
     << static_cast<int64_t>(stats.workloads.size()) - heldOut
     << " for training, " << heldOut << " held out\n";
  printClasses(os, "trajectories", stats.trajectoriesByStatus);
  printClasses(os, "measurements", stats.measurementsByStatus);
  os << left_justify("distinct", 16) << stats.counts.states << " states, "
     << stats.counts.actions << " actions\n"
     << left_justify("text of states", 16)
     << format("%.1f MB, stored in %.1f MB\n",
               static_cast<double>(stats.counts.textBytes) / 1e6,
               static_cast<double>(stats.counts.storedBytes) / 1e6);

  os << "\n"
     << left_justify("", 24)
     << "       min    median      90 %       max      mean\n";
  printSpread(os, "actions a trajectory", stats.actions);
  printSpread(os, "in front of lowering", stats.modelledActions);
  printSpread(os, "states kept of each", stats.states);
  printSpread(os, "ms to record it", stats.milliseconds);
  printSpread(os, "bytes a state", stats.stateBytes);
  printSpread(os, "tokens a state", stats.stateTokens);
  printSpread(os, "tokens an action", stats.actionTokens);
  std::vector<double> spreads;
  for (const WorkloadStats &one : stats.workloads)
    if (one.times.count > 1 && one.times.min > 0)
      spreads.push_back(one.times.max / one.times.min);
  printSpread(os, "worst / best time", Spread::of(spreads));

  std::map<std::string, std::pair<int64_t, int64_t>> families;
  for (const WorkloadStats &one : stats.workloads) {
    auto &[workloads, trajectories] = families[one.info.family];
    ++workloads;
    trajectories += one.trajectories;
  }
  os << "\n" << left_justify("family", 24) << " workloads trajectories\n";
  for (const auto &[family, counts] : families)
    os << left_justify(family.empty() ? "(not collected)" : family, 24)
       << format("%10lld%13lld\n", static_cast<long long>(counts.first),
                 static_cast<long long>(counts.second));
  if (!listWorkloads)
    return text;
  os << "\n"
     << left_justify("workload", 34) << left_justify("family", 14)
     << "recorded failed measured failed     best us   median us    worst us\n";
  for (const WorkloadStats &one : stats.workloads)
    os << left_justify(one.info.hash, 34) << left_justify(one.info.family, 14)
       << format("%8lld%7lld%9lld%7lld%12.1f%12.1f%12.1f",
                 static_cast<long long>(one.trajectories),
                 static_cast<long long>(one.failedTrajectories),
                 static_cast<long long>(one.measured),
                 static_cast<long long>(one.failedMeasurements),
                 one.times.min / 1e3, one.times.median / 1e3,
                 one.times.max / 1e3)
       << (one.heldOut ? "  held out\n" : "\n");
  return text;
}

static json::Value toJSON(const Spread &spread) {
  return json::Object{{"count", spread.count},   {"min", spread.min},
                      {"median", spread.median}, {"p90", spread.p90},
                      {"max", spread.max},       {"mean", spread.mean}};
}

static json::Object toJSON(const std::map<std::string, int64_t> &counts) {
  json::Object object;
  for (const auto &[name, count] : counts)
    object[name] = count;
  return object;
}

json::Value toJSON(const DatasetStats &stats) {
  json::Array workloads;
  for (const WorkloadStats &one : stats.workloads)
    workloads.push_back(
        json::Object{{"workload", one.info.hash},
                     {"file", json::fixUTF8(one.info.file)},
                     {"family", one.info.family},
                     {"shape", one.info.shape},
                     {"held_out", one.heldOut},
                     {"trajectories", one.trajectories},
                     {"failed_trajectories", one.failedTrajectories},
                     {"measured", one.measured},
                     {"failed_measurements", one.failedMeasurements},
                     {"time_ns", toJSON(one.times)}});
  return json::Object{{"workloads", std::move(workloads)},
                      {"trajectories", toJSON(stats.trajectoriesByStatus)},
                      {"measurements", toJSON(stats.measurementsByStatus)},
                      {"states", stats.counts.states},
                      {"distinct_actions", stats.counts.actions},
                      {"text_bytes", stats.counts.textBytes},
                      {"stored_bytes", stats.counts.storedBytes},
                      {"targets", stats.targets},
                      {"actions", toJSON(stats.actions)},
                      {"modelled_actions", toJSON(stats.modelledActions)},
                      {"states_kept", toJSON(stats.states)},
                      {"milliseconds", toJSON(stats.milliseconds)},
                      {"state_bytes", toJSON(stats.stateBytes)},
                      {"state_tokens", toJSON(stats.stateTokens)},
                      {"action_tokens", toJSON(stats.actionTokens)}};
}

} // namespace cwm
