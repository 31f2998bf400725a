//===- TransitionRun.h - One run of cwm-train transition --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRAIN_TRANSITIONRUN_H
#define CWM_LIB_TRAIN_TRANSITIONRUN_H

#include "Stage.h"

#include "cwm/Dataset/Workloads.h"
#include "cwm/Train/Train.h"
#include "cwm/Train/TransitionTraining.h"

namespace cwm {

/// What the command line says.
struct TransitionRunOptions {
  std::string database, model, workDir, latents;
  std::optional<Split> split;
  SplitOptions splitOptions;
  int64_t actionDim = 64, hidden = 256;
  TransitionTrainingOptions training;
  double validation = 0.1;
  uint64_t seed = 0;
  ProcessOptions processes;

  /// The only check of values; names the flag and the rule.
  llvm::Error validate() const;
};

TrainExit runTransition(TransitionRunOptions options);

} // namespace cwm

#endif // CWM_LIB_TRAIN_TRANSITIONRUN_H
