//===- Convolution.cpp - Options of the convolution sketch ------*- C++ -*-===//
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
/// What the sketch needs to know of a convolution, whatever its layout.
struct Convolution {
  /// Loops: output channels, input channels, the innermost of the image.
  int64_t feature, channel, column;
  int64_t features, channels, width;
  /// Multiply-adds for one element of the result.
  int64_t steps;
  /// Features are innermost: the result is not transposed.
  bool channelsLast;
};
} // namespace

static std::optional<Convolution> getConvolution(const WindowPayload &payload) {
  SmallVector<int64_t> features = payload.getLoops(WindowLoop::Feature);
  SmallVector<int64_t> channels = payload.getLoops(WindowLoop::Channel);
  SmallVector<int64_t> image = payload.getLoops(WindowLoop::Image);
  if (!payload.isMultiplyAdd || features.size() != 1 || channels.size() != 1)
    return std::nullopt;
  // The innermost loop of the result becomes vectors or columns.
  int64_t last = payload.numParallel() - 1;
  if (last != features.front() && last != image.back())
    return std::nullopt;
  Convolution result;
  result.feature = features.front();
  result.channel = channels.front();
  result.column = image.back();
  result.features = payload.extents[result.feature];
  result.channels = payload.extents[result.channel];
  result.width = payload.extents[result.column];
  result.steps = result.channels;
  for (int64_t loop : payload.getLoops(WindowLoop::Window))
    result.steps *= payload.extents[loop];
  result.channelsLast = last == result.feature;
  return result;
}

/// Cycles, in units of a multiply-add of two vectors, of a register tile of
/// `vectors` by `columns`. Multiply-adds wait for each other when there are
/// few, and for their operands; LLVM's scheduler makes tall tiles spill; the
/// result is transposed in blocks of `lanes` columns. Weights fitted to
/// ResNet-50's 1x1 and 3x3 convolutions on an AVX-512 server
/// (benchmarks/speed.py).
static double getTileCost(const Convolution &convolution, int64_t vectors,
                          int64_t lanes, int64_t columns,
                          int64_t numRegisters) {
  double accumulators = vectors * columns;
  double loads = vectors + columns;
  double step = std::max(accumulators, 8.0) + 0.2 * loads + 0.5;
  if (vectors > 2)
    step *= 1.1;
  // Elements of the input that are apart by a whole pixel, rather than rows of
  // them, need registers that tall tiles lack (r50-t6-nhwc: 1.4x).
  if (convolution.channelsLast &&
      vectors * columns + vectors + 1 > numRegisters - 4)
    step *= 1.25;
  double transposition = convolution.channelsLast ? 0 : 10.0 * lanes * vectors;
  return convolution.steps * step +
         transposition * llvm::divideCeil(columns, lanes);
}

