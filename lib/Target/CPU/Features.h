//===- Features.h - What LLVM knows of a CPU --------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TARGET_CPU_FEATURES_H
#define CWM_LIB_TARGET_CPU_FEATURES_H

#include "llvm/Support/Error.h"

#include <cstdint>

namespace cwm {

/// Vector registers that code for a CPU may use.
struct VectorRegisters {
  int64_t bits = 128, count = 16;
};

/// Width and number of vector registers of `cpu` with `features` (LLVM's
/// spelling), on the architecture of this process. Fails on names that LLVM
/// does not know.
llvm::Expected<VectorRegisters> getVectorRegisters(llvm::StringRef cpu,
                                                   llvm::StringRef features);

} // namespace cwm

#endif // CWM_LIB_TARGET_CPU_FEATURES_H
