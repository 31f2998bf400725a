//===- RolloutMetrics.cpp - How good roll-outs are --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/RolloutMetrics.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;

namespace cwm {

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

static double getDot(ArrayRef<float> left, ArrayRef<float> right) {
  double sum = 0;
  for (auto [a, b] : zip_equal(left, right))
    sum += static_cast<double>(a) * b;
  return sum;
}

/// The chance that place `truth` is among the `nearest` highest similarities
/// when equal ones are in random order.
static double getHit(ArrayRef<double> similarities, size_t truth,
                     size_t nearest) {
  constexpr double tolerance = 1e-6;
  size_t better = 0, tied = 0;
  for (auto [place, similarity] : enumerate(similarities)) {
    if (place == truth)
      continue;
    if (similarity > similarities[truth] + tolerance)
      ++better;
    else if (similarity >= similarities[truth] - tolerance)
      ++tied;
  }
  if (better >= nearest)
    return 0;
  return std::min(1.0, static_cast<double>(nearest - better) /
                           static_cast<double>(tied + 1));
}

namespace {
using Trajectory = LatentTrajectories::Trajectory;

/// The roll-outs of one workload from one state.
struct Group {
  unsigned workload = 0;
  std::vector<const Trajectory *> trajectories;
};
} // namespace

/// One of the trajectories with the same actions, by the order of `group`. Of
/// those that end in a known state, if there is one.
static std::vector<std::pair<const Trajectory *, uint32_t>>
findDistinct(const Group &group, const PrefixTree &tree) {
  MapVector<uint32_t, const Trajectory *> byEnd;
  for (auto [trajectory, end] : zip_equal(group.trajectories, tree.ends)) {
    const Trajectory *&kept = byEnd[end];
    if (!kept || (kept->states.back() == LatentTrajectories::unknown &&
                  trajectory->states.back() != LatentTrajectories::unknown))
      kept = trajectory;
  }
  std::vector<std::pair<const Trajectory *, uint32_t>> distinct;
  for (auto [end, trajectory] : byEnd)
    distinct.emplace_back(trajectory, end);
  return distinct;
}

static void measureGroup(const LatentTrajectories &data, const Group &group,
                         ArrayRef<uint32_t> finalStates,
                         const RolloutPredictor &predictor,
                         RolloutScore &score) {
  std::vector<ArrayRef<uint32_t>> candidates;
  candidates.reserve(group.trajectories.size());
  for (const Trajectory *trajectory : group.trajectories)
    candidates.push_back(trajectory->actions);
  const PrefixTree tree(candidates);
  const std::vector<float> predicted = predictor.predict(
      data, data.getState(group.trajectories.front()->states.front()), tree);
  auto getRow = [&](uint32_t node) {
    return ArrayRef(predicted).slice(node * data.dim, data.dim);
  };
  for (auto [trajectory, end] : findDistinct(group, tree)) {
    ++score.candidates;
    const size_t length = trajectory->actions.size();
    if (score.cosine.size() < length) {
      score.cosine.resize(length);
      score.numKnown.resize(length);
    }
    uint32_t node = end;
    for (size_t step = length; step-- > 0; node = tree.parents[node]) {
      const uint32_t state = trajectory->states[step + 1];
      if (state == LatentTrajectories::unknown)
        continue;
      score.cosine[step] += getDot(getRow(node), data.getState(state));
      ++score.numKnown[step];
    }
    const uint32_t last = trajectory->states.back();
    if (last == LatentTrajectories::unknown)
      continue;
    ++score.numFinal;
    score.finalCosine += getDot(getRow(end), data.getState(last));
    std::vector<double> similarities;
    for (uint32_t state : finalStates)
      similarities.push_back(getDot(getRow(end), data.getState(state)));
    const size_t truth = find(finalStates, last) - finalStates.begin();
    score.hits1 += getHit(similarities, truth, 1);
    score.hits5 += getHit(similarities, truth, 5);
  }
}

RolloutReport measureRollouts(const LatentTrajectories &data,
                              const RolloutPredictor &predictor) {
  std::vector<MapVector<uint32_t, Group>> groups(data.workloads.size());
  std::vector<SetVector<uint32_t>> finalStates(data.workloads.size());
  for (const Trajectory &trajectory : data.trajectories) {
    groups[trajectory.workload][trajectory.states.front()]
        .trajectories.push_back(&trajectory);
    if (trajectory.states.back() != LatentTrajectories::unknown)
      finalStates[trajectory.workload].insert(trajectory.states.back());
  }
  RolloutReport report;
  report.predictor = predictor.getName().str();
  for (unsigned workload = 0; workload < groups.size(); ++workload) {
    if (groups[workload].empty())
      continue;
    RolloutScore &score = report.scores.emplace_back();
    score.workload = workload;
    score.numStates = finalStates[workload].size();
    for (const auto &[start, group] : groups[workload])
      measureGroup(data, group, finalStates[workload].getArrayRef(), predictor,
                   score);
  }
  return report;
}

//===----------------------------------------------------------------------===//
// Means
//===----------------------------------------------------------------------===//

/// Of the scores for which `get` has a value.
static double
getMean(ArrayRef<RolloutScore> scores,
        function_ref<std::optional<double>(const RolloutScore &)> get) {
  double sum = 0;
  size_t count = 0;
  for (const RolloutScore &score : scores) {
    std::optional<double> value = get(score);
    if (!value)
      continue;
    sum += *value;
    ++count;
  }
  return count == 0 ? NAN : sum / static_cast<double>(count);
}

static std::optional<double> divide(double sum, size_t count) {
  if (count == 0)
    return std::nullopt;
  return sum / static_cast<double>(count);
}

double RolloutReport::getCosine(size_t step) const {
  return getMean(scores, [&](const RolloutScore &score) {
    return step < score.cosine.size()
               ? divide(score.cosine[step], score.numKnown[step])
               : std::nullopt;
  });
}

double RolloutReport::getFinalCosine() const {
  return getMean(scores, [](const RolloutScore &score) {
    return divide(score.finalCosine, score.numFinal);
  });
}

double RolloutReport::getRetrieval(size_t nearest) const {
  return getMean(scores, [&](const RolloutScore &score) {
    return score.counts(nearest)
               ? divide(nearest == 1 ? score.hits1 : score.hits5,
                        score.numFinal)
               : std::nullopt;
  });
}

double RolloutReport::getChance(size_t nearest) const {
  return getMean(scores, [&](const RolloutScore &score) {
    return score.counts(nearest)
               ? divide(static_cast<double>(nearest), score.numStates)
               : std::nullopt;
  });
}

size_t RolloutReport::getNumQueries(size_t nearest) const {
  size_t count = 0;
  for (const RolloutScore &score : scores)
    count += score.counts(nearest) ? score.numFinal : 0;
  return count;
}

size_t RolloutReport::getNumWorkloads(size_t nearest) const {
  return count_if(
      scores, [&](const RolloutScore &score) { return score.counts(nearest); });
}

size_t RolloutReport::getNumSteps() const {
  size_t steps = 0;
  for (const RolloutScore &score : scores)
    steps = std::max(steps, score.cosine.size());
  return steps;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static std::string formatNumber(double value) {
  return std::isnan(value) ? "-" : formatv("{0:f3}", value).str();
}

std::string formatRollouts(ArrayRef<RolloutReport> reports) {
  if (reports.empty())
    return "";
  const RolloutReport &first = reports.front();
  std::vector<size_t> steps;
  for (size_t step = 1; step <= first.getNumSteps(); step *= 2)
    steps.push_back(step);
  size_t candidates = 0, known = 0;
  for (const RolloutScore &score : first.scores) {
    candidates += score.candidates;
    known += score.numFinal;
  }
  std::string text;
  raw_string_ostream os(text);
  os << "roll-outs of " << candidates << " distinct candidates of "
     << first.scores.size() << " workloads, final state known of " << known
     << "; means over workloads\n";
  os << left_justify("cosine at step", 16);
  for (size_t step : steps)
    os << right_justify(std::to_string(step), 8);
  os << right_justify("end", 8) << "  retrieval@1      @5\n";
  for (const RolloutReport &report : reports) {
    os << left_justify(report.predictor, 16);
    for (size_t step : steps)
      os << right_justify(formatNumber(report.getCosine(step - 1)), 8);
    os << right_justify(formatNumber(report.getFinalCosine()), 8)
       << right_justify(formatNumber(report.getRetrieval(1)), 13)
       << right_justify(formatNumber(report.getRetrieval(5)), 8) << "\n";
  }
  const auto width = static_cast<unsigned>(16 + 8 * (steps.size() + 1));
  auto addLine = [&](StringRef name, auto get) {
    os << left_justify(name, width) << right_justify(get(1), 13)
       << right_justify(get(5), 8) << "\n";
  };
  addLine("guessing", [&](size_t nearest) {
    return formatNumber(first.getChance(nearest));
  });
  addLine("queries", [&](size_t nearest) {
    return std::to_string(first.getNumQueries(nearest));
  });
  addLine("workloads", [&](size_t nearest) {
    return std::to_string(first.getNumWorkloads(nearest));
  });
  return text;
}

/// JSON has no NaN.
static json::Value toNumber(double value) {
  return std::isnan(value) ? json::Value(nullptr) : json::Value(value);
}

json::Value toJSON(ArrayRef<RolloutReport> reports,
                   const LatentTrajectories &data) {
  json::Array all;
  for (const RolloutReport &report : reports) {
    json::Array cosines, workloads;
    for (size_t step = 0; step < report.getNumSteps(); ++step)
      cosines.push_back(toNumber(report.getCosine(step)));
    for (const RolloutScore &score : report.scores) {
      const auto known = static_cast<double>(score.numFinal);
      workloads.push_back(
          json::Object{{"workload", data.workloads[score.workload]},
                       {"candidates", static_cast<int64_t>(score.candidates)},
                       {"queries", static_cast<int64_t>(score.numFinal)},
                       {"final_states", static_cast<int64_t>(score.numStates)},
                       {"final_cosine", toNumber(score.finalCosine / known)},
                       {"retrieval_1", toNumber(score.hits1 / known)},
                       {"retrieval_5", toNumber(score.hits5 / known)}});
    }
    json::Object line{{"predictor", report.predictor},
                      {"cosine", std::move(cosines)},
                      {"final_cosine", toNumber(report.getFinalCosine())},
                      {"by_workload", std::move(workloads)}};
    for (size_t nearest : {1, 5}) {
      const std::string suffix = "_" + std::to_string(nearest);
      line["retrieval" + suffix] = toNumber(report.getRetrieval(nearest));
      line["guessing" + suffix] = toNumber(report.getChance(nearest));
      line["queries" + suffix] =
          static_cast<int64_t>(report.getNumQueries(nearest));
      line["workloads" + suffix] =
          static_cast<int64_t>(report.getNumWorkloads(nearest));
    }
    all.push_back(std::move(line));
  }
  return all;
}

} // namespace cwm
