//===- Window.cpp - Options of the window sketch ----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Convolution.h"

#include "Options.h"

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
} // namespace

static std::optional<Tiling> getTiling(const WindowPayload &payload) {
  if (payload.isReshapedPadding)
    return std::nullopt; // padding must fuse
  size_t windowRank = payload.getLoops(WindowLoop::Window).size();
  if (windowRank < 1 || windowRank > 3)
    return std::nullopt;
  for (auto [kind, extent] : llvm::zip_equal(payload.loops, payload.extents))
    if (kind == WindowLoop::Channel ||
        (kind == WindowLoop::Feature && extent != 1))
      return std::nullopt;
  Tiling result;
  result.vector = payload.numParallel() - 1;
  // A channel multiplier of 1.
  while (result.vector > 0 &&
         payload.loops[result.vector] == WindowLoop::Feature)
    --result.vector;
  result.channelsLast = payload.loops[result.vector] != WindowLoop::Image;
  for (int64_t loop : payload.getLoops(WindowLoop::Image))
    if (loop != result.vector)
      result.row = loop;
  return result;
}

/// Channels of a block, whose padded image stays in cache; without padding
/// nothing is stored, and all channels are one block.
static void setBlock(const WindowPayload &payload, const Tiling &tiling,
                     int64_t lanes, const HardwareDescription &hardware,
                     SketchOptions &options, int64_t &smallest) {
  int64_t channels = payload.extents[tiling.vector];
  smallest = channels;
  if (!tiling.channelsLast || !payload.paddedRank) {
    options.choice("block", tiling.channelsLast ? channels : 1,
                   tiling.channelsLast ? channels : 1);
    return;
  }
  SmallVector<int64_t> blocks;
  for (int64_t vectors : {1, 2, 3, 4, 6, 8})
    if (vectors * lanes < channels && channels % (vectors * lanes) == 0)
      blocks.push_back(vectors * lanes);
  blocks.push_back(channels);
  smallest = blocks.front();
  int64_t bytes = payload.element.getIntOrFloatBitWidth() / 8;
  int64_t imageBytes = payload.inputElements / channels * bytes;
  for (int64_t loop : payload.getLoops(WindowLoop::Batch))
    if (loop != tiling.vector)
      imageBytes /= payload.extents[loop];
  int64_t fitting = hardware.l2Bytes / 2 / std::max<int64_t>(imageBytes, 1);
  options.choice("block", blocks, lastUpTo(blocks, fitting));
}

static void setTile(const WindowPayload &payload, const Tiling &tiling,
                    int64_t lanes, int64_t widest, int64_t numRegisters,
                    SketchOptions &options) {
  int64_t height = tiling.row < 0 ? 1 : payload.extents[tiling.row];
  int64_t width = payload.extents[tiling.vector];
  SmallVector<int64_t> rows, v;
  // Columns of the image that are left over get code of their own.
  for (int64_t count = 1; count <= std::min<int64_t>(height, 14); ++count)
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
  int64_t bestWidth = v.front();
  if (!tiling.channelsLast)
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

/// What the sketch has for each loop of the op and of the result.
static void setLoops(const WindowPayload &payload, const Tiling &tiling,
                     SketchOptions &options) {
  int64_t numParallel = payload.numParallel();
  SmallVector<int64_t> windows = payload.getLoops(WindowLoop::Window);
  SmallVector<utils::IteratorType> ordered(numParallel,
                                           utils::IteratorType::parallel);
  ordered.append(windows.size(), utils::IteratorType::reduction);
  options.iterators("window", payload.iterators);
  options.structure("loops", payload.order);
  options.iterators("tile_window", ordered);
  SmallVector<PatternEntry> image, tile, inputRows, step(numParallel, 0);
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
    // Rows of the image, or its elements.
    if (payload.loops[loop] != WindowLoop::Feature)
      inputRows.push_back(isImage && !isVector ? 1 : 0);
  }
  if (!tiling.channelsLast && inputRows.size() > 1)
    inputRows.pop_back();
  options.pattern("image", image);
  options.pattern("tile", tile);
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

std::vector<FittingSketch> cwm::fitWindow(const WindowPayload &payload,
                                          const HardwareDescription &hardware,
                                          MLIRContext *context) {
  std::optional<Tiling> tiling = getTiling(payload);
  if (!tiling)
    return {};
  int64_t lanes = std::max<int64_t>(
      hardware.vectorBits / payload.element.getIntOrFloatBitWidth(), 1);
  SketchOptions options("window", context);
  int64_t widest = 0;
  setBlock(payload, *tiling, lanes, hardware, options, widest);
  setTile(payload, *tiling, lanes, widest, hardware.numVectorRegisters,
          options);
  setLoops(payload, *tiling, options);
  options.structure("strided", payload.isStrided);
  options.sequence("find", payload.isReshaped ? "cwm_reshaped_producer"
                                              : "cwm_producer");
  return {options.sketch};
}
