//===- DotProducts.h - Instructions for dot products ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TARGET_CPU_DOTPRODUCTS_H
#define CWM_TARGET_CPU_DOTPRODUCTS_H

#include "cwm/Target/CPU/Hardware.h"

namespace cwm {

/// Instructions that multiply groups of bf16 or i8 elements and add them up in
/// 32 bits, as far as it pays to use them.
struct DotProducts {
  /// On tile registers.
  bool amxBF16 = false, amxInt8 = false;
  /// On vectors of 512 bits.
  bool avx512BF16 = false, avx512VNNI = false;
};

DotProducts getDotProducts(const HardwareDescription &hardware);

/// Asks the kernel to let this process use tile registers (Linux hands them out
/// on request). False when it does not.
bool requestTileRegisters();

} // namespace cwm

#endif // CWM_TARGET_CPU_DOTPRODUCTS_H
