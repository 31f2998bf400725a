//===- EncoderRun.h - One run of cwm-train encoder ------------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRAIN_ENCODERRUN_H
#define CWM_LIB_TRAIN_ENCODERRUN_H

#include "Stage.h"

#include "cwm/Train/EncoderTraining.h"
#include "cwm/Train/Train.h"

namespace cwm {

/// What the command line says.
struct EncoderRunOptions {
  std::string texts, tokenizer, initFrom, workloads;
  EncoderConfig network;
  int64_t dim = 256;
  /// Whether sizes, or the window, were given: --init-from has its own.
  bool hasSizes = false, hasWindow = false;
  EncoderTrainingOptions training;
  double validation = 0.1;
  uint64_t seed = 0;
  ProcessOptions processes;
  std::string model, workDir, target;
  /// Of all texts, filled when they are read.
  std::string dataDigest;

  /// The only check of values; names the flag and the rule.
  llvm::Error validate() const;
};

TrainExit runEncoder(EncoderRunOptions options);

} // namespace cwm

#endif // CWM_LIB_TRAIN_ENCODERRUN_H
