//===- TransitionKernelsBaseline.cpp - See TransitionKernels.inc ----*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define CWM_KERNELS baselineKernels
#define CWM_KERNELS_NAME "baseline"
#define CWM_LANES 4
#include "TransitionKernels.inc"
