//===- MeasureStage.h - Check and time one object ---------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_MEASURESTAGE_H
#define CWM_RUNNER_MEASURESTAGE_H

#include "cwm/Payload/Payload.h"
#include "cwm/Runner/CompileStage.h"
#include "cwm/Runner/GuardedBuffer.h"
#include "cwm/Runner/Reference.h"
#include "cwm/Runner/Timing.h"
#include "cwm/Runner/TrialResult.h"

#include <memory>

namespace cwm {

/// Before a stage: its name, and how many seconds it may take at most.
using TimedStageFn =
    llvm::function_ref<void(llvm::StringRef stage, double timeoutSeconds)>;

/// Everything that the candidates of one payload are measured with: inputs,
/// guarded result buffers, the reference, the reference kernel.
class MeasureStage {
public:
  static llvm::Expected<std::unique_ptr<MeasureStage>>
  create(const Payload &payload, const HardwareDescription &hardware,
         uint64_t seed, llvm::StringRef cacheFolder, int64_t threads = 1,
         EvaluationFn onEvaluation = nullptr);

  struct Options {
    double bestScore = 0;
    double runTimeoutSeconds = 10;
    /// Also estimate the noise floor, from repeated estimates.
    bool estimateNoise = false;
  };

  /// Loads, checks and times one object. ok, wrong_result, or crash when it
  /// cannot be loaded; generated code may also kill or hang the process.
  TrialResult measure(llvm::StringRef objectPath, const Options &options,
                      TimedStageFn onStage);
  /// The same of an object in memory.
  TrialResult measure(llvm::ArrayRef<char> object, const Options &options,
                      TimedStageFn onStage);

  /// Checks and times several objects in common rounds: 25, fewer of kernels
  /// that take more than 80 ms.
  std::vector<TrialResult>
  measureTogether(llvm::ArrayRef<std::string> objectPaths,
                  const Options &options, TimedStageFn onStage);

  /// Of the last estimate; 0 before.
  double getNoise() const { return noise; }
  /// Of the results together; single ones may have a wider one.
  double getTolerance() const { return tolerance; }

private:
  MeasureStage(const Payload &payload, const HardwareDescription &hardware,
               ReferenceKernel kernel, uint64_t seed,
               llvm::StringRef cacheFolder, int64_t threads)
      : payload(payload), hardware(hardware), kernel(std::move(kernel)),
        seed(seed), cacheFolder(cacheFolder), threads(threads) {}

  /// CPU time of one thread; of several, wall time.
  double getSeconds() const {
    return threads > 1 ? getWallSeconds() : getThreadSeconds();
  }
  TimingOptions getTimingOptions() const {
    TimingOptions timing;
    timing.clock = threads > 1 ? getWallSeconds : getThreadSeconds;
    return timing;
  }

  /// A stage of the work on one object, for timeouts and messages.
  struct Stage {
    TimedStageFn onStage;
    std::string name;
    double timeoutSeconds;
    void announce() const { onStage(name, timeoutSeconds); }
  };

  using LoadFn = llvm::function_ref<llvm::Expected<LoadedKernel>()>;
  TrialResult measureLoaded(LoadFn load, const Options &options,
                            TimedStageFn onStage);

  /// Runs the kernel twice: in checking mode on NaN, then as it is timed; of
  /// several threads more often, as a race does not show each time.
  /// Returns the reason when it is wrong; sets the largest error, and the
  /// seconds of the second call.
  std::string check(LoadedKernel &candidate, const Stage &stage,
                    TrialResult &result, double &callSeconds);
  void time(TimedCall call, double callSeconds, const Options &options,
            TrialResult &result);
  std::string compareResults(const Stage &stage, TrialResult &result);
  /// Of several threads: calls the kernel again and compares its results bit by
  /// bit. Returns the reason when they differ.
  std::string findRace(LoadedKernel &candidate, double callSeconds);
  /// Seconds of one call: of the check's last one, or of a warm one when that
  /// is cheap.
  double timeCall(TimedCall call, double lastSeconds) const;
  /// Evaluates the payload in its own precision, for the first results that
  /// fail; of most payloads no candidate does.
  void evaluateOwnErrors(const Stage &stage);
  std::string checkCanaries();
  void poisonResults(bool withNaN);
  void setResult(const TimeEstimate &estimate, TrialResult &result) const;

  const Payload &payload;
  HardwareDescription hardware;
  ReferenceKernel kernel;
  Reference reference;
  uint64_t seed;
  std::string cacheFolder;
  int64_t threads;
  double tolerance = 0, roundoff = 0, noise = 0;
  /// Of the results, once they were asked for.
  std::optional<std::vector<Deviation>> ownErrors;
  /// Of the results; wider once their errors are known.
  std::vector<Tolerance> tolerances;
  std::vector<GuardedBuffer> inputs, results;
  std::vector<void *> pointers;
};

} // namespace cwm

#endif // CWM_RUNNER_MEASURESTAGE_H
