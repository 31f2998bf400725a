//===- Window.cpp - Options of the window sketch ----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Convolution.h"

#include "Options.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace cwm;

namespace {
/// Which loops of the result are tiled.
struct Tiling {
  /// The innermost of the result, in vectors.
  int64_t vector;
  /// Of the image; -1 where there is no other than `vector`.
  int64_t row = -1;
  /// Vectors run along channels rather than along the image.
  bool channelsLast;
};

/// Part of the result.
struct Inside {
  SmallVector<int64_t> offsets, sizes;
};
} // namespace

/// Groups of one input channel: a loop over that is one over the window.
static WindowPayload takeChannels(WindowPayload payload) {
  if (payload.getLoops(WindowLoop::Depth).empty())
    return payload;
  for (auto [kind, extent] : llvm::zip_equal(payload.loops, payload.extents))
    if (kind == WindowLoop::Channel && extent == 1)
      kind = WindowLoop::Window;
  return payload;
}

static std::optional<Tiling> getTiling(const WindowPayload &payload) {
  size_t windowRank = payload.getLoops(WindowLoop::Window).size();
  if (windowRank < 1 || windowRank > 3)
    return std::nullopt;
  if (!payload.getLoops(WindowLoop::Channel).empty())
    return std::nullopt;
  Tiling result;
  result.vector = payload.numParallel() - 1;
  // A channel multiplier of 1.
  while (result.vector > 0 &&
         payload.loops[result.vector] == WindowLoop::Feature &&
         payload.extents[result.vector] == 1)
    --result.vector;
  result.channelsLast = payload.loops[result.vector] != WindowLoop::Image;
  // Other multipliers are loops around rows; as vectors they would be short.
  for (int64_t loop : payload.getLoops(WindowLoop::Feature))
    if (payload.extents[loop] != 1 && result.channelsLast)
      return std::nullopt;
  // Where channels are a block, their padding must fuse.
  if (result.channelsLast && payload.isReshapedPadding)
    return std::nullopt;
  for (int64_t loop : payload.getLoops(WindowLoop::Image))
    if (loop != result.vector)
      result.row = loop;
  return result;
}

/// The part of the result whose windows lie within the image, so that they need
/// no padding. Nothing where that is empty or of no use: along rows of the
/// image, vectors are short at the borders, which pays only where the window
/// skips elements that padding would copy (r50-t21: 1.2x, mbv2-t22: 1.3x, but
/// mbv2-t4: 0.75x).
static std::optional<Inside> getInside(const WindowPayload &payload,
                                       const Tiling &tiling) {
  if (!payload.paddedRank || payload.isReshapedPadding ||
      !(tiling.channelsLast || payload.isStrided()))
    return std::nullopt;
  int64_t numParallel = payload.numParallel();
  Inside result;
  result.offsets.assign(numParallel, 0);
  llvm::append_range(
      result.sizes, ArrayRef<int64_t>(payload.extents).take_front(numParallel));
  for (int64_t loop : payload.getLoops(WindowLoop::Image)) {
    int64_t extent = payload.extents[loop], stride = payload.strides[loop];
    // Windows that begin before the image, and those that end in it; the input
    // may have elements that no window reaches.
    int64_t begin = llvm::divideCeilSigned(payload.low[loop], stride);
    int64_t room =
        payload.paddedExtents[loop] - payload.high[loop] - payload.spans[loop];
    int64_t end = room < 0 ? 0 : std::min(extent, room / stride + 1);
    if (begin >= end)
      return std::nullopt;
    result.offsets[loop] = begin;
    result.sizes[loop] = end - begin;
  }
  return result;
}

