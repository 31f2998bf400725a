//===- TransitionKernelsAVX2.cpp - See TransitionKernels.inc ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define CWM_KERNELS avx2Kernels
#define CWM_KERNELS_NAME "avx2"
#define CWM_LANES 8
#include "TransitionKernels.inc"
