//===- WorkerPoolImpl.h - Workers and jobs of a pool ---------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_RUNNER_WORKERPOOLIMPL_H
#define CWM_LIB_RUNNER_WORKERPOOLIMPL_H

#include "cwm/Runner/WorkerPool.h"

#include "CrashFolder.h"
#include "WakePipe.h"
#include "WorkerSlot.h"

#include <atomic>
#include <map>

namespace cwm {

/// Creates the folder `path` and those above; an error that names it otherwise.
llvm::Error createFolder(llvm::StringRef path);

/// Fills in the cwm-runner beside the running executable where `path` is empty;
/// an error where that is no program.
llvm::Error findRunner(std::string &path);

/// Text of a payload for workers.
std::string printPayload(const Payload &payload);

/// The first message to each worker; `cache` is a folder.
llvm::json::Object makeInitMessage(const Payload &payload,
                                   llvm::StringRef payloadText,
                                   const HardwareDescription &hardware,
                                   const WorkerPoolOptions &options,
                                   llvm::StringRef cache);

/// Process ids of the slots that have a worker.
std::vector<int> getPids(llvm::ArrayRef<WorkerSlot *> slots);

/// Bytes of stack of a compile worker: upstream's rewrites recurse deeply.
inline constexpr uint64_t compileStackBytes = uint64_t(256) << 20;

/// One candidate on its way through the pool.
struct Job {
  enum class Phase { Waiting, Compiling, Compiled, Measuring, Done };
  const MeasureRequest *request = nullptr;
  Phase phase = Phase::Waiting;
  TrialResult result;
  std::string object;
  /// Times that its worker was killed from outside.
  unsigned disturbed = 0;
};

/// Compile and measure workers, the jobs in flight, and what both know of the
/// payload.
struct WorkerPool::Impl {
  WorkerPoolOptions options;
  WakePipe wakePipe;
  std::vector<std::unique_ptr<WorkerSlot>> compilers;
  std::unique_ptr<WorkerSlot> meter;
  std::unique_ptr<CrashFolder> crashes;
  std::string objectFolder;
  /// Compiling and measuring share the only CPU: one at a time.
  bool alternate = false;
  double runTimeout = 0;
  unsigned numObjects = 0;
  double busySeconds = 0;
  double noiseFloor = 0;
  double bestScore = 0, bestTimeNs = 0;
  std::atomic<bool> stopRequested{false};

  std::vector<Job> jobs;
  /// Which job a slot works on.
  std::map<WorkerSlot *, size_t> assigned;
  ResultFn *onResult = nullptr;
  bool measureEach = true;

  llvm::Error start(const Payload &payload,
                    const HardwareDescription &hardware);
  llvm::Error waitForMeter();
  std::vector<WorkerSlot *> getSlots() const;
  llvm::Error run();
  llvm::Error startWorkers();
  void dispatch();
  void dispatchCompile();
  llvm::Error handle(WorkerSlot &slot, SlotEvent event);
  void handleReply(WorkerSlot &slot, Job &job, const llvm::json::Object &reply);
  void handleFailure(Job &job, const SlotEvent &event);
  void disposeObject(const Job &job);
  void finish(Job &job);
  double getRunTimeout() const;
  llvm::Error timeTogether(llvm::ArrayRef<size_t> indices);
  void applyTogether(llvm::ArrayRef<size_t> indices,
                     const llvm::json::Object &reply);
  void wait();
  bool allDone(Job::Phase least) const;
};

} // namespace cwm

#endif // CWM_LIB_RUNNER_WORKERPOOLIMPL_H
