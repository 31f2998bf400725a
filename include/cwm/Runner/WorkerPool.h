//===- WorkerPool.h - Measures candidates in worker processes ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_WORKERPOOL_H
#define CWM_RUNNER_WORKERPOOL_H

#include "cwm/Payload/Payload.h"
#include "cwm/Runner/Measurer.h"
#include "cwm/Target/CPU/Hardware.h"
#include "cwm/Target/CPU/Lowering.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace cwm {

struct WorkerPoolOptions {
  /// Folder of the run, created if missing. Holds `cache/` (references),
  /// `crashes/` (what reproduces a crash) and, while the pool lives, objects.
  std::string workDir;
  /// Of the random inputs.
  uint64_t seed = 0;
  /// The cwm-runner executable; empty: next to the running executable.
  std::string runnerPath;
  /// 0: one less than the CPUs this process may use, at least one.
  unsigned numCompileWorkers = 0;
  /// CPU seconds for transforming, lowering and compiling one candidate; a
  /// process that does not get its CPU is given up after four times as long.
  double compileTimeoutSeconds = 10;
  /// The same for one call of a kernel; 0: from the payload's operations, and
  /// from the best candidate once one is known.
  double runTimeoutSeconds = 0;
  /// CPU seconds for what candidates are compared with, the payload evaluated
  /// once; 0: from the payload's operations.
  double startTimeoutSeconds = 0;
  /// Receives what the user should know meanwhile; may be null.
  std::function<void(llvm::StringRef)> onNote;
  /// Address space of a compile worker.
  uint64_t compileMemoryBytes = uint64_t(6) << 30;
  /// A worker is replaced after so many candidates, or when it has grown to
  /// half of its address space: contexts only grow.
  unsigned maxCandidatesPerWorker = 256;
  CPULoweringOptions lowering;
  /// Where the object files of valid candidates stay, with an index.jsonl of
  /// their keys; empty: they are removed.
  std::string keptObjectsDir;
  /// Further arguments of the workers (fault injection of tests).
  std::vector<std::string> runnerArguments;
};

/// Compiles candidates in several worker processes and measures one at a time
/// in another, on a CPU of its own when there are two. A candidate that kills
/// or hangs its worker gets a record, and the worker is replaced.
class WorkerPool : public Measurer {
public:
  /// Starts the workers and evaluates the reference (or finds it in the
  /// cache). Errors: the work folder cannot be written, no worker starts, the
  /// reference cannot be evaluated or holds NaN whatever the inputs.
  static llvm::Expected<std::unique_ptr<WorkerPool>>
  create(const Payload &payload, const HardwareDescription &hardware,
         const WorkerPoolOptions &options);
  ~WorkerPool() override;

  llvm::Error measure(llvm::ArrayRef<MeasureRequest> requests,
                      ResultFn onResult) override;
  llvm::Error measureTogether(llvm::ArrayRef<MeasureRequest> requests,
                              ResultFn onResult) override;
  /// From repeated estimates of one candidate; at least one percent.
  double getNoiseFloor() const override;
  double getBusySeconds() const override;
  void requestStop() override;

  /// Process ids of the living workers, the measuring one last.
  std::vector<int> getWorkerPids() const;
  /// How many workers were started in all.
  unsigned getNumSpawned() const;

private:
  WorkerPool();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace cwm

#endif // CWM_RUNNER_WORKERPOOL_H