/// Channels of a block, whose padded image stays in cache; where nothing or
/// little is padded, all channels are one block. Returns the options.
static SmallVector<int64_t> setBlock(const WindowPayload &payload,
                                     const Tiling &tiling, bool isInside,
                                     int64_t lanes,
                                     const HardwareDescription &hardware,
                                     SketchOptions &options) {
  int64_t channels = payload.extents[tiling.vector];
  if (!tiling.channelsLast || !payload.paddedRank) {
    options.structure("block", tiling.channelsLast ? channels : 1);
    return {channels};
  }
  SmallVector<int64_t> blocks;
  for (int64_t vectors : {1, 2, 3, 4, 6, 8})
    if (vectors * lanes < channels && channels % (vectors * lanes) == 0)
      blocks.push_back(vectors * lanes);
  blocks.push_back(channels);
  int64_t bytes = payload.element.getIntOrFloatBitWidth() / 8;
  int64_t imageBytes = payload.inputElements / channels * bytes;
  for (int64_t loop : payload.getLoops(WindowLoop::Batch))
    if (loop != tiling.vector)
      imageBytes /= payload.extents[loop];
  int64_t fitting = hardware.l2Bytes / 2 / std::max<int64_t>(imageBytes, 1);
  options.choice("block", blocks,
                 isInside ? channels : lastUpTo(blocks, fitting));
  return blocks;
}

/// The tile in registers, of a result of `height` rows (or columns, where
/// vectors run along channels) and `width` elements along the vectors; vectors
/// have up to `widest`.
static void setTile(const Tiling &tiling, int64_t height, int64_t width,
                    bool isInside, int64_t lanes, int64_t widest,
                    int64_t numRegisters, SketchOptions &options) {
  SmallVector<int64_t> rows, v;
  // With channels innermost, more rows give more code but no speed; what is
  // left over gets code of its own.
  int64_t highest = tiling.channelsLast ? 8 : 14;
  for (int64_t count = 1; count <= std::min(height, highest); ++count)
    if (llvm::is_contained({1, 2, 4, 7, 8, 14}, count) ||
        (tiling.channelsLast && height % count == 0))
      rows.push_back(count);
  int64_t least = tiling.channelsLast ? lanes : lanes / 2;
  for (int64_t columns : {least, 2 * least, 4 * least})
    if (columns >= 1 && columns < 2 * width &&
        std::min(columns, width) <= widest)
      v.push_back(std::min(columns, width));
  if (v.empty())
    v.push_back(width);
  v.erase(llvm::unique(v), v.end());
  int64_t most = (numRegisters - 4) * lanes;
  // The widest that leaves no more than half a register unused at the end.
  int64_t bestWidth = isInside ? lastUpTo(v, lanes) : v.front();
  if (!tiling.channelsLast && !isInside)
    for (int64_t columns : v)
      if ((width + columns - 1) / columns * columns - width <= lanes / 2)
        bestWidth = columns;
  int64_t bestHeight = 1;
  for (int64_t count : rows)
    if (count * std::max(bestWidth, lanes) <= most / 2 && height % count == 0)
      bestHeight = count;
  options.choice("rows", rows, bestHeight);
  options.choice("v", v, bestWidth);
  options.structure("most_elements", most);
}

