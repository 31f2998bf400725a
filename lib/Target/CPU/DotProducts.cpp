//===- DotProducts.cpp - Instructions for dot products ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Target/CPU/DotProducts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

using namespace llvm;

cwm::DotProducts cwm::getDotProducts(const HardwareDescription &hardware) {
  SmallVector<StringRef> features;
  StringRef(hardware.features).split(features, ',');
  auto has = [&](StringRef name) { return is_contained(features, name); };
  DotProducts result;
  if (hardware.vectorBits < 512)
    return result;
  result.amxBF16 = has("+amx-tile") && has("+amx-bf16");
  result.amxInt8 = has("+amx-tile") && has("+amx-int8");
  result.avx512VNNI = has("+avx512vnni");
  // Measured on Sapphire Rapids: vdpbf16ps makes half as many multiply-adds a
  // second as vfmadd does (52 and 104 G/s). Not measured on others: AMD's are
  // taken to do better.
  result.avx512BF16 =
      has("+avx512bf16") && StringRef(hardware.cpu).starts_with("znver");
  return result;
}

bool cwm::requestTileRegisters() {
#if defined(__linux__) && defined(__x86_64__)
  // ARCH_REQ_XCOMP_PERM for the component XTILEDATA (Linux,
  // Documentation/arch/x86/xstate.rst).
  constexpr long request = 0x1023, tileData = 18;
  return syscall(SYS_arch_prctl, request, tileData) == 0;
#else
  return false;
#endif
}
