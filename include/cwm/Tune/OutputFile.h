//===- OutputFile.h - A file that appears whole or not at all - -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TUNE_OUTPUTFILE_H
#define CWM_TUNE_OUTPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace cwm {

/// Checks, before hours are spent, that `path` can be written later: its
/// folder exists and takes a file, and an existing file there may be replaced:
/// a result of cwm for the same workload, or anything when `force`. "-" is
/// always fine.
llvm::Error checkOutput(llvm::StringRef path, llvm::StringRef workload,
                        bool force);

/// Writes `text` to a temporary file beside `path` and renames it, so that
/// nobody ever sees half a file; "-" writes to stdout. Errors name the path.
llvm::Error writeFile(llvm::StringRef path, llvm::StringRef text);

} // namespace cwm

#endif // CWM_TUNE_OUTPUTFILE_H
