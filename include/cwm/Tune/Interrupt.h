//===- Interrupt.h - Ctrl-C once finishes, twice kills -------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TUNE_INTERRUPT_H
#define CWM_TUNE_INTERRUPT_H

#include "cwm/Runner/Measurer.h"

namespace cwm {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP restores the signal's
/// default action, so that the second one kills, and
/// - before setMeasurer, ends the process at once with exit code 130 and a line
///   that says so: there is nothing to keep yet;
/// - after setMeasurer, asks the measurer to stop;
/// - after clearMeasurer, is only noted: the run is about to end.
/// One at a time in a process.
class InterruptScope {
public:
  InterruptScope();
  ~InterruptScope();
  void setMeasurer(Measurer &measurer);
  void clearMeasurer();
  InterruptScope(const InterruptScope &) = delete;
  InterruptScope &operator=(const InterruptScope &) = delete;

  static bool wasInterrupted();
};

} // namespace cwm

#endif // CWM_TUNE_INTERRUPT_H
