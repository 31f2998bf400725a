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

/// What all sketches for chains need to find their way.
static void setStructure(SketchOptions &options, const ChainPayload &payload) {
  options.structure("find", FlatSymbolRefAttr::get(options.builder.getContext(),
                                                   payload.isReshaped
                                                       ? "cwm_reshaped_producer"
                                                       : "cwm_producer"));
  options.structure("collapse", options.builder.getStringAttr(
                                    payload.isCollapsed ? "cwm-collapse-dims"
                                                        : "canonicalize"));
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

static int64_t lastUpTo(ArrayRef<int64_t> values, int64_t limit) {
  int64_t result = values.front();
  for (int64_t value : values)
    if (value <= limit)
      result = value;
  return result;
}

/// chain-rows: what is not a loop around the chain is one loop of each op,
/// along the innermost dimension of all values that have it.
static std::optional<FittingSketch>
fitRows(const ChainPayload &payload, int64_t lanes, MLIRContext *context) {
  if (!hasDistinctLoops(payload))
    return std::nullopt;
  SmallVector<int64_t> rows;
  llvm::SmallSet<unsigned, 4> isRow;
  for (unsigned loop : payload.getLast().loops) {
    bool row = !payload.classes[loop].isReduced;
    rows.push_back(row);
    if (row)
      isRow.insert(loop);
  }
  int64_t longest = 0;
  for (const ChainPayload::Op &op : payload.ops) {
    unsigned numAlong = 0;
    for (unsigned loop : op.loops)
      if (!isRow.contains(loop)) {
        ++numAlong;
        longest = std::max(longest, payload.classes[loop].extent);
      }
    if (numAlong > 1)
      return std::nullopt;
  }
  if (!longest)
    return std::nullopt;
  for (ArrayRef<unsigned> dims : payload.values)
    for (auto [position, dim] : llvm::enumerate(dims))
      if (!isRow.contains(dim) && position + 1 != dims.size())
        return std::nullopt;
  SketchOptions options("chain-rows", context);
  setStructure(options, payload);
  options.structure("rows", rows);
  SmallVector<int64_t> vt = getSteps(longest, lanes, 16);
  options.choice("vt", vt, lastUpTo(vt, 4 * lanes));
  return options.sketch;
}

std::vector<FittingSketch> cwm::fitChain(const ChainPayload &payload,
                                         const HardwareDescription &hardware,
                                         MLIRContext *context) {
  int64_t lanes =
      std::max<int64_t>(hardware.vectorBits / payload.elementBits, 1);
  std::vector<FittingSketch> result;
  auto add = [&](std::optional<FittingSketch> sketch) {
    if (sketch)
      result.push_back(std::move(*sketch));
  };
  add(fitRows(payload, lanes, context));
  return result;
}
