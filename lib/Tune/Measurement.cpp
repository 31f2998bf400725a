//===- Measurement.cpp - What measures and what scores a run -- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measurement.h"

#include "cwm/Model/InstalledModel.h"
#include "cwm/Model/RandomScorer.h"
#include "cwm/Model/RankerScorer.h"
#include "cwm/Model/WorldModelScorer.h"
#include "cwm/Runner/CreateMeasurer.h"
#include "cwm/Runner/Limits.h"

using namespace cwm;

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
  MeasurerOptions measurer;
  measurer.name = options.measurer;
  measurer.replayFrom = options.replayFrom;
  measurer.replayJournal = options.replayJournal;
  measurer.replayDelayMs = options.replayDelayMs;
  WorkerPoolOptions &pool = measurer.pool;
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
  llvm::Expected<std::unique_ptr<Measurer>> created =
      createMeasurer(measurer, payload, hardware);
  if (created || options.timeBudgetSeconds <= 0)
    return created;
  std::string message = llvm::toString(created.takeError());
  if (llvm::StringRef(message).contains("took longer than"))
    message += ", and nothing can be measured before: give it more "
               "--time-budget";
  return llvm::createStringError(message);
}

static llvm::Expected<std::unique_ptr<Scorer>>
createWorldModelScorer(llvm::StringRef folder, const TuneOptions &options,
                       const ScoringContext &payload,
                       llvm::StringRef targetKey) {
  llvm::Expected<ModelDirectory> directory = ModelDirectory::load(folder);
  if (!directory)
    return directory.takeError();
  llvm::Expected<std::unique_ptr<WorldModel>> model =
      WorldModel::load(*directory, targetKey, payload.hardware);
  if (!model)
    return model.takeError();
  WorldModelScorer::Options world;
  world.seed = options.seed;
  return std::make_unique<WorldModelScorer>(std::move(*model), payload, world);
}

llvm::Expected<std::unique_ptr<Scorer>>
cwm::createScorer(const TuneOptions &options, const ScoringContext &payload,
                  llvm::StringRef targetKey,
                  llvm::function_ref<void(const llvm::Twine &)> note) {
  if (options.scorer == "random")
    return std::make_unique<RandomScorer>(options.seed);
  if (options.scorer != "features") {
    bool isAsked = options.scorer == "world-model" || !options.model.empty();
    std::string folder =
        options.model.empty() ? findInstalledModel() : options.model;
    if (folder.empty() && isAsked)
      return llvm::createStringError(
          "no model is installed: name one with --model");
    if (!folder.empty()) {
      auto scorer = createWorldModelScorer(folder, options, payload, targetKey);
      if (scorer || isAsked)
        return scorer;
      note(toString(scorer.takeError()) +
           "; candidates are scored by their features");
    } else {
      note("no model is installed; candidates are scored by their features");
    }
  }
  RankerScorer::Options ranker;
  ranker.seed = options.seed;
  return std::make_unique<RankerScorer>(ranker);
}
