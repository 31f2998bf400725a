//===- StageFlags.h - Flags that stages of training share -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRAIN_STAGEFLAGS_H
#define CWM_LIB_TRAIN_STAGEFLAGS_H

#include "Stage.h"

#include "cwm/Dataset/Workloads.h"
#include "cwm/Train/TrainingLoop.h"

#include "llvm/Support/CommandLine.h"

namespace cwm {

llvm::cl::opt<int64_t> makeNumberFlag(llvm::StringRef name, int64_t value,
                                      llvm::cl::OptionCategory &category,
                                      llvm::StringRef text);
llvm::cl::opt<double> makeRealFlag(llvm::StringRef name, double value,
                                   llvm::cl::OptionCategory &category,
                                   llvm::StringRef text);

/// How long, how fast, when to look and when to end. Texts of defaults that
/// differ between stages are the stage's.
struct LoopFlags {
  LoopFlags(llvm::cl::OptionCategory &learning,
            llvm::cl::OptionCategory &output, const LoopOptions &defaults,
            const CwmAdamOptions &adam, llvm::StringRef stepsText,
            llvm::StringRef rateText);
  void apply(LoopOptions &loop, CwmAdamOptions &adam) const;

  llvm::cl::opt<int64_t> steps, warmup, evaluateEvery, patience,
      checkpointEvery, stopAfter;
  llvm::cl::opt<double> rate, decay;
  llvm::cl::opt<uint64_t> seed;
  llvm::cl::opt<bool> resume;
};
llvm::Error validate(const LoopOptions &loop, const CwmAdamOptions &adam);

/// Several processes.
struct ProcessFlags {
  explicit ProcessFlags(llvm::cl::OptionCategory &processes);
  ProcessOptions get() const;

  llvm::cl::opt<int64_t> threads, ranks, rank;
  llvm::cl::opt<std::string> rendezvous, address;
};

/// Which measurements a ranker learns from, and where latent states are kept.
struct MeasuredFlags {
  explicit MeasuredFlags(llvm::cl::OptionCategory &input);

  llvm::cl::opt<std::string> target, latents;
};

/// What training does not see beside the networks that are held out.
struct SplitFlags {
  SplitFlags(llvm::cl::OptionCategory &input, llvm::cl::OptionCategory &split);
  /// Errors: the table cannot be read, names that do not exist.
  llvm::Expected<Split> makeSplit() const;
  SplitOptions getOptions() const;

  llvm::cl::opt<std::string> workloads;
  llvm::cl::list<std::string> networks, families;
  llvm::cl::opt<int64_t> shapes;
};

} // namespace cwm

#endif // CWM_LIB_TRAIN_STAGEFLAGS_H
