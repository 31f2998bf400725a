//===- Chain.cpp - Options of the sketches for chains -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Chain.h"

#include "Options.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace cwm;

/// What all sketches for chains need to find their way. `sizes` are the tile
/// sizes of the last op.
static void setStructure(SketchOptions &options, const ChainPayload &payload,
                         ArrayRef<int64_t> sizes) {
  bool isReshaped = payload.results[payload.lastResult].isReshaped;
  options.sequence("find", payload.hasSeveralResults()
                               ? isReshaped ? "cwm_reshaped_result_producer"
                                            : "cwm_result_producer"
                           : isReshaped ? "cwm_reshaped_producer"
                                        : "cwm_producer");
  options.structure("last", payload.lastResult);
  // Without a loop around the chain there is nothing to fuse into.
  options.structure("results", payload.hasResultsOfSeveralOps &&
                                   llvm::any_of(sizes, [](int64_t size) {
                                     return size != 0;
                                   }));
  options.structure("softmax", payload.hasSoftmax);
  options.structure("initial_value", payload.separatesInitialValues);
  options.structure("collapse", options.builder.getStringAttr(
                                    payload.isCollapsed ? "cwm-collapse-dims"
                                                        : "canonicalize"));
}

/// All results have the dimensions of the loops around the chain: none is
/// computed more than once.
static bool haveTiledDims(const ChainPayload &payload,
                          ArrayRef<int64_t> sizes) {
  return llvm::all_of(payload.results, [&](const auto &result) {
    return llvm::all_of(
        llvm::zip_equal(payload.getLast().loops, sizes), [&](auto loop) {
          return std::get<1>(loop) == 0 ||
                 llvm::is_contained(result.dims, std::get<0>(loop));
        });
  });
}

/// Some reduction does not depend on a loop around the chain, which would
/// compute it again in each iteration. `sizes` are the tile sizes of the last
/// op.
static bool repeatsReductions(const ChainPayload &payload,
                              ArrayRef<int64_t> sizes) {
  return llvm::any_of(payload.ops, [&](const ChainPayload::Op &op) {
    return llvm::is_contained(op.iterators, utils::IteratorType::reduction) &&
           llvm::any_of(
               llvm::zip_equal(payload.getLast().loops, sizes), [&](auto loop) {
                 return std::get<1>(loop) != 0 &&
                        !llvm::is_contained(op.loops, std::get<0>(loop));
               });
  });
}

/// No op has two loops that go together: slices of one would be needed for all
/// of the other.
static bool hasDistinctLoops(const ChainPayload &payload) {
  return llvm::all_of(payload.ops, [](const ChainPayload::Op &op) {
    llvm::SmallSet<unsigned, 4> seen;
    return llvm::all_of(
        op.loops, [&](unsigned loop) { return seen.insert(loop).second; });
  });
}

/// Steps of whole vectors that fit into a row, and the whole row where it is
/// short: that needs no loop, and no short rest.
static SmallVector<int64_t> getSteps(int64_t extent, int64_t lanes,
                                     int64_t most) {
  SmallVector<int64_t> steps;
  for (int64_t step = lanes; step <= std::min(most * lanes, extent); step *= 2)
    steps.push_back(step);
  if (extent <= most * lanes && !llvm::is_contained(steps, extent))
    steps.push_back(extent);
  return steps;
}

/// The loops of `op` along a row, inside of those around the chain.
static SmallVector<unsigned>
getLoopsAlong(const ChainPayload::Op &op,
              llvm::function_ref<bool(unsigned)> isOuter) {
  return llvm::to_vector(llvm::make_filter_range(
      op.loops, [&](unsigned loop) { return !isOuter(loop); }));
}

