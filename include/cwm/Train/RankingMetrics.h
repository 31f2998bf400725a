//===- RankingMetrics.h - How good an order of candidates is ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAIN_RANKINGMETRICS_H
#define CWM_TRAIN_RANKINGMETRICS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace cwm {

// All of these are about one pool of candidates that were all measured. A time
// is infinite where a candidate failed: failures are the slowest, and none is
// left out. Where no candidate of a pool is valid there is no best one, and
// what is relative to it is undefined: nullopt.

/// The time of a failure.
constexpr double failureTime = std::numeric_limits<double>::infinity();

/// Places in order of falling score. Ties are broken at random, by `seed`: a
/// scorer that knows nothing picks at random. NaN comes last.
std::vector<uint32_t> orderByScore(llvm::ArrayRef<float> scores, uint64_t seed);

/// The least time of the first `count` places of `order`, or of all if there
/// are fewer; infinite where all failed.
double getBestTime(llvm::ArrayRef<double> times, llvm::ArrayRef<uint32_t> order,
                   size_t count);

/// score@k: the pool's best time / the best time of the first k; 0 where these
/// all failed.
std::optional<double> computeScoreAt(llvm::ArrayRef<double> times,
                                     llvm::ArrayRef<uint32_t> order, size_t k);

/// Share of pairs that are ordered as their times are, of those whose times
/// differ by more than `noiseFloor`, relative to the smaller one. Equal scores
/// count half. A failure and a valid candidate are such a pair, two failures
/// are not. nullopt where there is no such pair.
std::optional<double> computePairwiseAccuracy(llvm::ArrayRef<double> times,
                                              llvm::ArrayRef<float> scores,
                                              double noiseFloor);

/// NDCG of the first k; the gain of a candidate is the best time / its time.
std::optional<double> computeNDCG(llvm::ArrayRef<double> times,
                                  llvm::ArrayRef<uint32_t> order, size_t k);

/// How much slower than the best the first is: its time / the best time - 1.
/// Infinite where it failed.
std::optional<double> computeRegret(llvm::ArrayRef<double> times,
                                    llvm::ArrayRef<uint32_t> order);

/// Share of the truly best candidates (1 %, at least one, valid ones) that are
/// in the first 10 % (at least one) of the order.
std::optional<double> computeTopRecall(llvm::ArrayRef<double> times,
                                       llvm::ArrayRef<uint32_t> order);

/// For trials 1, 2, ..., `numTrials`: the pool's best time / the best one so
/// far, 0 while there is none. A pool with fewer candidates stays where it
/// ended.
std::optional<std::vector<double>>
computeSearchCurve(llvm::ArrayRef<double> times, llvm::ArrayRef<uint32_t> order,
                   size_t numTrials);

/// Trials that a curve needs to come within `tolerance` of the best: its value
/// is at least 1 / (1 + tolerance). One more than its length where it does not.
size_t countTrialsToReach(llvm::ArrayRef<double> curve, double tolerance);

/// Linear interpolation between order statistics; NaN of no values.
double computeQuantile(std::vector<double> values, double share);
double computeMean(llvm::ArrayRef<double> values);

/// A difference and its bootstrap interval of 95 %.
struct Interval {
  double estimate = 0, low = 0, high = 0;
  bool excludesZero() const { return low > 0 || high < 0; }
};

/// Draws `count` places with replacement, `rounds` times, and takes the 2.5 %
/// and 97.5 % quantiles of what `statistic` says of them; the estimate is that
/// of all places once. With fewer than two places the interval is infinite.
Interval computeBootstrap(
    size_t count, size_t rounds, uint64_t seed,
    llvm::function_ref<double(llvm::ArrayRef<uint32_t> places)> statistic);

} // namespace cwm

#endif // CWM_TRAIN_RANKINGMETRICS_H
