//===- ActionParameters.h - Numbers and words of an action text -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_MODEL_ACTIONPARAMETERS_H
#define CWM_LIB_MODEL_ACTIONPARAMETERS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace cwm {

/// One `key=value` of an action text.
struct ActionParameter {
  llvm::StringRef key, value;
  /// The integers in `value`, in order: 1, 0 of `array<i64: 1, 0>`.
  llvm::SmallVector<int64_t, 8> numbers;
  /// The value says something besides its numbers: a string, a unit, a
  /// boolean, an affine map.
  bool isCategory = false;
};

/// Calls `visit` for each `key=value` of `text` outside of brackets and
/// quotes. Never fails: what is not such a pair is skipped.
void visitParameters(llvm::StringRef text,
                     llvm::function_ref<void(const ActionParameter &)> visit);

} // namespace cwm

#endif // CWM_LIB_MODEL_ACTIONPARAMETERS_H