/// chain-rows: what is not a loop around the chain is one loop of each op,
/// along the innermost dimension of all values that have it; or two of them,
/// the inner one along that dimension.
static std::optional<FittingSketch> fitRows(const ChainPayload &payload,
                                            bool planes, int64_t lanes,
                                            int64_t threads,
                                            MLIRContext *context) {
  if (!hasDistinctLoops(payload))
    return std::nullopt;
  SmallVector<int64_t> rows;
  llvm::SmallSet<unsigned, 4> isRow, isInner;
  for (unsigned loop : payload.getLast().loops) {
    bool row = !payload.classes[loop].isReduced;
    rows.push_back(row);
    if (row)
      isRow.insert(loop);
  }
  int64_t longest = 0;
  bool hasPlanes = false;
  for (const ChainPayload::Op &op : payload.ops) {
    SmallVector<unsigned> along =
        getLoopsAlong(op, [&](unsigned loop) { return isRow.contains(loop); });
    if (along.empty())
      continue;
    longest = std::max(longest, payload.classes[along.back()].extent);
    // The op that tiles a reduction gives as many handles as that has results.
    if (op.isReduction(along.back()) && op.numResults > 1)
      return std::nullopt;
    if (along.size() == 1)
      continue;
    // Partial results of a row would be those of the next one.
    if (!planes || along.size() > 2 ||
        (op.isReduction(along[0]) && !op.isReduction(along[1])))
      return std::nullopt;
    hasPlanes = true;
    isInner.insert(along[1]);
  }
  if (!longest)
    return std::nullopt;
  for (ArrayRef<unsigned> dims : payload.values) {
    auto isAlong = [&](unsigned dim) { return !isRow.contains(dim); };
    auto numAlong = llvm::count_if(dims, isAlong);
    if (numAlong && (!isAlong(dims.back()) ||
                     (numAlong > 1 && !isInner.contains(dims.back()))))
      return std::nullopt;
  }
  if (!haveTiledDims(payload, rows) || repeatsReductions(payload, rows))
    return std::nullopt;
  SketchOptions options("chain-rows", context);
  setStructure(options, payload, rows);
  options.structure("rows", rows);
  options.structure("planes", hasPlanes);
  int64_t numRows = 1;
  for (auto [loop, row] : llvm::zip_equal(payload.getLast().loops, rows))
    numRows *= row ? payload.classes[loop].extent : 1;
  options.flag("parallel",
               !payload.hasSeveralResults() && canShare(numRows, threads));
  SmallVector<int64_t> vt = getSteps(longest, lanes, 16);
  options.choice("vt", vt, lastUpTo(vt, 4 * lanes));
  return options.sketch;
}

/// Tile sizes of the last op as one knob. `threads` share the loops without
/// tiles or, where these are few, whole tiles.
static void setTiles(SketchOptions &options, const ChainPayload &payload,
                     ArrayRef<SmallVector<int64_t>> tiles, size_t preferred,
                     int64_t threads) {
  ArrayRef<unsigned> loops = payload.getLast().loops;
  auto getExtent = [&](size_t position) {
    return payload.classes[loops[position]].extent;
  };
  // What all tiles have in common.
  SmallVector<int64_t> share(loops.size(), 0);
  int64_t parts = 1;
  for (size_t position = 0; position < loops.size(); ++position)
    if (llvm::all_of(tiles, [&](ArrayRef<int64_t> sizes) {
          return sizes[position] == 1;
        })) {
      share[position] = 1;
      parts *= getExtent(position);
    }
  bool sharesLoops = canShare(parts, threads);
  // An end that a tile does not fill has code of its own only in the loops of
  // one thread.
  SmallVector<SmallVector<int64_t>> whole;
  for (const SmallVector<int64_t> &sizes : tiles) {
    int64_t numTiles = 1;
    bool divides = true;
    for (auto [position, size] : llvm::enumerate(sizes)) {
      if (size == 0)
        continue;
      divides &= getExtent(position) % size == 0;
      numTiles *= getExtent(position) / size;
    }
    if (divides && canShare(numTiles, threads))
      whole.push_back(sizes);
  }
  bool sharesTiles = !sharesLoops && !whole.empty();
  if (payload.hasSeveralResults())
    sharesLoops = sharesTiles = false;
  options.structure("threads", int64_t(sharesLoops || sharesTiles));
  SmallVector<SmallVector<int64_t>> rest(tiles);
  if (sharesTiles) {
    const auto *it = llvm::find(whole, tiles[preferred]);
    options.sizes("share", whole, it == whole.end() ? 0 : it - whole.begin());
    rest.assign(1, SmallVector<int64_t>(loops.size(), 0));
    preferred = 0;
  } else {
    options.structure("share", share);
  }
  if (sharesLoops)
    for (SmallVector<int64_t> &sizes : rest)
      for (auto [size, shared] : llvm::zip_equal(sizes, share))
        size = shared ? 0 : size;
  options.sizes("tile", rest, preferred);
}

