//===- RecordPool.h - Records candidates in worker processes ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_RECORDPOOL_H
#define CWM_RUNNER_RECORDPOOL_H

#include "cwm/Payload/Payload.h"
#include "cwm/Runner/Measurer.h"
#include "cwm/Target/CPU/Hardware.h"
#include "cwm/Trajectory/History.h"

#include <memory>

namespace cwm {

struct RecordPoolOptions {
  /// The cwm-runner executable; empty: next to the running executable.
  std::string runnerPath;
  /// 0: as many as the CPUs this process may use.
  unsigned numWorkers = 0;
  /// CPU seconds for one candidate.
  double timeoutSeconds = 10;
  /// Address space of a worker.
  uint64_t memoryBytes = uint64_t(6) << 30;
  unsigned maxCandidatesPerWorker = 256;
  /// Of the kernel.
  int64_t threads = 1;
  /// Further arguments of the workers (fault injection of tests).
  std::vector<std::string> runnerArguments;
};

/// What came of recording one candidate.
struct RecordResult {
  /// Status (as of a trial that goes no further than the transformation),
  /// reason and milliseconds.
  TrialResult trial;
  /// Empty unless the status is ok.
  History history;
};

/// Applies candidates of one payload in worker processes, which may die of it,
/// and hands back what was recorded. Nothing is lowered or measured.
class RecordPool : public Stoppable {
public:
  static llvm::Expected<std::unique_ptr<RecordPool>>
  create(const Payload &payload, const HardwareDescription &hardware,
         const RecordPoolOptions &options);
  ~RecordPool() override;

  /// The next candidate, asked for when a worker has nothing to do; nullopt:
  /// there are no more.
  using NextFn = llvm::function_ref<std::optional<MeasureRequest>()>;
  using ResultFn =
      llvm::function_ref<llvm::Error(size_t index, RecordResult result)>;
  /// Calls `onResult` once for each candidate, numbered in the order in which
  /// `next` gave them, in any order; for some only after requestStop(). Fails
  /// when no worker can be started, and when `onResult` does.
  llvm::Error record(NextFn next, ResultFn onResult);
  void requestStop() override;

  /// Process ids of the living workers.
  std::vector<int> getWorkerPids() const;

private:
  RecordPool();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace cwm

#endif // CWM_RUNNER_RECORDPOOL_H
