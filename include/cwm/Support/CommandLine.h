//===- CommandLine.h - What the tools' command lines share ---- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SUPPORT_COMMANDLINE_H
#define CWM_SUPPORT_COMMANDLINE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace cwm {

/// Takes back the flags that libLLVM.so registers when it is loaded (of its
/// link-time optimiser, say): they are nothing for our users, and some of them
/// have the names of ours, which LLVM treats as a fatal error.
void removeLibraryOptions();

/// An error in the words of all flag checks: `message` as it is.
llvm::Error makeFlagError(const llvm::Twine &message);

/// Checks that `value` of `flag` lies in [low, high].
llvm::Error checkFlagRange(llvm::StringRef flag, int64_t value, int64_t low,
                           int64_t high);

/// Checks that `value` of `flag` is one of `names`.
llvm::Error checkFlagName(llvm::StringRef flag, llvm::StringRef value,
                          llvm::ArrayRef<llvm::StringRef> names);

/// The first of `flags` that was given an empty value, as in `--output=`: of a
/// script whose variable is empty, say. Never what the user means. "" if none.
std::string
findEmptyFlag(llvm::ArrayRef<const llvm::cl::opt<std::string> *> flags);

/// The error for it; success when `flag` is "".
llvm::Error checkEmptyFlag(llvm::StringRef flag);

} // namespace cwm

#endif // CWM_SUPPORT_COMMANDLINE_H
