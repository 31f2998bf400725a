//===- Zstd.h - Compressed files ------------------------------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SUPPORT_ZSTD_H
#define CWM_SUPPORT_ZSTD_H

#include "cwm/Support/ReadFile.h"

#include <string>

namespace cwm {

/// True for data that begins as a Zstandard frame does.
bool isZstd(llvm::StringRef data);

/// Decompresses frames made by this library or by the `zstd` tool, whether or
/// not they state their size. More than `maxBytes` is an error, and so are
/// truncated and damaged frames; errors are the reason alone.
llvm::Expected<std::string> decompressZstd(llvm::StringRef data,
                                           uint64_t maxBytes = maxInputBytes);

/// One frame, which states its size and has a checksum.
std::string compressZstd(llvm::StringRef data, int level = 9);

/// readInput() of a file that may be compressed.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readMaybeCompressed(llvm::StringRef path, uint64_t maxBytes = maxInputBytes);

} // namespace cwm

#endif // CWM_SUPPORT_ZSTD_H
