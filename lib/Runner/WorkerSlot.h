//===- WorkerSlot.h - A place for one worker, refilled ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_WORKERSLOT_H
#define CWM_RUNNER_WORKERSLOT_H

#include "cwm/Runner/TrialResult.h"
#include "cwm/Runner/WorkerProcess.h"

#include "llvm/ADT/ArrayRef.h"

#include <chrono>

namespace cwm {

using Clock = std::chrono::steady_clock;

/// What came of the request in flight.
struct SlotEvent {
  enum class Kind {
    Reply,   ///< the worker's answer
    Failed,  ///< the worker died, hung or talked garbage
    Unusable ///< no worker can be started here
  };
  Kind kind = Kind::Reply;
  llvm::json::Object reply;
  /// Of a failure.
  TrialStatus status = TrialStatus::Crash;
  std::string reason;
  /// Killed by a signal that no candidate raises: it may be innocent.
  bool killedFromOutside = false;
};

/// Keeps one worker process alive, with at most one request in flight.
class WorkerSlot {
public:
  struct Options {
    std::string name; ///< "compile" or "measure", for messages
    std::vector<std::string> command;
    ProcessLimits limits;
    llvm::json::Object init; ///< first message to each new worker
    double initTimeoutSeconds = 120;
    TrialStatus timeoutStatus = TrialStatus::CompileTimeout;
    unsigned maxRequests = 256;
    /// How many use the CPU time of a request.
    int64_t numThreads = 1;
  };
  explicit WorkerSlot(Options options) : options(std::move(options)) {}

  /// Starts a worker if there is none. It becomes idle once it has answered
  /// the first message.
  llvm::Error ensureStarted();
  bool isIdle() const { return process && ready && !busy; }
  bool isBusy() const { return busy; }
  /// Sends a request to an idle worker, which may use `seconds` of CPU time,
  /// and a multiple of it of wall time. A worker that announces a stage with a
  /// timeout of its own starts afresh.
  void request(llvm::json::Object message, double seconds);
  /// Handles what poll reported and what is overdue.
  std::optional<SlotEvent> update();
  /// When update() has something to do without any descriptor being ready.
  std::optional<Clock::time_point> getDeadline() const;
  /// Gives up the worker, and the request in flight with it.
  void stop();

  const WorkerProcess *getProcess() const { return process.get(); }
  /// What it is doing, for messages.
  llvm::StringRef getStage() const { return stage; }
  unsigned getNumSpawned() const { return numSpawned; }
  /// The worker's answer to the first message.
  const llvm::json::Object &getInitReply() const { return initReply; }

private:
  std::optional<SlotEvent> handle(llvm::json::Object message);
  std::optional<SlotEvent> fail(TrialStatus status, std::string reason,
                                bool killedFromOutside = false);
  void armTimeout(double seconds);
  bool isOverdue();

  Options options;
  std::unique_ptr<WorkerProcess> process;
  bool ready = false, busy = false;
  std::string stage;
  unsigned requestsServed = 0, failedStarts = 0, numSpawned = 0;
  double timeoutSeconds = 0, cpuAtStart = 0;
  Clock::time_point startedAt, deadline;
  llvm::json::Object initReply;
};

/// Waits until a worker of `slots` has news, `wakeDescriptor` is readable, or a
/// deadline passes.
void pollSlots(llvm::ArrayRef<WorkerSlot *> slots, int wakeDescriptor);

} // namespace cwm

#endif // CWM_RUNNER_WORKERSLOT_H
