//===- Convolution.cpp - Options of the convolution sketches ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Convolution.h"

#include "Options.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace cwm;

namespace {
/// What the sketches need to know of a convolution, whatever its layout.
struct Convolution {
  StringRef sketch;
  int64_t features, channels;
  /// The innermost dimension of the image, and of the kernel.
  int64_t width, kernelWidth;
  /// Multiply-adds for one element of the result.
  int64_t steps;
  bool isStrided;
  /// NHWC: the result is not transposed.
  bool channelsLast;
};
} // namespace

static std::optional<Convolution> getConvolution(const WindowPayload &payload) {
  Convolution result;
  result.isStrided =
      llvm::any_of(payload.strides, [](int64_t stride) { return stride != 1; });
  result.sketch = llvm::StringSwitch<StringRef>(payload.operation)
                      .Case("linalg.conv_2d_nchw_fchw", "convolution-2d")
                      .Case("linalg.conv_3d_ncdhw_fcdhw", "convolution-3d")
                      .Case("linalg.conv_2d_nhwc_hwcf", "convolution-nhwc-2d")
                      .Default("");
  if (result.sketch.empty())
    return std::nullopt;
  result.channelsLast = result.sketch == "convolution-nhwc-2d";
  if (result.channelsLast) {
    result.features = payload.filter[3];
    result.channels = payload.filter[2];
    result.width = payload.output[2];
    result.kernelWidth = payload.filter[1];
  } else {
    result.features = payload.filter[0];
    result.channels = payload.filter[1];
    result.width = payload.output.back();
    result.kernelWidth = payload.filter.back();
  }
  result.steps = ShapedType::getNumElements(payload.filter) / result.features;
  return result;
}

/// Cycles, in units of a multiply-add of two vectors, of a register tile of
/// `vectors` by `columns`. Multiply-adds wait for each other when there are
/// few, and for their operands; LLVM's scheduler makes tall tiles spill; the
/// result is transposed in blocks of `lanes` columns. Weights fitted to
/// ResNet-50's 1x1 and 3x3 convolutions on an AVX-512 server
/// (benchmarks/speed.py).
static double getTileCost(const Convolution &convolution, int64_t vectors,
                          int64_t lanes, int64_t columns) {
  double accumulators = vectors * columns;
  double loads = vectors + columns;
  double step = std::max(accumulators, 8.0) + 0.2 * loads + 0.5;
  if (vectors > 2)
    step *= 1.1;
  double transposition = convolution.channelsLast ? 0 : 10.0 * lanes * vectors;
  return convolution.steps * step +
         transposition * llvm::divideCeil(columns, lanes);
}

/// The cost of a row of the image, incomplete tiles included, per element.
static double getRowCost(const Convolution &convolution, int64_t vectors,
                         int64_t lanes, int64_t columns) {
  int64_t width = convolution.width;
  int64_t whole = width / columns;
  double cost = static_cast<double>(whole) *
                getTileCost(convolution, vectors, lanes, columns);
  if (width % columns)
    cost += getTileCost(convolution, vectors, lanes, width % columns);
  auto tiles = static_cast<int64_t>(
      llvm::divideCeil(convolution.features, vectors * lanes));
  return cost * static_cast<double>(tiles) / static_cast<double>(width);
}

namespace {
struct RegisterTile {
  int64_t vectors, columns;
  double cost;
};
} // namespace

/// All tiles whose accumulators leave registers for the operands, best first.
static SmallVector<RegisterTile>
getRegisterTiles(const Convolution &convolution, int64_t lanes,
                 int64_t numRegisters) {
  SmallVector<RegisterTile> tiles;
  for (int64_t vectors : {1, 2, 4})
    for (int64_t columns = 1; columns <= convolution.width; ++columns) {
      if ((vectors + 1) + vectors * columns > numRegisters - 1 ||
          (vectors > 1 && vectors * lanes >= 2 * convolution.features))
        continue;
      tiles.push_back(
          {vectors, columns, getRowCost(convolution, vectors, lanes, columns)});
    }
  llvm::sort(tiles, [](const RegisterTile &a, const RegisterTile &b) {
    return std::tie(a.cost, a.vectors, a.columns) <
           std::tie(b.cost, b.vectors, b.columns);
  });
  return tiles;
}

static int64_t getLargestDivisor(int64_t extent, int64_t limit) {
  for (int64_t divisor = std::min(extent, limit); divisor > 1; --divisor)
    if (extent % divisor == 0)
      return divisor;
  return 1;
}

/// Steps over the input channels. Without a second channel the vectoriser sees
/// no contraction, and what it makes is slow.
static SmallVector<int64_t> getChannelSteps(int64_t channels) {
  SmallVector<int64_t> steps;
  for (int64_t step : {2, 3, 4, 8})
    if (channels % step == 0)
      steps.push_back(step);
  if (steps.empty())
    steps.push_back(channels <= 31 ? channels
                                   : getLargestDivisor(channels, 31));
  return steps;
}

