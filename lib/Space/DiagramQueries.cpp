//===- DiagramQueries.cpp - Random and near candidates of a diagram *- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagram.h"

#include <functional>

using namespace mlir;
using namespace cwm;

//===----------------------------------------------------------------------===//
// Sampling
//===----------------------------------------------------------------------===//

/// Uniform below a 128-bit bound, by rejection as uniformBelow.
static UInt128 uniformBelow128(RandomEngine &engine, UInt128 bound) {
  if (bound <= UINT64_MAX)
    return uniformBelow(engine, static_cast<uint64_t>(bound));
  UInt128 top = ~UInt128(0);
  UInt128 limit = top - (top % bound + 1) % bound;
  UInt128 value = 0;
  do {
    value = UInt128(engine()) << 64;
    value |= engine();
  } while (value > limit);
  return value % bound;
}

Assignment Diagram::sample(RandomEngine &engine) const {
  assert(!getCount().isZero() && "there is nothing to sample");
  Assignment result;
  for (const Knob &knob : knobs)
    result.push_back(knob.defaultIndex);
  sample(root, engine, result);
  return result;
}

void Diagram::sample(unsigned id, RandomEngine &engine,
                     Assignment &result) const {
  const Node &node = nodes[id];
  switch (node.kind) {
  case Node::Kind::Product:
    for (unsigned child : node.children)
      sample(child, engine, result);
    return;
  case Node::Kind::Free:
    result[node.knob] = uniformBelow(engine, knobs[node.knob].getNumOptions());
    return;
  case Node::Kind::Leaf:
    result[node.knob] = node.options[uniformBelow(engine, node.options.size())];
    return;
  case Node::Kind::Branch:
    break;
  }
  size_t choice = 0;
  if (!node.count.overflow) {
    UInt128 rank = uniformBelow128(engine, node.count.exact);
    while (rank >= nodes[node.children[choice]].count.exact)
      rank -= nodes[node.children[choice++]].count.exact;
  } else {
    // Beyond 2^128 candidates the weights are rounded.
    double rank =
        static_cast<double>(engine() >> 11) * 0x1p-53 * node.count.approximate;
    while (choice + 1 < node.children.size() &&
           rank >= nodes[node.children[choice]].count.approximate)
      rank -= nodes[node.children[choice++]].count.approximate;
  }
  result[node.knob] = node.options[choice];
  sample(node.children[choice], engine, result);
}

//===----------------------------------------------------------------------===//
// Closest candidate
//===----------------------------------------------------------------------===//

namespace {
using Forced = std::optional<std::pair<unsigned, uint64_t>>;
} // namespace

std::optional<Assignment> Diagram::findClosest(const Assignment &preferred,
                                               Forced forced) const {
  if (getCount().isZero())
    return std::nullopt;
  // Nodes below which the forced option can be had.
  std::vector<std::optional<bool>> reachable(nodes.size());
  std::function<bool(unsigned)> reaches = [&](unsigned id) -> bool {
    if (reachable[id])
      return *reachable[id];
    const Node &node = nodes[id];
    bool result = false;
    if (node.knob == forced->first && node.kind != Node::Kind::Product)
      result = node.kind == Node::Kind::Free ||
               llvm::is_contained(node.options, forced->second);
    else
      result = llvm::any_of(node.children, reaches);
    reachable[id] = result;
    return result;
  };
  if (forced && !reaches(root))
    return std::nullopt;

  Assignment result;
  for (const Knob &knob : knobs)
    result.push_back(knob.defaultIndex);
  // `bound`: the forced option must be met below.
  std::function<void(unsigned, bool)> descend = [&](unsigned id, bool bound) {
    const Node &node = nodes[id];
    if (node.kind == Node::Kind::Product) {
      for (unsigned child : node.children)
        descend(child, bound && reaches(child));
      return;
    }
    bool isForced = bound && node.knob == forced->first;
    uint64_t wanted = isForced ? forced->second : preferred[node.knob];
    if (node.kind == Node::Kind::Free) {
      result[node.knob] = wanted;
      return;
    }
    // The wanted option, else the nearest one that is possible.
    std::optional<size_t> best;
    auto distance = [&](size_t position) {
      uint64_t option = node.options[position];
      return option > wanted ? option - wanted : wanted - option;
    };
    for (size_t position = 0; position < node.options.size(); ++position) {
      if (bound && !isForced && !reaches(node.children[position]))
        continue;
      if (!best || distance(position) < distance(*best))
        best = position;
    }
    result[node.knob] = node.options[*best];
    if (node.kind == Node::Kind::Branch)
      descend(node.children[*best], bound && !isForced);
  };
  descend(root, forced.has_value());
  return result;
}