/// What the sketch has for each loop of the op and of the result. `threads`
/// share blocks of at most `block` channels or, where there are few, rows of
/// the image. `extents` are those of the result.
static void setLoops(const WindowPayload &payload, const Tiling &tiling,
                     ArrayRef<int64_t> extents, int64_t block, int64_t threads,
                     SketchOptions &options) {
  int64_t numParallel = payload.numParallel();
  SmallVector<int64_t> windows = payload.getLoops(WindowLoop::Window);
  SmallVector<utils::IteratorType> ordered(numParallel,
                                           utils::IteratorType::parallel);
  ordered.append(windows.size(), utils::IteratorType::reduction);
  options.iterators("window", payload.iterators);
  options.structure("loops", payload.order);
  options.iterators("tile_window", ordered);
  SmallVector<PatternEntry> image, tile, share, inputRows, step(numParallel, 0);
  int64_t blocks = 1, rows = 1;
  step.append(windows.size(), 1);
  for (int64_t loop = 0; loop < numParallel; ++loop) {
    bool isImage = payload.loops[loop] == WindowLoop::Image;
    bool isVector = loop == tiling.vector;
    image.push_back(isVector && tiling.channelsLast ? PatternEntry("block")
                    : isImage                       ? 0
                                                    : 1);
    tile.push_back(isVector             ? PatternEntry("v")
                   : loop == tiling.row ? PatternEntry("rows")
                   : isImage            ? 1
                                        : 0);
    bool isRow = isImage && !isVector && loop != tiling.row;
    share.push_back(isRow ? 1 : 0);
    if (isRow)
      rows *= extents[loop];
    else if (isVector && tiling.channelsLast)
      blocks *= extents[loop] / block;
    else if (!isImage)
      blocks *= extents[loop];
    // Rows of the image, or its elements.
    if (payload.loops[loop] != WindowLoop::Feature)
      inputRows.push_back(isImage && !isVector ? 1 : 0);
  }
  if (!tiling.channelsLast && payload.paddedRank) {
    // What does not fuse with a channel is padded at once, row by row.
    auto numImage =
        static_cast<int64_t>(payload.getLoops(WindowLoop::Image).size());
    int64_t numOuter = payload.paddedRank - numImage;
    inputRows.assign(numOuter, payload.isReshapedPadding ? 1 : 0);
    inputRows.append(numImage - 1, 1);
    if (inputRows.empty())
      inputRows.emplace_back(0);
  }
  options.pattern("image", image);
  bool sharesBlocks = canShare(blocks, threads);
  options.flag("parallel", sharesBlocks);
  options.share(tile, share, rows, sharesBlocks ? 1 : threads);
  options.pattern("input_rows", inputRows);
  options.pattern("step", step);

  // Big windows stay loops.
  int64_t elements = 1;
  for (int64_t loop : windows)
    elements *= payload.extents[loop];
  bool isBig = elements > 27;
  const char *names[] = {"kernel_w", "kernel_h", "kernel_d"};
  for (auto [name, loop] : llvm::zip(names, llvm::reverse(windows)))
    options.structure(name, isBig ? 1 : payload.extents[loop]);
  const char *unroll[] = {"unroll_1d", "unroll_2d", "unroll_3d"};
  options.sequence("unroll", unroll[windows.size() - 1]);
}

/// The sketch for the whole result, padded, or for its inside and its borders.
static FittingSketch makeSketch(const WindowPayload &payload,
                                const Tiling &tiling, const Inside *inside,
                                const HardwareDescription &hardware,
                                int64_t threads, MLIRContext *context) {
  int64_t lanes =
      getNumLanes(hardware, payload.element.getIntOrFloatBitWidth());
  SketchOptions options(inside ? "window-inside" : "window", context);
  options.sketch.file = "window";
  options.structure("cut", inside != nullptr);
  ArrayRef<int64_t> extents = payload.extents;
  if (inside) {
    options.structure("inside", inside->offsets);
    options.structure("inside_sizes", inside->sizes);
    extents = inside->sizes;
  }
  SmallVector<int64_t> blocks =
      setBlock(payload, tiling, inside, lanes, hardware, options);
  setTile(tiling, tiling.row < 0 ? 1 : extents[tiling.row],
          extents[tiling.vector], inside, lanes, blocks.front(),
          hardware.numVectorRegisters, options);
  setLoops(payload, tiling, extents, blocks.back(), threads, options);
  options.structure("strided", payload.isStrided());
  options.sequence("find", payload.isReshaped ? "cwm_reshaped_producer"
                                              : "cwm_producer");
  return options.sketch;
}

std::vector<FittingSketch> cwm::fitWindow(const WindowPayload &original,
                                          const HardwareDescription &hardware,
                                          int64_t threads,
                                          MLIRContext *context) {
  WindowPayload payload = takeChannels(original);
  std::optional<Tiling> tiling = getTiling(payload);
  if (!tiling)
    return {};
  std::vector<FittingSketch> sketches;
  if (std::optional<Inside> inside = getInside(payload, *tiling))
    sketches.push_back(
        makeSketch(payload, *tiling, &*inside, hardware, threads, context));
  sketches.push_back(
      makeSketch(payload, *tiling, nullptr, hardware, threads, context));
  return sketches;
}
