//===- CompileStage.h - From a bound script to an object --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_COMPILESTAGE_H
#define CWM_RUNNER_COMPILESTAGE_H

#include "cwm/Payload/Payload.h"
#include "cwm/Runner/TrialResult.h"
#include "cwm/Target/CPU/Lowering.h"
#include "cwm/Trajectory/History.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace cwm {

/// Called at the start of each stage with its name: the driver then knows
/// where a worker died.
using StageFn = llvm::function_ref<void(llvm::StringRef stage)>;

struct CompileOptions {
  /// Refuse what findRuleViolation knows. Only tests switch it off.
  bool staticRules = true;
  CPULoweringOptions lowering;
};

/// Applies `script` to a copy of `payload`, lowers the result and compiles it.
/// The status is ok, invalid, transform_error or lower_error, with times by
/// stage; `object` receives the code. Runs in a worker: it may crash or hang.
TrialResult compileCandidate(const Payload &payload, llvm::StringRef script,
                             const HardwareDescription &hardware,
                             const CompileOptions &options, StageFn onStage,
                             llvm::SmallVectorImpl<char> &object);

/// Applies `script` to a copy of `payload` and records the states and actions.
/// The status is ok, invalid or transform_error; `history` is filled when it is
/// ok. Runs in a worker as well.
TrialResult recordCandidate(const Payload &payload, llvm::StringRef script,
                            const CompileOptions &options, StageFn onStage,
                            History &history);

} // namespace cwm

#endif // CWM_RUNNER_COMPILESTAGE_H
