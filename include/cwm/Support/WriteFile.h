//===- WriteFile.h - A file that appears whole or not at all -- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SUPPORT_WRITEFILE_H
#define CWM_SUPPORT_WRITEFILE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <system_error>

namespace cwm {

/// True for the errors that mean that no more can be written: no space left, a
/// quota, a limit on the size of files.
bool isDiskFull(std::error_code code);

/// The reason in a message about a file that cannot be written: "the disk is
/// full" whatever made it so, else what the system says.
std::string describeWriteError(std::error_code code);

/// `message` with the system's words for a full disk replaced by ours: for
/// messages that other libraries and processes made.
std::string nameFullDisk(std::string message);

/// The file that writing to `path` changes: what symbolic links lead to, also
/// where that does not exist yet. Errors name `path`.
llvm::Expected<std::string> followLinks(llvm::StringRef path);

/// Creates a temporary file beside what `path` leads to, which goes away with
/// the process when a signal ends it. Errors name `path`.
llvm::Error createBeside(llvm::StringRef path, int &descriptor,
                         llvm::SmallVectorImpl<char> &name);

/// Removes a file of createBeside.
std::error_code removeTemporary(llvm::StringRef name);

/// Writes `text` to a temporary file beside what `path` leads to and renames
/// it, so that nobody ever sees half a file and links stay; "-" writes to
/// stdout. Errors name the path.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef text);

} // namespace cwm

#endif // CWM_SUPPORT_WRITEFILE_H
