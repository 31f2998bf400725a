//===- Tune.h - The driver behind cwm-tune -------------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TUNE_TUNE_H
#define CWM_TUNE_TUNE_H

#include "cwm/Support/Interrupt.h"
#include "cwm/Tune/Options.h"

namespace cwm {

/// Exit codes of cwm-tune.
enum class TuneExit : int {
  Done = 0,
  Error = 1,            ///< usage, input, I/O
  NoValidCandidate = 2, ///< nothing satisfies the constraints or the checks
  Interrupted = interruptedExitCode ///< after a flush and a summary
};

/// Tunes one payload from loading to the written result. Messages, progress
/// and the final table go to stderr; stdout carries only what was asked for
/// there (`-o -`, --dry-run, --count-only).
TuneExit runTune(const TuneOptions &options);

} // namespace cwm

#endif // CWM_TUNE_TUNE_H
