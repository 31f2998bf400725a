//===- TransitionKernels.cpp - Which kernels run here -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransitionKernels.h"

#include <array>

namespace cwm {

static std::array<const TransitionKernels *, 4> findKernels() {
  std::array<const TransitionKernels *, 4> found = {};
  size_t count = 0;
#ifdef CWM_X86_KERNELS
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    found[count++] = &avx512Kernels;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    found[count++] = &avx2Kernels;
#endif
  found[count++] = &baselineKernels;
  return found;
}

const TransitionKernels *const *getSupportedKernels() {
  static const std::array<const TransitionKernels *, 4> kernels = findKernels();
  return kernels.data();
}

} // namespace cwm
