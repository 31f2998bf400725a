//===- Measure.h - Peak and bandwidth of one core ---------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TARGET_CPU_MEASURE_H
#define CWM_LIB_TARGET_CPU_MEASURE_H

#include <cstdint>

namespace cwm {

/// f32 multiply-adds that one core does in registers of `vectorBits`, in
/// GFLOP/s (a multiply-add is 2): the best of many rounds of about 5 ms.
double measurePeakGflops(int64_t vectorBits);

/// GB/s at which one core reads a buffer of four times `cacheBytes`, between
/// 64 and 256 MiB: the best of a few rounds.
double measureBandwidthGBs(int64_t cacheBytes);

} // namespace cwm

#endif // CWM_LIB_TARGET_CPU_MEASURE_H
