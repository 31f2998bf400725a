//===- OutputFile.h - A file that appears whole or not at all - -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TUNE_OUTPUTFILE_H
#define CWM_TUNE_OUTPUTFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace cwm {

/// Checks, before hours are spent, that `path` can be written later: its
/// folder exists and takes a file, and an existing file there may be replaced:
/// a result of cwm for the same workload, or anything when `force`. "-" is
/// always fine.
llvm::Error checkOutput(llvm::StringRef path, llvm::StringRef workload,
                        bool force);

/// As checkOutput for --summary and --export-records, named by `flag`: an
/// existing file is replaced only when it is such a file or empty, or with
/// `force`.
llvm::Error checkExtraOutput(llvm::StringRef path, llvm::StringRef flag,
                             bool force);

/// A file that a run reads or writes, and the words for it in messages.
struct NamedFile {
  std::string path, words;
};

/// Refuses two outputs of one name, and an output that is one of `inputs` or
/// lies in `workDirectory`, whatever names they go by (links, `..`). Empty
/// paths and "-" name no file. Not even --force may destroy what the run reads.
llvm::Error checkDistinct(llvm::ArrayRef<NamedFile> outputs,
                          llvm::ArrayRef<NamedFile> inputs,
                          llvm::StringRef workDirectory);

} // namespace cwm

#endif // CWM_TUNE_OUTPUTFILE_H
