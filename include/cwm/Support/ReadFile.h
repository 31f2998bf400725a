//===- ReadFile.h - Inputs that may be anything ----------------- -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SUPPORT_READFILE_H
#define CWM_SUPPORT_READFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace cwm {

/// The most that is read of one input, in bytes.
inline constexpr uint64_t maxInputBytes = uint64_t(1) << 30;

/// Reads `path` whole, followed by a null; "-" is stdin. Regular files, pipes,
/// sockets, terminals and /dev/null are read; other devices, of which many
/// never end, are an error, and so is what has more than `maxBytes`. Errors are
/// "cannot read 'path': reason".
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readInput(llvm::StringRef path, uint64_t maxBytes = maxInputBytes);

/// The same for a file of our own: a regular one, or an error. A pipe in its
/// place would wait for a writer.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readOwnFile(llvm::StringRef path, uint64_t maxBytes = maxInputBytes);

} // namespace cwm

#endif // CWM_SUPPORT_READFILE_H
