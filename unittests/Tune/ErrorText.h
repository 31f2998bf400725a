//===- ErrorText.h - Messages of llvm::Error in tests -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_UNITTESTS_TUNE_ERRORTEXT_H
#define CWM_UNITTESTS_TUNE_ERRORTEXT_H

#include "llvm/Support/Error.h"

namespace cwm::test {

/// "" on success. (Debian's LLVM has no LLVMTestingSupport to link to.)
inline std::string errorOf(llvm::Error error) {
  return llvm::toString(std::move(error));
}
template <typename T> std::string errorOf(llvm::Expected<T> value) {
  return value ? std::string() : llvm::toString(value.takeError());
}

} // namespace cwm::test

#endif // CWM_UNITTESTS_TUNE_ERRORTEXT_H
