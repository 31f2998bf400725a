//===- Interrupt.h - Ctrl-C once finishes, twice kills -------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SUPPORT_INTERRUPT_H
#define CWM_SUPPORT_INTERRUPT_H

namespace cwm {

/// Exit code of a tool that was interrupted.
inline constexpr int interruptedExitCode = 130;

/// What takes long and can be asked to end early.
class Stoppable {
public:
  virtual ~Stoppable() = default;
  /// Async-signal-safe; makes the work in progress return soon.
  virtual void requestStop() = 0;
};

/// While it lives, the first SIGINT, SIGTERM or SIGHUP restores the signal's
/// default action, so that the second one kills, and
/// - before the first setWork, ends the process at once with exit code 130 and
///   a line that says so: there is nothing to keep yet;
/// - after setWork, asks the work to stop;
/// - after clearWork, is only noted: whoever has the next piece of work asks
///   wasInterrupted() first.
/// One at a time in a process.
class InterruptScope {
public:
  /// `startMessage`, a line that ends with a newline and outlives the scope,
  /// is written when the process is ended at once.
  explicit InterruptScope(const char *startMessage);
  ~InterruptScope();
  void setWork(Stoppable &work);
  void clearWork();
  InterruptScope(const InterruptScope &) = delete;
  InterruptScope &operator=(const InterruptScope &) = delete;

  static bool wasInterrupted();
};

} // namespace cwm

#endif // CWM_SUPPORT_INTERRUPT_H
