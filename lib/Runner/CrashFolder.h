//===- CrashFolder.h - What reproduces a crash ------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_CRASHFOLDER_H
#define CWM_RUNNER_CRASHFOLDER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace cwm {

/// The folder `crashes/` of a work folder: payload and script of each candidate
/// that crashed, hung or gave wrong numbers, by content.
class CrashFolder {
public:
  /// `flags` are appended to the command as they are.
  CrashFolder(llvm::StringRef workDir, std::string payload,
              std::string workload, std::string runner, std::string flags);

  /// Stores `script` and returns the command that repeats the trial outside of
  /// the driver. Errors name the file that cannot be written; no half file is
  /// left.
  llvm::Expected<std::string> add(llvm::StringRef script);

private:
  std::string folder, payload, workload, runner, flags;
};

} // namespace cwm

#endif // CWM_RUNNER_CRASHFOLDER_H
