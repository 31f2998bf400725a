//===- Stage.h - What stages of training share ------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRAIN_STAGE_H
#define CWM_LIB_TRAIN_STAGE_H

#include "cwm/Model/TorchLibrary.h"
#include "cwm/Support/Interrupt.h"

#include <atomic>
#include <string>

namespace cwm {

/// Processes that train together, and what each of them takes.
struct ProcessOptions {
  int64_t threads = 1, ranks = 1, rank = 0;
  std::string rendezvous, address;

  bool isFirst() const { return rank == 0; }
  llvm::Error validate() const;
  /// Sets the threads of torch and meets the other processes, if there are any.
  llvm::Error join(const TorchLibrary &library) const;
};

/// Checks that a real number lies in [low, high].
llvm::Error checkRealFlag(llvm::StringRef flag, double value, double low,
                          double high);

/// The value of a flag, and the interval that it must lie in.
struct FlagRange {
  llvm::StringRef flag;
  int64_t value, low, high;
};
struct RealFlagRange {
  llvm::StringRef flag;
  double value, low, high;
};
/// An error for the first that does not.
llvm::Error checkFlagRanges(llvm::ArrayRef<FlagRange> ranges);
llvm::Error checkRealFlags(llvm::ArrayRef<RealFlagRange> ranges);

/// What the training loop looks at between two steps.
struct StopFlag : Stoppable {
  std::atomic<bool> flag{false};
  void requestStop() override { flag = true; }
};

std::string joinPath(llvm::StringRef folder, llvm::StringRef name);

/// Makes the folder, and those that it is in.
llvm::Error makeFolder(llvm::StringRef path);

} // namespace cwm

#endif // CWM_LIB_TRAIN_STAGE_H
