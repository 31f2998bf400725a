//===- EvaluationReport.cpp - An evaluation for people and programs -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/Evaluation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;

namespace cwm {

static constexpr size_t shownTrials[] = {1, 2, 4, 8, 16, 32, 64, 128};

static std::string formatNumber(double value) {
  if (std::isnan(value))
    return "-";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  return formatv("{0:f3}", value).str();
}

/// A value of each seed.
static std::vector<double>
getValues(const EvaluatedMethod &method,
          function_ref<double(ArrayRef<PoolMetrics>)> compute) {
  std::vector<double> values;
  values.reserve(method.results.size());
  for (const std::vector<PoolMetrics> &results : method.results)
    values.push_back(compute(results));
  return values;
}

static void printRow(raw_ostream &os, ArrayRef<std::string> cells) {
  os << "|";
  for (const std::string &cell : cells)
    os << " " << cell << " |";
  os << "\n";
}

static void printHeader(raw_ostream &os, ArrayRef<std::string> cells) {
  printRow(os, cells);
  os << "|---|";
  for (size_t i = 1; i < cells.size(); ++i)
    os << "--:|";
  os << "\n";
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static void printPools(raw_ostream &os, const Evaluation &evaluation,
                       const Evaluation::Group &group) {
  size_t candidates = 0, failures = 0, without = 0;
  std::vector<double> floors;
  for (uint32_t place : group.pools) {
    const EvaluatedPool &pool = evaluation.pools[place];
    candidates += pool.times.size();
    failures += count_if(pool.times, [](double t) { return std::isinf(t); });
    without += !pool.hasBest();
    floors.push_back(pool.noiseFloor);
  }
  os << formatv("{0} pools, {1} candidates, {2} of them failures; noise floor "
                "{3} (median). ",
                group.pools.size(), candidates, failures,
                formatNumber(computeQuantile(floors, 0.5)));
  if (without > 0)
    os << formatv("{0} pools have no valid candidate: nothing is defined "
                  "there. ",
                  without);
  os << "\n\n";
}

static void printRanking(raw_ostream &os, const Evaluation &evaluation,
                         const Evaluation::Group &group) {
  printHeader(os, {"ranking", "score@1", "score@5", "score@10", "mean @1",
                   "median @1", "mean @5", "median @5", "pair accuracy",
                   "NDCG@10", "regret @1 (median)", "best 1 % in first 10 %",
                   "first 1 / 5 all failed"});
  for (const EvaluatedMethod &method : evaluation.methods) {
    auto cell = [&](auto compute) {
      return formatNumber(computeMean(getValues(method, compute)));
    };
    auto mean = [&](PoolMetrics::Metric metric) {
      return cell([&, metric](ArrayRef<PoolMetrics> results) {
        return getMeanOf(results, group.pools, metric);
      });
    };
    auto median = [&](PoolMetrics::Metric metric) {
      return cell([&, metric](ArrayRef<PoolMetrics> results) {
        return getMedianOf(results, group.pools, metric);
      });
    };
    auto failed = [&](size_t index) {
      return cell([&, index](ArrayRef<PoolMetrics> results) {
        return static_cast<double>(count_if(group.pools, [&](uint32_t pool) {
          return results[pool].allFailed[index];
        }));
      });
    };
    std::vector<std::string> cells = {method.name};
    for (size_t index : {0, 1, 2})
      cells.push_back(cell([&, index](ArrayRef<PoolMetrics> results) {
        return getWeightedScore(evaluation.pools, results, group.pools, index);
      }));
    // Those that have only picks, no scores, are in the next table.
    if (cells[1] == "-")
      continue;
    for (PoolMetrics::Metric metric :
         {PoolMetrics::Score1, PoolMetrics::Score5})
      cells.insert(cells.end(), {mean(metric), median(metric)});
    for (PoolMetrics::Metric metric :
         {PoolMetrics::PairAccuracy, PoolMetrics::NDCG10})
      cells.push_back(mean(metric));
    cells.insert(cells.end(),
                 {median(PoolMetrics::Regret1), mean(PoolMetrics::TopRecall),
                  failed(0) + " / " + failed(1)});
    printRow(os, cells);
  }
  os << "\n";
}

static std::string formatSpread(std::vector<double> values) {
  std::string text = formatNumber(computeQuantile(values, 0.5));
  if (values.size() > 1)
    text += " [" + formatNumber(computeQuantile(values, 0.25)) + ", " +
            formatNumber(computeQuantile(values, 0.75)) + "]";
  return text;
}

static void printSearch(raw_ostream &os, const Evaluation &evaluation,
                        const Evaluation::Group &group) {
  std::vector<std::string> head = {"best / best so far after trial"};
  for (size_t trial : shownTrials)
    if (trial <= evaluation.numTrials)
      head.push_back(std::to_string(trial));
  head.emplace_back("trials to within 5 % (median)");
  printHeader(os, head);
  for (const EvaluatedMethod &method : evaluation.methods) {
    std::vector<std::string> cells = {method.name};
    for (size_t trial : shownTrials)
      if (trial <= evaluation.numTrials)
        cells.push_back(
            formatSpread(getValues(method, [&](ArrayRef<PoolMetrics> results) {
              return getCurveAt(results, group.pools, trial);
            })));
    cells.push_back(
        formatSpread(getValues(method, [&](ArrayRef<PoolMetrics> results) {
          return getMedianOf(results, group.pools, PoolMetrics::Trials5);
        })));
    printRow(os, cells);
  }
  os << "\n";
}

static const EvaluatedMethod *findReference(const Evaluation &evaluation) {
  for (const EvaluatedMethod &method : evaluation.methods)
    if (method.name == evaluation.reference)
      return &method;
  return nullptr;
}

static void printDifferences(raw_ostream &os, const Evaluation &evaluation,
                             const Evaluation::Group &group) {
  const EvaluatedMethod *reference = findReference(evaluation);
  if (!reference || group.pools.empty())
    return;
  std::vector<ComparedQuantity> quantities =
      getComparedQuantities(evaluation.pools, evaluation.numTrials);
  std::vector<std::string> head = {"minus " + reference->name};
  for (const ComparedQuantity &quantity : quantities)
    head.push_back(quantity.name);
  printHeader(os, head);
  for (const EvaluatedMethod &method : evaluation.methods) {
    if (&method == reference)
      continue;
    std::vector<std::string> cells = {method.name};
    for (const ComparedQuantity &quantity : quantities) {
      Interval interval =
          compareMethods(method, *reference, group.pools, quantity,
                         evaluation.bootstrapRounds, /*seed=*/0);
      if (std::isnan(interval.estimate)) {
        cells.emplace_back("-");
        continue;
      }
      std::string range = "[" + formatNumber(interval.low) + ", " +
                          formatNumber(interval.high) + "]";
      cells.push_back(interval.excludesZero()
                          ? formatNumber(interval.estimate) + " " + range
                          : "none " + range);
    }
    printRow(os, cells);
  }
  os << "\n";
}

std::string printEvaluation(const Evaluation &evaluation) {
  std::string text;
  raw_string_ostream os(text);
  os << "# Evaluation on fixed pools\n\n";
  for (const auto &[key, value] : evaluation.head)
    os << "- " << key << ": " << value << "\n";
  os << "\nTimes are by score (reference kernel / kernel); failures are "
        "infinitely slow and in every figure. score@k: sum of weight x best "
        "time / sum of weight x best time of the first k, weighted by "
        "occurrence in the networks (TLP's definition); where the first k all "
        "failed, the slowest valid time stands in, and the last column counts "
        "them. mean and median: of best time / best time of the first k over "
        "pools, 0 where these all failed. Rankings: mean over seeds. Searches: "
        "mean over pools, then median [quartiles] over seeds; one more trial "
        "than there are means that 5 % was not reached. Differences: bootstrap "
        "over pools, 95 %; none: the interval spans zero.\n\n";
  for (const EvaluatedMethod &method : evaluation.methods)
    os << "- **" << method.name << "**: " << method.description << "\n";
  os << "\n";
  for (const Evaluation::Group &group : evaluation.groups) {
    if (group.pools.empty())
      continue;
    os << "## " << group.name << "\n\n";
    printPools(os, evaluation, group);
    printRanking(os, evaluation, group);
    printSearch(os, evaluation, group);
    printDifferences(os, evaluation, group);
  }
  if (!evaluation.rollouts.empty())
    os << "## Roll-outs\n\n" << evaluation.rollouts << "\n";
  for (const std::string &note : evaluation.notes)
    os << note << "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static json::Value toNumber(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? json::Value(nullptr)
                           : json::Value(value > 0 ? "inf" : "-inf");
}

static json::Object summarize(const Evaluation &evaluation,
                              const Evaluation::Group &group,
                              const EvaluatedMethod &method) {
  json::Object summary;
  auto put = [&](StringRef name, auto compute) {
    json::Array values;
    for (double value : getValues(method, compute))
      values.push_back(toNumber(value));
    summary[name.str()] = std::move(values);
  };
  constexpr StringLiteral weighted[] = {"score@1", "score@5", "score@10"};
  for (const auto &[index, name] : enumerate(weighted))
    put(name, [&, index = index](ArrayRef<PoolMetrics> results) {
      return getWeightedScore(evaluation.pools, results, group.pools, index);
    });
  constexpr StringLiteral names[] = {
      "score@1_mean", "score@5_mean", "score@10_mean", "pair_accuracy",
      "ndcg@10",      "regret@1",     "top_recall",    "trials_to_5_percent"};
  static_assert(std::size(names) == PoolMetrics::numMetrics);
  for (size_t metric = 0; metric < PoolMetrics::numMetrics; ++metric) {
    auto which = static_cast<PoolMetrics::Metric>(metric);
    put(names[metric], [&, which](ArrayRef<PoolMetrics> results) {
      return getMeanOf(results, group.pools, which);
    });
    put((names[metric] + ":median").str(),
        [&, which](ArrayRef<PoolMetrics> results) {
          return getMedianOf(results, group.pools, which);
        });
  }
  json::Array curves;
  for (const std::vector<PoolMetrics> &results : method.results) {
    json::Array curve;
    for (size_t trial = 1; trial <= evaluation.numTrials; ++trial)
      curve.push_back(toNumber(getCurveAt(results, group.pools, trial)));
    curves.push_back(std::move(curve));
  }
  summary["search"] = std::move(curves);
  return summary;
}

json::Value toJSON(const Evaluation &evaluation) {
  json::Object head;
  for (const auto &[key, value] : evaluation.head)
    head[key] = json::fixUTF8(value);
  json::Array pools;
  for (const EvaluatedPool &pool : evaluation.pools)
    pools.push_back(json::Object{
        {"workload", pool.workload},
        {"file", json::fixUTF8(pool.file)},
        {"candidates", pool.times.size()},
        {"failures",
         count_if(pool.times, [](double time) { return std::isinf(time); })},
        {"weight", pool.weight},
        {"noise_floor", pool.noiseFloor},
        {"best_ns", toNumber(pool.bestTime)}});
  json::Array groups;
  const EvaluatedMethod *reference = findReference(evaluation);
  for (const Evaluation::Group &group : evaluation.groups) {
    json::Object methods, differences;
    for (const EvaluatedMethod &method : evaluation.methods) {
      if (group.pools.empty())
        continue;
      methods[method.name] = summarize(evaluation, group, method);
      if (!reference || &method == reference)
        continue;
      json::Object row;
      for (const ComparedQuantity &quantity :
           getComparedQuantities(evaluation.pools, evaluation.numTrials)) {
        Interval interval =
            compareMethods(method, *reference, group.pools, quantity,
                           evaluation.bootstrapRounds, /*seed=*/0);
        row[quantity.name] =
            json::Array{toNumber(interval.estimate), toNumber(interval.low),
                        toNumber(interval.high)};
      }
      differences[method.name] = std::move(row);
    }
    groups.push_back(json::Object{{"name", group.name},
                                  {"pools", json::Array(group.pools)},
                                  {"methods", std::move(methods)},
                                  {"minus_reference", std::move(differences)}});
  }
  json::Object byPool;
  for (const EvaluatedMethod &method : evaluation.methods) {
    json::Array seeds;
    for (const std::vector<PoolMetrics> &results : method.results) {
      json::Array scores;
      for (const PoolMetrics &one : results)
        scores.push_back(toNumber(one.values[PoolMetrics::Score1]));
      seeds.push_back(std::move(scores));
    }
    byPool[method.name] = std::move(seeds);
  }
  return json::Object{{"kind", "cwm-evaluation"},
                      {"head", std::move(head)},
                      {"reference", evaluation.reference},
                      {"pools", std::move(pools)},
                      {"groups", std::move(groups)},
                      {"score@1_by_pool", std::move(byPool)}};
}

} // namespace cwm
