//===- WorkDirectory.h - Where a run keeps what it must keep ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TUNE_WORKDIRECTORY_H
#define CWM_TUNE_WORKDIRECTORY_H

#include "cwm/Payload/Payload.h"

#include "llvm/Support/Error.h"

#include <string>

namespace cwm {

/// A folder of one payload: run.json (whose it is), payload.mlir (a copy),
/// records.db, and what the workers leave (cache/, crashes/, objects/).
class WorkDirectory {
public:
  /// Opens or creates `path` for `payload`, which was read from `payloadFile`.
  /// Refuses a folder of another payload and one that cwm did not make.
  static llvm::Expected<WorkDirectory> open(llvm::StringRef path,
                                            const Payload &payload,
                                            llvm::StringRef payloadFile);

  /// `<payload stem>.cwm`, or `<payload stem>.<function>.cwm` when `function`
  /// is not empty, so that several functions of a file can be tuned side by
  /// side. It lies beside the output, or in the current folder when the output
  /// is stdout.
  static std::string getDefaultPath(llvm::StringRef payloadFile,
                                    llvm::StringRef function,
                                    llvm::StringRef output);

  llvm::StringRef getPath() const { return path; }
  std::string getFile(llvm::StringRef name) const;
  /// The copy of the payload: the entry function alone in a module.
  std::string getPayloadFile() const;

private:
  explicit WorkDirectory(std::string path) : path(std::move(path)) {}
  std::string path;
};

} // namespace cwm

#endif // CWM_TUNE_WORKDIRECTORY_H
