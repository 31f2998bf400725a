//===- CheckKnobs.h - Do all options make a difference? ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SPACE_CHECKKNOBS_H
#define CWM_SPACE_CHECKKNOBS_H

#include "cwm/Space/Space.h"

namespace cwm {

/// What applying one bound script to the payload gave.
struct ScriptOutcome {
  /// Anything that is equal iff the resulting IR is equal; empty on failure.
  std::string fingerprint;
  /// Why it failed.
  std::string message;
};

/// Applies a bound script, in this process or in a worker.
using ScriptRunner = llvm::function_ref<ScriptOutcome(mlir::ModuleOp script)>;

/// What was found about one knob. Options are given by index.
struct KnobReport {
  unsigned knob = 0;
  /// Each group has two options or more with which the IR is the same.
  std::vector<std::vector<uint64_t>> inert;
  /// Options with which the schedule cannot be bound or fails, with the reason.
  std::vector<std::pair<uint64_t, std::string>> failed;
  /// Options that no candidate has.
  std::vector<uint64_t> impossible;
  uint64_t numLookedAt = 0;

  bool isClean() const {
    return inert.empty() && failed.empty() && impossible.empty();
  }
};

/// Compares the options of each knob that has several: the other knobs at
/// their default where the constraints allow that, else as near to it as they
/// allow, the same for both options that are compared. Of a knob with more
/// than `maxOptions` options that many are looked at, the ends and evenly
/// spread ones between. Empty when no candidate satisfies the constraints.
std::vector<KnobReport> checkKnobs(const Space &space, ScriptRunner run,
                                   uint64_t maxOptions = 64);

/// One warning at the knob's declaration for each finding.
void emitWarnings(const Space &space, const KnobReport &report);

} // namespace cwm

#endif // CWM_SPACE_CHECKKNOBS_H
