//===- CreateMeasurer.cpp - A measurer by name ------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/CreateMeasurer.h"

#include "cwm/Runner/ReplayMeasurer.h"

#include "llvm/Support/xxhash.h"

using namespace cwm;

/// Most are valid, times are spread over one decade.
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
createReplay(const MeasurerOptions &options) {
  llvm::Expected<std::unique_ptr<ReplayMeasurer>> replay =
      options.name == "pretend" ? std::make_unique<ReplayMeasurer>(pretend)
                                : ReplayMeasurer::fromFile(options.replayFrom);
  if (!replay)
    return replay.takeError();
  if (!options.replayJournal.empty())
    (*replay)->setJournal(options.replayJournal);
  (*replay)->setDelay(static_cast<unsigned>(options.replayDelayMs));
  return std::move(*replay);
}

llvm::Expected<std::unique_ptr<Measurer>>
cwm::createMeasurer(const MeasurerOptions &options, const Payload &payload,
                    const HardwareDescription &hardware) {
  if (options.name != "workers")
    return createReplay(options);
  llvm::Expected<std::unique_ptr<WorkerPool>> workers =
      WorkerPool::create(payload, hardware, options.pool);
  if (!workers)
    return workers.takeError();
  return std::move(*workers);
}
