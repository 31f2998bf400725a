//===- Timing.h - Paired timing against a fixed kernel ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_TIMING_H
#define CWM_RUNNER_TIMING_H

#include "cwm/Target/CPU/Hardware.h"
#include "cwm/Target/CPU/LoadedKernel.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>
#include <vector>

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace cwm {

/// CPU seconds of the calling thread. Wall time reads preemption as slowness:
/// a kernel of 1.6 ms read 1.6 to 15 ms (prototype measurement).
double getThreadSeconds();

/// Wall-clock seconds: of what several threads do, the time of one says little.
double getWallSeconds();

/// Median; 0 for no values.
double getMedian(std::vector<double> values);

/// What the rounds of one kernel say.
struct TimeEstimate {
  /// Median nanoseconds of one call.
  double timeNs = 0;
  /// Median over rounds of reference time / kernel time, and half of the
  /// interquartile range relative to it.
  double score = 0, spread = 0;
  /// Median time of one call of the reference kernel in the same rounds.
  double referenceNs = 0;
  std::vector<double> ratios;
};

/// The kernel all others are compared with: fused multiply-adds on a register
/// tile whose operands live in L1 and L2. Its code is made by LLVM for the
/// target, so that it does not depend on how cwm itself was compiled; scores
/// of one target and toolchain compare across runs and workloads.
class ReferenceKernel {
public:
  static llvm::Expected<ReferenceKernel>
  create(mlir::MLIRContext *context, const HardwareDescription &hardware,
         int64_t threads = 1);

  /// One call: about 0.2 ms on a machine of 100 GFLOP/s.
  void run() const { kernel(pointers.data()); }
  /// Floating-point operations of one call.
  double getFlops() const { return flops; }

private:
  ReferenceKernel(LoadedKernel kernel) : kernel(std::move(kernel)) {}
  LoadedKernel kernel;
  /// A, B, C.
  std::vector<std::unique_ptr<float[]>> buffers;
  mutable std::vector<void *> pointers;
  double flops = 0;
};

/// A kernel with its buffers, ready to be called.
using TimedCall = llvm::function_ref<void()>;

struct TimingOptions {
  /// What is read before and after a chunk.
  double (*clock)() = getThreadSeconds;
  /// Seconds of one timed chunk. Shorter ones drown in the clock's cost, 20 ms
  /// and more straddle preemptions (spread .1 to .24 instead of .03).
  double chunkSeconds = 3e-3;
  double referenceChunkSeconds = 2e-3;
  int64_t minRounds = 5, maxRounds = 12;
  /// Beyond minRounds, no round starts after so many seconds.
  double budgetSeconds = 0.12;
  /// Stop once the score is below a third of this one; 0 never.
  double bestScore = 0;
  /// timeTogether: seconds for each kernel, in whole rounds, at least three.
  double jointBudgetSeconds = 2;
};

/// Times `call`, one call of which takes about `callSeconds`, in rounds that
/// alternate with the reference kernel.
TimeEstimate timeKernel(const ReferenceKernel &reference, TimedCall call,
                        double callSeconds, const TimingOptions &options);

/// Times several kernels in the same rounds, each round in another order.
/// `onKernel` is told which one runs next.
std::vector<TimeEstimate>
timeTogether(const ReferenceKernel &reference, llvm::ArrayRef<TimedCall> calls,
             llvm::ArrayRef<double> callSeconds, int64_t numRounds,
             const TimingOptions &options,
             llvm::function_ref<void(size_t)> onKernel);

/// Relative difference below which two scores are a tie: twice the standard
/// deviation of repeated estimates. Each inner list holds estimates of one
/// kernel; the median over the kernels counts.
double getNoise(llvm::ArrayRef<std::vector<double>> estimates);

} // namespace cwm

#endif // CWM_RUNNER_TIMING_H
