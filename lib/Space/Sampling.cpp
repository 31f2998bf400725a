//===- Sampling.cpp - Random candidates and their variations ------*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceImpl.h"

using namespace mlir;
using namespace cwm;

// First slice: plain rejection; counting and propagation follow.

double Space::countUnconstrained() const {
  double count = 1;
  for (const Knob &knob : knobs)
    count *= knob.getNumOptions();
  return count;
}

std::optional<uint64_t> Space::countExact(uint64_t limit) const {
  uint64_t count = 0;
  if (countUnconstrained() > static_cast<double>(limit))
    return std::nullopt;
  enumerate([&](const Assignment &) { return ++count, true; });
  return count;
}

std::optional<Assignment> Space::getDefault(std::string *why) const {
  Assignment assignment;
  for (const Knob &knob : knobs)
    assignment.push_back(knob.defaultIndex);
  if (satisfies(assignment, why))
    return assignment;
  RandomEngine engine(0);
  return sample(engine);
}

std::optional<Assignment> Space::sample(RandomEngine &engine) const {
  for (int attempt = 0; attempt < 10000; ++attempt) {
    Assignment assignment;
    for (const Knob &knob : knobs)
      assignment.push_back(uniformBelow(engine, knob.getNumOptions()));
    assignment = getCanonical(assignment);
    if (satisfies(assignment))
      return assignment;
  }
  return std::nullopt;
}

std::optional<Assignment> Space::mutate(const Assignment &parent,
                                        RandomEngine &engine) const {
  std::string key = getKey(parent);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    Assignment child = parent;
    if (knobs.empty())
      return std::nullopt;
    unsigned knob = uniformBelow(engine, knobs.size());
    child[knob] = uniformBelow(engine, knobs[knob].getNumOptions());
    child = getCanonical(child);
    if (getKey(child) != key && satisfies(child))
      return child;
  }
  return std::nullopt;
}

std::optional<Assignment> Space::crossover(const Assignment &a,
                                           const Assignment &b,
                                           RandomEngine &engine) const {
  for (int attempt = 0; attempt < 100; ++attempt) {
    Assignment child;
    for (unsigned knob = 0; knob < knobs.size(); ++knob)
      child.push_back(uniformBelow(engine, 2) ? a[knob] : b[knob]);
    child = getCanonical(child);
    if (satisfies(child))
      return child;
  }
  return a;
}

void Space::enumerate(
    llvm::function_ref<bool(const Assignment &)> visit) const {
  Assignment assignment(knobs.size(), 0);
  llvm::StringSet<> seen;
  while (true) {
    Assignment canonical = getCanonical(assignment);
    if (satisfies(canonical) && seen.insert(getKey(canonical)).second &&
        !visit(canonical))
      return;
    size_t knob = 0;
    while (knob < knobs.size() &&
           ++assignment[knob] == knobs[knob].getNumOptions())
      assignment[knob++] = 0;
    if (knob == knobs.size())
      return;
  }
}
