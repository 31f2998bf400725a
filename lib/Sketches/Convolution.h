//===- Convolution.h - Options of the convolution sketches ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SKETCHES_CONVOLUTION_H
#define CWM_LIB_SKETCHES_CONVOLUTION_H

#include "Contraction.h"
#include "WindowAnalysis.h"

namespace cwm {

/// The convolution sketch with options for this payload, if it fits: sums over
/// input channels.
std::vector<FittingSketch> fitConvolution(const WindowPayload &payload,
                                          const HardwareDescription &hardware,
                                          int64_t threads,
                                          mlir::MLIRContext *context);

/// The same for windows over each channel by itself.
std::vector<FittingSketch> fitWindow(const WindowPayload &payload,
                                     const HardwareDescription &hardware,
                                     int64_t threads,
                                     mlir::MLIRContext *context);

} // namespace cwm

#endif // CWM_LIB_SKETCHES_CONVOLUTION_H