/// window-2d: tiles along the image, one channel at a time.
static std::optional<FittingSketch> fitWindow(const WindowPayload &payload,
                                              int64_t lanes,
                                              int64_t numRegisters,
                                              MLIRContext *context) {
  SmallVector<int64_t> loops;
  if (payload.operation == "linalg.depthwise_conv_2d_nchw_chw")
    loops = {0, 3, 1, 2, 4, 5};
  else if (payload.operation == "linalg.pooling_nchw_max" ||
           payload.operation == "linalg.pooling_nchw_sum")
    loops = {0, 1, 2, 3, 4, 5};
  else
    return std::nullopt;
  SketchOptions options("window-2d", context);
  int64_t height = payload.output[2], width = payload.output[3];
  SmallVector<int64_t> h, w;
  for (int64_t rows : {1, 2, 4, 7, 8, 14})
    if (rows <= height)
      h.push_back(rows);
  for (int64_t columns : {lanes / 2, lanes, 2 * lanes})
    if (columns >= 1 && columns < 2 * width)
      w.push_back(std::min(columns, width));
  if (w.empty())
    w.push_back(width);
  w.erase(llvm::unique(w), w.end());
  int64_t most = (numRegisters - 4) * lanes;
  // The widest that leaves no more than half a register unused at the end.
  int64_t bestWidth = w.front();
  for (int64_t columns : w)
    if ((width + columns - 1) / columns * columns - width <= lanes / 2)
      bestWidth = columns;
  int64_t bestHeight = 1;
  for (int64_t rows : h)
    if (rows * std::max(bestWidth, lanes) <= most / 2 && height % rows == 0)
      bestHeight = rows;
  options.choice("h", h, bestHeight);
  options.choice("w", w, bestWidth);
  options.structure("most_elements", most);
  options.structure("loops", loops);
  // Big windows stay loops.
  int64_t rows = payload.filter[payload.filter.size() - 2];
  int64_t columns = payload.filter.back();
  if (rows * columns > 25)
    rows = columns = 1;
  options.structure("kernel_h", rows);
  options.structure("kernel_w", columns);
  options.structure("strided", llvm::any_of(payload.strides,
                                            [](int64_t s) { return s != 1; }));
  return options.sketch;
}

std::vector<FittingSketch>
cwm::fitConvolution(const WindowPayload &payload,
                    const HardwareDescription &hardware, MLIRContext *context) {
  int64_t lanes = std::max<int64_t>(
      hardware.vectorBits / payload.element.getIntOrFloatBitWidth(), 1);
  if (std::optional<FittingSketch> window =
          fitWindow(payload, lanes, hardware.numVectorRegisters, context))
    return {*window};
  std::optional<Convolution> convolution = getConvolution(payload);
  if (!convolution)
    return {};
  SmallVector<RegisterTile> tiles =
      getRegisterTiles(*convolution, lanes, hardware.numVectorRegisters);
  if (tiles.empty())
    return {};
  SketchOptions options(convolution->sketch, context);
  // The best widths for each height, so that the search has all heights.
  SmallVector<int64_t> f, w;
  for (const RegisterTile &tile : tiles) {
    if (tile.cost > 2 * tiles.front().cost)
      break;
    if (!llvm::is_contained(f, tile.vectors * lanes))
      f.push_back(tile.vectors * lanes);
    if (w.size() < 8 && !llvm::is_contained(w, tile.columns))
      w.push_back(tile.columns);
  }
  llvm::sort(f);
  llvm::sort(w);
  options.choice("f", f, tiles.front().vectors * lanes);
  options.choice("w", w, tiles.front().columns);
  options.structure("most_elements", (hardware.numVectorRegisters - 4) * lanes);
  // With output channels outermost the input is read once for each block of
  // them. Where it does not fit into the second-level cache, but the filter
  // does, the filter is read again instead (r50-t26: 1.6x).
  int64_t bytes = payload.element.getIntOrFloatBitWidth() / 8;
  int64_t inputBytes = ShapedType::getNumElements(payload.input) * bytes;
  int64_t filterBytes = ShapedType::getNumElements(payload.filter) * bytes;
  bool inputIsBig = inputBytes > hardware.l2Bytes / 2;
  bool filterIsSmall = filterBytes <= hardware.l2Bytes / 2;
  options.sketch.defaults["order"] = inputIsBig && filterIsSmall;
  SmallVector<int64_t> c = getChannelSteps(convolution->channels);
  options.choice("c", c, llvm::is_contained(c, 4) ? 4 : c.back());
  options.structure("strided", convolution->isStrided);
  if (!convolution->channelsLast)
    options.structure("packed_c",
                      convolution->kernelWidth == 1
                          ? getLargestDivisor(convolution->channels, 16)
                          : 1);
  bool divides = llvm::all_of(
      f, [&](int64_t f) { return convolution->features % f == 0; });
  options.structure("packed_bias", payload.hasBias && divides);
  return {options.sketch};
}
