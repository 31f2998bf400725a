//===- WorkerProcess.h - One worker as the driver sees it -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_WORKERPROCESS_H
#define CWM_RUNNER_WORKERPROCESS_H

#include "cwm/Runner/Limits.h"
#include "cwm/Runner/Protocol.h"

#include <memory>
#include <sys/types.h>

namespace cwm {

/// How a worker process ended.
struct WorkerExit {
  /// Signal that killed it; 0 when it exited.
  int signal = 0;
  int exitCode = 0;
  /// "signal 11 (Segmentation fault)" or "exit code 1", then the last line the
  /// worker wrote to its standard error, if any.
  std::string describe() const;
  std::string lastStderrLine;
};

/// A child process that talks in frames over its standard input and output.
/// Nothing here blocks: the owner polls the descriptors and calls pump().
class WorkerProcess {
public:
  /// Starts `command`. The child dies with the calling thread's process
  /// (PR_SET_PDEATHSIG), inherits no descriptors but its own, and ignores
  /// SIGINT so that Ctrl-C reaches the driver alone.
  static llvm::Expected<std::unique_ptr<WorkerProcess>>
  spawn(const std::vector<std::string> &command, const ProcessLimits &limits);

  /// Kills the process if it is alive, and reaps it.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess &) = delete;
  WorkerProcess &operator=(const WorkerProcess &) = delete;

  pid_t getPid() const { return pid; }
  /// Descriptors to poll: the stream of frames, and standard error.
  int getStream() const { return stream; }
  int getErrorStream() const { return errorStream; }
  bool wantsToWrite() const { return !pending.empty(); }

  /// Queues a message; pump() sends what the socket takes.
  void send(const llvm::json::Object &message);
  /// Reads and writes what is possible without blocking. False when the worker
  /// closed its stream (it is dead or dying).
  bool pump();
  /// The next message; nullopt when none is complete. An error when the worker
  /// wrote garbage.
  llvm::Expected<std::optional<llvm::json::Object>> receive();

  /// Kills and reaps.
  void kill();
  /// Reaps a worker whose stream is closed; kills it when it does not end by
  /// itself at once. Valid after kill() as well.
  WorkerExit wait();

private:
  WorkerProcess() = default;
  void readErrors();

  pid_t pid = -1;
  int stream = -1, errorStream = -1;
  bool reaped = false;
  WorkerExit exit;
  std::string pending;
  /// Last bytes of standard error.
  std::string errors;
  FrameReader reader;
};

} // namespace cwm

#endif // CWM_RUNNER_WORKERPROCESS_H
