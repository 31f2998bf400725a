//===- Measurement.cpp - What measures and what scores a run -- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measurement.h"

#include "cwm/Model/RandomScorer.h"
#include "cwm/Model/RankerScorer.h"
#include "cwm/Runner/Limits.h"
#include "cwm/Runner/ReplayMeasurer.h"
#include "cwm/Runner/WorkerPool.h"

#include "llvm/Support/xxhash.h"

using namespace cwm;

/// A result that depends on the key alone, for tests of everything but the
/// measuring: most are valid, times are spread over one decade.
static std::optional<TrialResult> pretend(llvm::StringRef key) {
  uint64_t hash = llvm::xxh3_64bits(key);
  TrialResult result;
  if (hash % 8 == 0) {
    result.status = TrialStatus::TransformError;
    result.reason = "pretended";
    return result;
  }
  result.status = TrialStatus::Ok;
  result.timeNs = 1e5 * static_cast<double>(10 + (hash >> 8) % 90);
  result.score = 1e6 / result.timeNs;
  result.numRounds = 1;
  return result;
}

static llvm::Expected<std::unique_ptr<Measurer>>
createReplay(const TuneOptions &options) {
  llvm::Expected<std::unique_ptr<ReplayMeasurer>> replay =
      options.measurer == "pretend"
          ? std::make_unique<ReplayMeasurer>(pretend)
          : ReplayMeasurer::fromFile(options.replayFrom);
  if (!replay)
    return replay.takeError();
  if (!options.replayJournal.empty())
    (*replay)->setJournal(options.replayJournal);
  (*replay)->setDelay(static_cast<unsigned>(options.replayDelayMs));
  return std::move(*replay);
}

unsigned cwm::getNumCompileWorkers(const TuneOptions &options, size_t cpus) {
  int64_t jobs = options.jobs;
  // Where all CPUs measure, compiling and measuring alternate.
  int64_t others = static_cast<int64_t>(cpus) - options.threads;
  if (jobs == 0)
    jobs = std::max<int64_t>(1, others > 0 ? others : options.threads);
  int64_t candidates = std::max(options.trials, options.checkSpace);
  return static_cast<unsigned>(std::clamp<int64_t>(candidates, 1, jobs));
}

llvm::Expected<std::unique_ptr<Measurer>>
cwm::createMeasurer(const TuneOptions &options, uint64_t seed,
                    const Payload &payload, const HardwareDescription &hardware,
                    const WorkDirectory &workDirectory,
                    std::function<void(llvm::StringRef)> onNote) {
  if (options.measurer != "workers")
    return createReplay(options);
  WorkerPoolOptions pool;
  pool.workDir = workDirectory.getPath().str();
  pool.seed = seed;
  pool.lowering.stockOnly = options.stockOnly;
  pool.lowering.threads = options.threads;
  pool.startTimeoutSeconds = options.timeBudgetSeconds;
  pool.onNote = std::move(onNote);
  pool.numCompileWorkers =
      getNumCompileWorkers(options, getAllowedCPUs().size());
  if (options.keepObjects)
    pool.keptObjectsDir = workDirectory.getFile("objects");
  llvm::Expected<std::unique_ptr<WorkerPool>> workers =
      WorkerPool::create(payload, hardware, pool);
  if (!workers) {
    std::string message = llvm::toString(workers.takeError());
    if (options.timeBudgetSeconds > 0 &&
        llvm::StringRef(message).contains("took longer than"))
      message += ", and nothing can be measured before: give it more "
                 "--time-budget";
    return llvm::createStringError(message);
  }
  return std::move(*workers);
}

llvm::Expected<std::unique_ptr<Scorer>>
cwm::createScorer(const TuneOptions &options) {
  if (options.scorer == "random")
    return std::make_unique<RandomScorer>(options.seed);
  RankerScorer::Options ranker;
  ranker.seed = options.seed;
  return std::make_unique<RankerScorer>(ranker);
}