/// chain-columns: the innermost loop of the last op stays, as the innermost
/// dimension of all values that have it; each op has at most two loops besides
/// it and those around the chain, further out and of the same kind.
static std::optional<FittingSketch> fitColumns(const ChainPayload &payload,
                                               bool planes, int64_t lanes,
                                               int64_t threads,
                                               MLIRContext *context) {
  ArrayRef<unsigned> last = payload.getLast().loops;
  if (!hasDistinctLoops(payload) || last.empty() ||
      payload.classes[last.back()].isReduced)
    return std::nullopt;
  unsigned strip = last.back();
  for (ArrayRef<unsigned> dims : payload.values)
    if (llvm::is_contained(dims, strip) && dims.back() != strip)
      return std::nullopt;
  auto isOuter = [&](unsigned loop) {
    return loop != strip && !payload.classes[loop].isReduced &&
           llvm::is_contained(last, loop);
  };
  SmallVector<int64_t> kt{1, 2, 4, 8};
  bool hasPlanes = false;
  for (const ChainPayload::Op &op : payload.ops) {
    SmallVector<unsigned> inner = getLoopsAlong(op, isOuter);
    if (inner.size() > (planes ? 3 : 2) ||
        (!inner.empty() && inner.back() != strip))
      return std::nullopt;
    if (inner.size() < 2)
      continue;
    llvm::erase_if(kt, [&](int64_t step) {
      return payload.classes[inner[inner.size() - 2]].extent % step != 0;
    });
    if (inner.size() < 3)
      continue;
    hasPlanes = true;
    if (op.isReduction(inner[0]) != op.isReduction(inner[1]))
      return std::nullopt;
  }
  bool hasColumns = llvm::any_of(
      payload.classes, [](const auto &dimClass) { return dimClass.isReduced; });
  if (!hasColumns)
    kt = {1};
  SketchOptions options("chain-columns", context);
  SmallVector<SmallVector<int64_t>> tiles;
  SmallVector<int64_t> widths =
      getSteps(payload.classes[strip].extent, lanes, 8);
  for (int64_t width : widths) {
    SmallVector<int64_t> &sizes = tiles.emplace_back();
    for (unsigned loop : last)
      sizes.push_back(isOuter(loop) ? 1 : loop == strip ? width : 0);
  }
  if (!haveTiledDims(payload, tiles.front()) ||
      repeatsReductions(payload, tiles.front()))
    return std::nullopt;
  setStructure(options, payload, tiles.front());
  options.structure("planes", hasPlanes);
  setTiles(options, payload, tiles,
           llvm::find(widths, lastUpTo(widths, 4 * lanes)) - widths.begin(),
           threads);
  options.choice("kt", kt, lastUpTo(kt, 4));
  return options.sketch;
}

/// chain-transposed: elementwise, with one other innermost dimension besides
/// that of the result.
static std::optional<FittingSketch> fitTransposed(const ChainPayload &payload,
                                                  int64_t lanes,
                                                  int64_t threads,
                                                  MLIRContext *context) {
  ArrayRef<unsigned> last = payload.getLast().loops;
  if (!hasDistinctLoops(payload) || last.size() < 2)
    return std::nullopt;
  for (const ChainPayload::DimClass &dimClass : payload.classes)
    if (dimClass.isReduced)
      return std::nullopt;
  unsigned column = last.back();
  std::optional<unsigned> row;
  for (ArrayRef<unsigned> dims : payload.values) {
    if (dims.size() < 2 || dims.back() == column)
      continue;
    if (row && *row != dims.back())
      return std::nullopt;
    row = dims.back();
  }
  if (!row || !llvm::is_contained(last, *row))
    return std::nullopt;
  SketchOptions options("chain-transposed", context);
  SmallVector<SmallVector<int64_t>> tiles;
  const std::pair<int64_t, int64_t> blocks[] = {{16, 16}, {8, 8},  {8, 16},
                                                {16, 8},  {4, 16}, {16, 4}};
  for (auto [rows, columns] : blocks) {
    SmallVector<int64_t> sizes;
    for (unsigned loop : last)
      sizes.push_back(
          loop == *row     ? std::min(rows, payload.classes[loop].extent)
          : loop == column ? std::min(columns, payload.classes[loop].extent)
                           : 1);
    if (!llvm::is_contained(tiles, sizes))
      tiles.push_back(sizes);
  }
  if (!haveTiledDims(payload, tiles.front()))
    return std::nullopt;
  setStructure(options, payload, tiles.front());
  setTiles(options, payload, tiles, 0, threads);
  return options.sketch;
}

std::vector<FittingSketch> cwm::fitChain(const ChainPayload &payload,
                                         bool planes,
                                         const HardwareDescription &hardware,
                                         int64_t threads,
                                         MLIRContext *context) {
  int64_t lanes = getNumLanes(hardware, payload.elementBits);
  std::vector<FittingSketch> result;
  auto add = [&](std::optional<FittingSketch> sketch) {
    if (sketch)
      result.push_back(std::move(*sketch));
  };
  add(fitRows(payload, planes, lanes, threads, context));
  add(fitColumns(payload, planes, lanes, threads, context));
  add(fitTransposed(payload, lanes, threads, context));
  return result;
}
