//===- Evaluation.h - Scorers compared on fixed pools -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAIN_EVALUATION_H
#define CWM_TRAIN_EVALUATION_H

#include "cwm/Train/RankingMetrics.h"
#include "cwm/Train/RankingTask.h"

#include "llvm/Support/JSON.h"

#include <array>
#include <functional>
#include <string>

namespace cwm {

/// What is measured of one order of one pool's candidates; NaN where it is
/// undefined (see RankingMetrics.h) or the method has no scores.
struct PoolMetrics {
  enum Metric : uint8_t {
    Score1, ///< score@k
    Score5,
    Score10,
    PairAccuracy,
    NDCG10,
    Regret1,
    TopRecall,
    Trials5, ///< trials to within 5 % of the best
    numMetrics
  };
  std::array<double, numMetrics> values;
  /// Best time of the first 1, 5 and 10, for the weighted score@k. Where these
  /// all failed, the slowest valid time: an infinite one would leave nothing of
  /// all other pools.
  std::array<double, 3> pickedTimes;
  /// Whether the first 1, 5, 10 all failed.
  std::array<bool, 3> allFailed;
  /// Best time / best so far, by trial.
  std::vector<double> curve;

  PoolMetrics();
};

/// One pool of an evaluation.
struct EvaluatedPool {
  std::string workload, file;
  std::vector<double> times;
  double noiseFloor = 0;
  /// Occurrences: in the networks that are held out, or in all.
  double weight = 1;
  /// Least and largest valid time; infinite where all failed.
  double bestTime = failureTime, slowestTime = failureTime;
  bool hasBest() const { return bestTime < failureTime; }
};
EvaluatedPool makeEvaluatedPool(const RankingTask &task, double weight);

/// A way to order candidates, with several seeds.
struct EvaluatedMethod {
  std::string name;
  /// What it is, for the report.
  std::string description;
  /// [seed][pool]
  std::vector<std::vector<PoolMetrics>> results;
};

/// Metrics of an order that scores give; ties are broken by `seed`.
PoolMetrics measureScores(const EvaluatedPool &pool,
                          llvm::ArrayRef<float> scores, size_t numTrials,
                          uint64_t seed);
/// The search curve of a sequence of picks; the other metrics stay undefined.
PoolMetrics measurePicks(const EvaluatedPool &pool,
                         llvm::ArrayRef<uint32_t> picks, size_t numTrials);

/// Means over some pools of one seed. Pools without a valid candidate are
/// undefined for all methods and not among them.
double getMeanOf(llvm::ArrayRef<PoolMetrics> results,
                 llvm::ArrayRef<uint32_t> pools, PoolMetrics::Metric metric);
double getMedianOf(llvm::ArrayRef<PoolMetrics> results,
                   llvm::ArrayRef<uint32_t> pools, PoolMetrics::Metric metric);
/// sum of weight x best time / sum of weight x best time of the first k;
/// `index`: 0, 1, 2 for k = 1, 5, 10.
double getWeightedScore(llvm::ArrayRef<EvaluatedPool> pools,
                        llvm::ArrayRef<PoolMetrics> results,
                        llvm::ArrayRef<uint32_t> places, size_t index);
/// Mean over pools of best / best so far at a trial, from 1.
double getCurveAt(llvm::ArrayRef<PoolMetrics> results,
                  llvm::ArrayRef<uint32_t> pools, size_t trial);

/// A difference that is reported with an interval.
struct ComparedQuantity {
  std::string name;
  /// Of one method's results, averaged over seeds before it is compared.
  std::function<double(llvm::ArrayRef<PoolMetrics>, llvm::ArrayRef<uint32_t>)>
      compute;
};
std::vector<ComparedQuantity>
getComparedQuantities(llvm::ArrayRef<EvaluatedPool> pools, size_t numTrials);

/// `method` minus `reference`, each the mean over its seeds; the bootstrap
/// draws pools, the same for both.
Interval compareMethods(const EvaluatedMethod &method,
                        const EvaluatedMethod &reference,
                        llvm::ArrayRef<uint32_t> pools,
                        const ComparedQuantity &quantity, size_t rounds,
                        uint64_t seed);

/// Everything that a report shows.
struct Evaluation {
  /// Lines of the head: what, where, how.
  std::vector<std::pair<std::string, std::string>> head;
  std::vector<EvaluatedPool> pools;
  struct Group {
    std::string name;
    std::vector<uint32_t> pools;
  };
  std::vector<Group> groups;
  std::vector<EvaluatedMethod> methods;
  /// The one that all are compared with; absent when it was not evaluated.
  std::string reference;
  size_t numTrials = 128, bootstrapRounds = 10000;
  /// Notes below the tables, and a table of roll-outs, as Markdown.
  std::vector<std::string> notes;
  std::string rollouts;
};

std::string printEvaluation(const Evaluation &evaluation);
llvm::json::Value toJSON(const Evaluation &evaluation);

} // namespace cwm

#endif // CWM_TRAIN_EVALUATION_H