/// The cost of a row of the image, incomplete tiles included, per element.
static double getRowCost(const Convolution &convolution, int64_t vectors,
                         int64_t lanes, int64_t columns, int64_t numRegisters) {
  int64_t width = convolution.width;
  int64_t whole = width / columns;
  double cost = static_cast<double>(whole) *
                getTileCost(convolution, vectors, lanes, columns, numRegisters);
  if (width % columns)
    cost +=
        getTileCost(convolution, vectors, lanes, width % columns, numRegisters);
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

/// Accumulators of a tile, at most: what the sketch asserts.
static int64_t getMostVectors(int64_t numRegisters) { return numRegisters - 4; }

/// All tiles whose accumulators leave registers for the operands, best first.
static SmallVector<RegisterTile>
getRegisterTiles(const Convolution &convolution, int64_t lanes,
                 int64_t numRegisters) {
  SmallVector<RegisterTile> tiles;
  for (int64_t vectors : {1, 2, 4})
    for (int64_t columns = 1; columns <= convolution.width; ++columns) {
      if ((vectors + 1) + vectors * columns > numRegisters - 1 ||
          vectors * columns > getMostVectors(numRegisters) ||
          (vectors > 1 && vectors * lanes >= 2 * convolution.features))
        continue;
      tiles.push_back(
          {vectors, columns,
           getRowCost(convolution, vectors, lanes, columns, numRegisters)});
    }
  llvm::sort(tiles, [](const RegisterTile &a, const RegisterTile &b) {
    return std::tie(a.cost, a.vectors, a.columns) <
           std::tie(b.cost, b.vectors, b.columns);
  });
  return tiles;
}

/// Channels `f` and columns `w` of good tiles: for each height the best one, so
/// that the search has all heights and no width is impossible, then others.
static void setRegisterTiles(ArrayRef<RegisterTile> tiles, int64_t lanes,
                             SmallVector<int64_t> &f, SmallVector<int64_t> &w) {
  auto add = [](SmallVector<int64_t> &values, int64_t value) {
    if (llvm::is_contained(values, value))
      return false;
    values.push_back(value);
    return true;
  };
  ArrayRef<RegisterTile> good = tiles.take_while([&](const RegisterTile &tile) {
    return tile.cost <= 2 * tiles.front().cost;
  });
  for (const RegisterTile &tile : good)
    if (add(f, tile.vectors * lanes))
      add(w, tile.columns);
  for (const RegisterTile &tile : good)
    if (w.size() < 8)
      add(w, tile.columns);
  llvm::sort(f);
  llvm::sort(w);
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

/// The filter as panels of output channels, outermost but for groups: where its
/// dimensions come from, and steps of packing, which are transpositions unless
/// the filter has output channels innermost.
static void setPanels(const WindowPayload &payload,
                      const Convolution &convolution, SketchOptions &options) {
  ArrayRef<int64_t> filter = payload.filter;
  SmallVector<int64_t> panels;
  auto append = [&](llvm::function_ref<bool(int64_t)> belongs) {
    for (auto [dim, loop] : llvm::enumerate(filter))
      if (belongs(loop))
        panels.push_back(static_cast<int64_t>(dim));
  };
  auto isGroup = [&](int64_t loop) {
    return payload.loops[loop] == WindowLoop::Depth;
  };
  auto isFeature = [&](int64_t loop) { return loop == convolution.feature; };
  append(isGroup);
  append(isFeature);
  append([&](int64_t loop) { return !isGroup(loop) && !isFeature(loop); });
  int64_t last = filter.back();
  bool hasRows = payload.loops[last] == WindowLoop::Window;
  SmallVector<PatternEntry> steps;
  for (int64_t dim : panels) {
    int64_t loop = filter[dim];
    if (hasRows && loop == last)
      continue; // whole rows of the window
    bool isTransposed = loop == convolution.channel &&
                        (hasRows ? payload.extents[last] == 1 : loop == last);
    steps.emplace_back(
        isTransposed ? getLargestDivisor(convolution.channels, 16) : 1);
  }
  options.structure("panels", panels);
  options.pattern("panel", steps);
  options.pattern("filter_rows",
                  SmallVector<PatternEntry>(filter.size() - 1, 1));
}

/// What the sketch has for each loop of the op and of the result. `threads`
/// share the loops without incomplete tiles at their ends, for which there is
/// code only where one thread goes through a loop. `f` are the options for
/// output channels.
static void setLoops(const WindowPayload &payload,
                     const Convolution &convolution, ArrayRef<int64_t> f,
                     int64_t threads, SketchOptions &options) {
  options.iterators("window", payload.iterators);
  options.structure("loops", payload.order);
  SmallVector<utils::IteratorType> packedWindow(payload.numParallel(),
                                                utils::IteratorType::parallel);
  SmallVector<PatternEntry> packed, tile, share, step;
  SmallVector<int64_t> outer, image;
  bool sharesFeatures =
      llvm::all_of(f, [&](int64_t f) { return convolution.features % f == 0; });
  int64_t parts = sharesFeatures ? convolution.features / f.back() : 1;
  for (auto [loop, kind] : llvm::enumerate(payload.loops)) {
    bool isFeature = int64_t(loop) == convolution.feature;
    bool isChannel = kind == WindowLoop::Channel;
    packed.push_back(isFeature ? PatternEntry("f") : 0);
    if (isChannel || kind == WindowLoop::Window) {
      packedWindow.push_back(utils::IteratorType::reduction);
      step.push_back(isChannel ? PatternEntry("c") : 1);
      continue;
    }
    step.emplace_back(0);
    bool isColumn = int64_t(loop) == convolution.column;
    tile.push_back(isFeature  ? PatternEntry("f")
                   : isColumn ? PatternEntry("w")
                              : 1);
    bool isShared = isFeature ? sharesFeatures : !isColumn;
    share.push_back(isShared ? tile.back() : 0);
    if (!isFeature && !isColumn)
      parts *= payload.extents[loop];
    if (!isFeature)
      (kind == WindowLoop::Image ? image : outer)
          .push_back(static_cast<int64_t>(loop));
  }
  packedWindow.push_back(utils::IteratorType::parallel);
  options.pattern("packed", packed);
  options.share(tile, share, parts, threads);
  options.pattern("step", step);
  options.iterators("packed_window", packedWindow);
  SmallVector<int64_t> featuresOutside(outer), featuresInside(outer);
  featuresOutside.push_back(convolution.feature);
  llvm::append_range(featuresOutside, image);
  llvm::append_range(featuresInside, image);
  featuresInside.push_back(convolution.feature);
  options.structure("features_outside", featuresOutside);
  options.structure("features_inside", featuresInside);
}

static void setBias(const WindowPayload &payload,
                    const Convolution &convolution, ArrayRef<int64_t> f,
                    SketchOptions &options) {
  SmallVector<PatternEntry> packed(payload.numParallel(), 0);
  packed[convolution.feature] = "f";
  SmallVector<PatternEntry> step(std::max<size_t>(payload.bias.size(), 1), 1);
  options.pattern("bias", packed);
  options.pattern("bias_step", step);
  step.emplace_back("f");
  options.pattern("bias_vector", step);
  options.pattern("bias_scalable", SmallVector<PatternEntry>(step.size(), 0));
  bool divides =
      llvm::all_of(f, [&](int64_t f) { return convolution.features % f == 0; });
  options.structure("packed_bias",
                    llvm::is_contained(payload.bias, convolution.feature) &&
                        divides);
}

/// Whether loops over output channels are outside of those over the image; no
/// decision where a tile spans all channels, or the image.
static void setOrder(const WindowPayload &payload,
                     const Convolution &convolution, ArrayRef<int64_t> f,
                     ArrayRef<int64_t> w, const RegisterTile &preferred,
                     int64_t lanes, const HardwareDescription &hardware,
                     SketchOptions &options) {
  bool hasRows =
      llvm::any_of(payload.getLoops(WindowLoop::Image), [&](int64_t loop) {
        return loop != convolution.column && payload.extents[loop] > 1;
      });
  // A tile of any width leaves some of an image of several rows.
  int64_t width = hasRows ? w.back() + 1 : convolution.width;
  options.structure("features", convolution.features);
  options.structure("width", width);
  if (f.front() >= convolution.features || w.front() >= width) {
    options.structure("order", 0);
    return;
  }
  // With output channels outermost the input is read once for each block of
  // them. Where it does not fit into the second-level cache, but the filter
  // does, the filter is read again instead (r50-t26: 1.6x).
  int64_t bytes = payload.element.getIntOrFloatBitWidth() / 8;
  int64_t filterElements = 1;
  for (int64_t loop : payload.filter)
    filterElements *= payload.extents[loop];
  bool inputIsBig = payload.inputElements * bytes > hardware.l2Bytes / 2;
  bool filterIsSmall = filterElements * bytes <= hardware.l2Bytes / 2;
  bool isOpen = preferred.vectors * lanes < convolution.features &&
                preferred.columns < width;
  options.choice("order", {0, 1}, inputIsBig && filterIsSmall && isOpen);
}

std::vector<FittingSketch>
cwm::fitConvolution(const WindowPayload &payload,
                    const HardwareDescription &hardware, int64_t threads,
                    MLIRContext *context) {
  std::optional<Convolution> convolution = getConvolution(payload);
  if (!convolution)
    return {};
  int64_t lanes =
      getNumLanes(hardware, payload.element.getIntOrFloatBitWidth());
  SmallVector<RegisterTile> tiles =
      getRegisterTiles(*convolution, lanes, hardware.numVectorRegisters);
  if (tiles.empty())
    return {};
  SketchOptions options("convolution", context);
  SmallVector<int64_t> f, w;
  setRegisterTiles(tiles, lanes, f, w);
  options.choice("f", f, tiles.front().vectors * lanes);
  options.choice("w", w, tiles.front().columns);
  options.structure("most_elements",
                    getMostVectors(hardware.numVectorRegisters) * lanes);
  SmallVector<int64_t> c = getChannelSteps(convolution->channels);
  options.choice("c", c, llvm::is_contained(c, 4) ? 4 : c.back());
  setLoops(payload, *convolution, f, threads, options);
  setPanels(payload, *convolution, options);
  setBias(payload, *convolution, f, options);
  options.pattern("input_rows",
                  SmallVector<PatternEntry>(
                      std::max<int64_t>(payload.paddedRank - 1, 1), 1));
  options.structure("strided", payload.isStrided());
  options.sequence("find", payload.isReshaped ? "cwm_reshaped_producer"
                                              : "cwm_producer");
  setOrder(payload, *convolution, f, w, tiles.front(), lanes, hardware,
           options);
  return {options.sketch};
}
