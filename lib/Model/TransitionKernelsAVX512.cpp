//===- TransitionKernelsAVX512.cpp - See TransitionKernels.inc ----*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define CWM_KERNELS avx512Kernels
#define CWM_KERNELS_NAME "avx512"
#define CWM_LANES 16
#include "TransitionKernels.inc"
