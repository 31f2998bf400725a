//===- ApplyCommand.h - How to apply a result with stock tools -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TUNE_APPLYCOMMAND_H
#define CWM_TUNE_APPLYCOMMAND_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace cwm {

/// `text` as one word of a shell: as it is where that is safe, else in single
/// quotes, or in bash's $'...' where it has control characters or is not UTF-8.
std::string quoteForShell(llvm::StringRef text);

/// Stands for the result in commands where it has no name (stdout), or one that
/// the options of mlir-opt's passes cannot take (commas, single braces).
inline constexpr llvm::StringLiteral resultPlaceholder = "RESULT.mlir";

/// `resultFile` as a value in a pass pipeline, in quotes of the pipeline's
/// where it needs them; the placeholder when it cannot be written there.
std::string quoteForPipeline(llvm::StringRef resultFile);

/// Stock mlir-opt under the name that it has here: mlir-opt-22 with the
/// packages of Debian and LLVM.
llvm::StringRef getMlirOptName();

/// Where cwm's plugin for stock mlir-opt is: in the build tree or the
/// installation of the running tool, else its plain name.
std::string findPlugin();

/// The command that applies a result with stock tools: a line for a shell.
/// Loads `plugin` unless that is empty.
std::string getApplyCommand(llvm::StringRef payloadFile,
                            llvm::StringRef resultFile,
                            llvm::StringRef plugin = "");

} // namespace cwm

#endif // CWM_TUNE_APPLYCOMMAND_H
