//===- WindowAnalysis.h - Payloads as convolutions and pools ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SKETCHES_WINDOWANALYSIS_H
#define CWM_LIB_SKETCHES_WINDOWANALYSIS_H

#include "cwm/Payload/Payload.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace cwm {

/// One op that slides a window over an image (a convolution or a pool), maybe
/// with a padded input, an initial value that is a fill or a broadcast, and one
/// elementwise op on the result: a payload as `@cwm_normalise` leaves it.
struct WindowPayload {
  /// Name of the op, such as linalg.conv_2d_nchw_fchw.
  std::string operation;
  /// Shapes of its operands; of the input, after padding.
  llvm::SmallVector<int64_t> input, filter, output;
  llvm::SmallVector<int64_t> strides, dilations;
  mlir::Type element;
  bool isPadded = false;
  /// The initial value is computed by an op rather than filled.
  bool hasBias = false;
  bool hasElementwise = false;
};

/// Returns nothing, and the reason in `why`, for other payloads.
std::optional<WindowPayload> analyseWindow(const Payload &payload,
                                           std::string *why = nullptr);

} // namespace cwm

#endif // CWM_LIB_SKETCHES_WINDOWANALYSIS_H
