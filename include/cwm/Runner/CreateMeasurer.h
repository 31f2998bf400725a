//===- CreateMeasurer.h - A measurer by name --------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_CREATEMEASURER_H
#define CWM_RUNNER_CREATEMEASURER_H

#include "cwm/Runner/WorkerPool.h"

namespace cwm {

/// What --measurer and its companions say.
struct MeasurerOptions {
  /// "workers"; "replay" and "pretend" for tests of everything else: recorded
  /// results, and results that depend on the key alone.
  std::string name = "workers";
  std::string replayFrom, replayJournal;
  int64_t replayDelayMs = 0;
  WorkerPoolOptions pool;
};

/// A measurer that is ready for candidates of `payload`.
llvm::Expected<std::unique_ptr<Measurer>>
createMeasurer(const MeasurerOptions &options, const Payload &payload,
               const HardwareDescription &hardware);

} // namespace cwm

#endif // CWM_RUNNER_CREATEMEASURER_H
