//===- Nesting.h - Text that recursive parsers can take --------- -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's parsers call themselves for each level of nesting, and what they
// make is walked in the same way: enough levels end the process.
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SUPPORT_NESTING_H
#define CWM_SUPPORT_NESTING_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <optional>

namespace cwm {

/// Levels of nesting in JSON; what we write has four.
inline constexpr unsigned maxJSONLevels = 256;
/// Levels of nesting in MLIR text. A level takes a few hundred bytes to a few
/// kilobytes of the 8 MiB of stack that a process has.
inline constexpr unsigned maxModuleLevels = 1000;

/// llvm::json::parse for text from outside.
llvm::Expected<llvm::json::Value> parseJSON(llvm::StringRef text);

/// A place in a text, counted from 1.
struct TextPlace {
  unsigned line;
  unsigned column;
};

/// Where MLIR text is first nested deeper than `maxLevels`. Brackets outside of
/// strings and comments count, and what recurses without any: aliases of
/// aliases, and operators in a row in affine expressions.
std::optional<TextPlace> findDeepNesting(llvm::StringRef text,
                                         unsigned maxLevels = maxModuleLevels);

/// The rule in words, for a message at that place.
std::string describeNestingRule();

} // namespace cwm

#endif // CWM_SUPPORT_NESTING_H
