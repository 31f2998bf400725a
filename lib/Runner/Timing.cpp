//===- Timing.cpp - Paired timing against a fixed kernel --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/Timing.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <ctime>

using namespace llvm;

namespace cwm {

double getThreadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

double getWallSeconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// Value below which `share` of the sorted `values` lie.
static double getQuantile(ArrayRef<double> sorted, double share) {
  if (sorted.empty())
    return 0;
  double position = share * double(sorted.size() - 1);
  auto lower = static_cast<size_t>(position);
  size_t upper = std::min(lower + 1, sorted.size() - 1);
  double weight = position - double(lower);
  return sorted[lower] * (1 - weight) + sorted[upper] * weight;
}

double getMedian(std::vector<double> values) {
  llvm::sort(values);
  return getQuantile(values, 0.5);
}

/// Calls between two looks at the clock, which must not show in the time.
static constexpr int64_t callsBetweenLooks = 64;

/// Seconds of one call, from `calls` calls in a row; by the wall clock fewer,
/// where others use the machine and a call takes far longer than expected.
static double timeChunk(TimedCall call, int64_t calls,
                        const TimingOptions &options) {
  bool mayStop = options.clock == getWallSeconds;
  double before = options.clock();
  for (int64_t i = 0; i < calls; ++i) {
    call();
    if (mayStop && (i + 1) % callsBetweenLooks == 0) {
      double seconds = options.clock() - before;
      if (seconds > 4 * options.chunkSeconds)
        return seconds / double(i + 1);
    }
  }
  return (options.clock() - before) / double(calls);
}

static int64_t getNumCalls(double chunkSeconds, double callSeconds) {
  return std::clamp<int64_t>(
      std::llround(chunkSeconds / std::max(callSeconds, 1e-9)), 1, 1 << 20);
}

namespace {
/// Times of one kernel and of the reference kernel, round by round.
struct Series {
  std::vector<double> kernel, reference;

  TimeEstimate summarize() const {
    TimeEstimate estimate;
    for (auto [time, base] : llvm::zip(kernel, reference))
      estimate.ratios.push_back(base / std::max(time, 1e-12));
    std::vector<double> sorted = estimate.ratios;
    llvm::sort(sorted);
    estimate.score = getQuantile(sorted, 0.5);
    if (estimate.score > 0)
      estimate.spread =
          (getQuantile(sorted, 0.75) - getQuantile(sorted, 0.25)) /
          (2 * estimate.score);
    estimate.timeNs = getMedian(kernel) * 1e9;
    estimate.referenceNs = getMedian(reference) * 1e9;
    return estimate;
  }
};
} // namespace

/// Calls of the reference kernel that fill its chunk.
static int64_t calibrate(const ReferenceKernel &reference,
                         const TimingOptions &options) {
  auto call = [&] { reference.run(); };
  double seconds =
      std::min(timeChunk(call, 1, options), timeChunk(call, 1, options));
  return getNumCalls(options.referenceChunkSeconds, seconds);
}

/// One timed chunk; short kernels get one call first, to have their data back
/// in the caches that the other kernel used.
static double timeRound(TimedCall call, double callSeconds, int64_t calls,
                        const TimingOptions &options) {
  if (callSeconds < options.chunkSeconds / 3)
    call();
  return timeChunk(call, calls, options);
}

TimeEstimate timeKernel(const ReferenceKernel &reference, TimedCall call,
                        double callSeconds, const TimingOptions &options) {
  int64_t calls = getNumCalls(options.chunkSeconds, callSeconds);
  int64_t referenceCalls = calibrate(reference, options);
  auto referenceCall = [&] { reference.run(); };
  Series series;
  double start = options.clock();
  for (int64_t round = 0; round < options.maxRounds; ++round) {
    if (round >= options.minRounds &&
        options.clock() - start > options.budgetSeconds)
      break;
    // A hopeless kernel needs no precision: two rounds settle it, one when a
    // round takes long.
    bool looked = round >= 2 || (round == 1 && callSeconds > 0.1);
    if (looked && 3 * series.summarize().score < options.bestScore)
      break;
    series.reference.push_back(
        timeChunk(referenceCall, referenceCalls, options));
    series.kernel.push_back(timeRound(call, callSeconds, calls, options));
  }
  return series.summarize();
}

/// Rounds of one kernel: `wanted`, but a slow one takes no more than its share
/// of time; nobody waits a minute for the last percent of a lost baseline.
static int64_t getNumRounds(int64_t wanted, double callSeconds,
                            const TimingOptions &options) {
  double affordable = options.jointBudgetSeconds / std::max(callSeconds, 1e-9);
  return std::clamp(int64_t(std::min(affordable, double(wanted))),
                    std::min<int64_t>(3, wanted), wanted);
}

std::vector<TimeEstimate> timeTogether(const ReferenceKernel &reference,
                                       ArrayRef<TimedCall> calls,
                                       ArrayRef<double> callSeconds,
                                       int64_t numRounds,
                                       const TimingOptions &options,
                                       function_ref<void(size_t)> onKernel) {
  int64_t referenceCalls = calibrate(reference, options);
  auto referenceCall = [&] { reference.run(); };
  std::vector<Series> series(calls.size());
  for (int64_t round = 0; round < numRounds; ++round) {
    for (size_t i = 0; i < calls.size(); ++i) {
      // Rotated and every other time reversed: no kernel always follows the
      // same neighbour.
      size_t position = (i + round) % calls.size();
      size_t index = round % 2 ? calls.size() - 1 - position : position;
      if (round >= getNumRounds(numRounds, callSeconds[index], options))
        continue;
      onKernel(index);
      series[index].reference.push_back(
          timeChunk(referenceCall, referenceCalls, options));
      series[index].kernel.push_back(timeRound(
          calls[index], callSeconds[index],
          getNumCalls(options.chunkSeconds, callSeconds[index]), options));
    }
  }
  std::vector<TimeEstimate> estimates;
  estimates.reserve(series.size());
  for (const Series &one : series)
    estimates.push_back(one.summarize());
  return estimates;
}

double getNoise(ArrayRef<std::vector<double>> estimates) {
  std::vector<double> deviations;
  for (const std::vector<double> &values : estimates) {
    if (values.size() < 2)
      continue;
    double mean = 0, squares = 0;
    for (double value : values)
      mean += value / double(values.size());
    for (double value : values)
      squares += (value - mean) * (value - mean);
    if (mean > 0)
      deviations.push_back(std::sqrt(squares / double(values.size() - 1)) /
                           mean);
  }
  return 2 * getMedian(deviations);
}

} // namespace cwm
