//===- Structure.cpp - What decides which operations a script has ---------===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceImpl.h"

using namespace mlir;
using namespace cwm;

void Space::Impl::findStructure(size_t numKnobs) {
  influence.assign(numKnobs, Influence::None);
  auto decides = [&](unsigned knob) { influence[knob] = Influence::Option; };
  auto decideAll = [&](const Guard &guard) {
    for (auto [knob, option] : guard)
      decides(knob);
  };
  auto site = sites.begin();
  uint64_t index = 0;
  (*schedule)->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (site == sites.end() || site->index != index++)
      return;
    llvm::for_each(site->live, decideAll);
    if (site->alternatives)
      decides(*site->alternatives);
    for (const GuardedExpr &choice : site->regionChoices) {
      decideAll(choice.guard);
      llvm::for_each(exprs.getKnobs(choice.expr), decides);
    }
    SmallVector<int64_t> sizes, interchange;
    if (!site->bound.empty() && getTileSizes(op, sizes, interchange))
      for (const BoundAttribute &bound : site->bound) {
        std::vector<unsigned> knobs;
        bound.value.getKnobs(knobs);
        bool isOrder = bound.name.getValue().contains("interchange");
        for (unsigned knob : knobs)
          if (isOrder)
            decides(knob);
          else if (influence[knob] == Influence::None)
            influence[knob] = Influence::Zeros;
      }
    ++site;
  });
}

/// One bit for each number in `attribute`, set where it is not 0; nullopt where
/// that cannot be told.
static std::optional<uint64_t> getNonzeroBits(Attribute attribute) {
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    return !integer.getValue().isZero();
  auto array = dyn_cast<ArrayAttr>(attribute);
  if (!array || array.size() > 62)
    return std::nullopt;
  // The topmost bit tells lengths apart.
  uint64_t bits = 1;
  for (Attribute element : array) {
    auto integer = dyn_cast<IntegerAttr>(element);
    if (!integer)
      return std::nullopt;
    bits = bits << 1 | !integer.getValue().isZero();
  }
  return bits;
}

llvm::SmallVector<uint64_t>
Space::getStructure(const Assignment &assignment) const {
  SmallVector<uint64_t> structure;
  for (auto [index, knob] : llvm::enumerate(knobs)) {
    Impl::Influence influence = impl->influence[index];
    if (influence == Impl::Influence::None)
      continue;
    // One representative for all options of a knob that does not matter.
    uint64_t option =
        isLive(assignment, index) ? assignment[index] : knob.defaultIndex;
    if (influence == Impl::Influence::Option) {
      structure.push_back(option);
      continue;
    }
    if (std::optional<int64_t> integer = knob.getInteger(option)) {
      structure.push_back(*integer != 0);
      continue;
    }
    std::optional<uint64_t> bits = getNonzeroBits(knob.getOption(option));
    structure.push_back(bits ? *bits : UINT64_MAX - option);
  }
  return structure;
}
