//===- WindowAnalysis.h - Payloads as convolutions and pools -- -*- C++ -*-===//
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

/// What a loop of a sliding window runs over; in brackets the operands it
/// indexes.
enum class WindowLoop {
  Batch,   ///< the result and the input
  Image,   ///< the result and, together with a Window, the input
  Feature, ///< the result and the filter: output channels
  Depth,   ///< all three: groups, or the channels of depthwise convolutions
  Channel, ///< reduction over the input and the filter
  Window,  ///< reduction over the elements of the window
};

/// One op that slides a window over an image (a convolution or a pool), maybe
/// with a padded input, an initial value that is a fill or a broadcast, and one
/// elementwise op on the result: a payload as `@cwm_normalise` leaves it, named
/// ops and generics alike. Its loops are numbered as the sketches order them:
/// those of the result in its order, then the reductions in the filter's.
struct WindowPayload {
  llvm::SmallVector<WindowLoop> loops;
  llvm::SmallVector<int64_t> extents;
  /// The loop of the op at each place of that order, and its iterators before.
  llvm::SmallVector<int64_t> order;
  llvm::SmallVector<mlir::utils::IteratorType> iterators;
  /// The loop that indexes each dimension of the filter.
  llvm::SmallVector<int64_t> filter;
  /// Loops that index the bias; empty for a fill.
  llvm::SmallVector<int64_t> bias;
  /// For each loop, 1 and 0 but for those over the image: how the window moves,
  /// how many elements of the input it spans, padding on both sides, and the
  /// extent of the input with it.
  llvm::SmallVector<int64_t> strides, spans, low, high, paddedExtents;
  mlir::Type element;
  int64_t inputElements = 0;
  /// Rank of what is padded, 0 for no padding; a convolution in groups may
  /// reshape it for its input.
  int64_t paddedRank = 0;
  bool isReshapedPadding = false;
  /// Sums of products; any other function of the window's elements otherwise.
  bool isMultiplyAdd = false;
  /// The function returns a reshape of the result.
  bool isReshaped = false;

  bool isStrided() const {
    return llvm::any_of(strides, [](int64_t stride) { return stride != 1; });
  }
  int64_t numParallel() const {
    return llvm::count_if(loops, [](WindowLoop loop) {
      return loop != WindowLoop::Channel && loop != WindowLoop::Window;
    });
  }
  llvm::SmallVector<int64_t> getLoops(WindowLoop kind) const {
    llvm::SmallVector<int64_t> result;
    for (auto [index, loop] : llvm::enumerate(loops))
      if (loop == kind)
        result.push_back(static_cast<int64_t>(index));
    return result;
  }
};

/// Returns nothing, and the reason in `why`, for other payloads.
std::optional<WindowPayload> analyseWindow(const Payload &payload,
                                           std::string *why = nullptr);

} // namespace cwm

#endif // CWM_LIB_SKETCHES_WINDOWANALYSIS_H
