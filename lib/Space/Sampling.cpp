//===- Sampling.cpp - Counting, sampling and varying candidates ---*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagram.h"
#include "Partial.h"

#include "llvm/Support/raw_ostream.h"

#include <numeric>

using namespace mlir;
using namespace cwm;

/// Options looked at when building a diagram; some tenths of a second. Whether
/// a space has one depends on the space alone, so that a seed gives the same
/// sequence whatever was asked of the space before.
static constexpr uint64_t diagramEffort = 2000000;
/// Attempts of rejection sampling where there is no diagram.
static constexpr int maxRejections = 100000;
/// Options looked at by a depth-first search.
static constexpr uint64_t searchBudget = 1000000;
static constexpr uint64_t repairBudget = 20000;

Space::Impl::Impl() = default;
Space::Impl::~Impl() = default;

const Diagram *Space::Impl::getUnconstrained(const Space &space) {
  std::call_once(unconstrainedOnce, [&] {
    unconstrained = Diagram::build(space.getKnobs(), *this, {}, diagramEffort);
  });
  return unconstrained.get();
}

const Diagram *Space::Impl::getConstrained(const Space &space) {
  if (constraints.empty())
    return getUnconstrained(space);
  std::call_once(constrainedOnce, [&] {
    std::vector<unsigned> all(constraints.size());
    std::iota(all.begin(), all.end(), 0);
    constrained = Diagram::build(space.getKnobs(), *this, all, diagramEffort);
  });
  return constrained.get();
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

double Space::countUnconstrained() const {
  if (const Diagram *diagram = impl->getUnconstrained(*this))
    return diagram->getCount().approximate;
  // Alternatives too entangled to be told apart: an upper bound.
  double count = 1;
  for (const Knob &knob : knobs)
    count *= static_cast<double>(knob.getNumOptions());
  return count;
}

std::optional<uint64_t> Space::countExact(uint64_t limit) const {
  std::vector<unsigned> all(impl->constraints.size());
  std::iota(all.begin(), all.end(), 0);
  std::unique_ptr<Diagram> own;
  const Diagram *diagram = nullptr;
  if (limit >= diagramEffort)
    diagram = impl->getConstrained(*this);
  if (!diagram) {
    own = Diagram::build(knobs, *impl, all, limit);
    diagram = own.get();
  }
  if (!diagram || diagram->getCount().overflow ||
      diagram->getCount().exact > UINT64_MAX)
    return std::nullopt;
  return static_cast<uint64_t>(diagram->getCount().exact);
}

bool Space::enumerate(
    llvm::function_ref<bool(const Assignment &)> visit) const {
  Assignment first(knobs.size(), 0);
  return Solver(knobs, *impl, first, searchBudget).run(visit);
}

//===----------------------------------------------------------------------===//
// Default and repair
//===----------------------------------------------------------------------===//

std::optional<Assignment>
Space::Impl::repair(const Space &space, const Assignment &preferred,
                    std::optional<std::pair<unsigned, uint64_t>> forced) {
  if (const Diagram *diagram = getConstrained(space))
    return diagram->findClosest(preferred, forced);
  Solver solver(space.getKnobs(), *this, preferred, repairBudget);
  if (forced)
    solver.force(forced->first, forced->second);
  std::optional<Assignment> result;
  solver.run([&](const Assignment &candidate) {
    result = candidate;
    return false;
  });
  return result;
}

std::optional<Assignment> Space::getNearest(const Assignment &assignment,
                                            unsigned knob,
                                            uint64_t option) const {
  Assignment wanted = assignment;
  wanted[knob] = option;
  return impl->repair(*this, wanted, std::make_pair(knob, option));
}

std::optional<Assignment> Space::getDefault(std::string *why) const {
  Assignment preferred;
  for (const Knob &knob : knobs)
    preferred.push_back(knob.defaultIndex);
  if (satisfies(preferred))
    return preferred;
  const Diagram *diagram = impl->getConstrained(*this);
  if (diagram && !diagram->getCount().isZero())
    return diagram->findClosest(preferred, std::nullopt);
  Solver solver(knobs, *impl, preferred, searchBudget);
  std::optional<Assignment> result;
  bool exhausted = solver.run([&](const Assignment &candidate) {
    result = candidate;
    return false;
  });
  if (result || !why)
    return result;

  // One constraint that cannot hold for itself is the clearest answer.
  why->clear();
  llvm::raw_string_ostream os(*why);
  for (auto [index, constraint] : llvm::enumerate(impl->constraints)) {
    std::unique_ptr<Diagram> alone = Diagram::build(
        knobs, *impl, {static_cast<unsigned>(index)}, searchBudget);
    if (alone && alone->getCount().isZero()) {
      os << impl->describe(constraint, knobs)
         << " holds for no options of its knobs";
      return std::nullopt;
    }
  }
  if (exhausted || (diagram && diagram->getCount().isZero()))
    os << "no candidate satisfies all constraints";
  else
    os << "found no candidate that satisfies all constraints";
  const uint64_t *worst = llvm::max_element(solver.getFailures());
  if (worst != solver.getFailures().end() && *worst > 0)
    os << "; most often violated: "
       << impl->describe(
              impl->constraints[worst - solver.getFailures().begin()], knobs);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Sampling
//===----------------------------------------------------------------------===//

std::optional<Assignment> Space::sample(RandomEngine &engine) const {
  if (const Diagram *diagram = impl->getConstrained(*this)) {
    if (diagram->getCount().isZero())
      return std::nullopt;
    return diagram->sample(engine);
  }
  // Too many constrained candidates to count: rejection is still uniform.
  auto draw = [&]() -> Assignment {
    if (const Diagram *diagram = impl->getUnconstrained(*this))
      return diagram->sample(engine);
    Assignment assignment;
    for (const Knob &knob : knobs)
      assignment.push_back(uniformBelow(engine, knob.getNumOptions()));
    return getCanonical(assignment);
  };
  for (int attempt = 0; attempt < maxRejections; ++attempt) {
    Assignment candidate = draw();
    if (satisfies(candidate))
      return candidate;
  }
  // Sparse as well: search from a random point, which is random but no longer
  // uniform.
  std::optional<Assignment> result;
  Assignment start = draw();
  Solver(knobs, *impl, start, searchBudget)
      .run([&](const Assignment &candidate) {
        result = candidate;
        return false;
      });
  return result;
}

//===----------------------------------------------------------------------===//
// Variation
//===----------------------------------------------------------------------===//

/// Another option of a knob. Where the options are ordered numbers, half of the
/// steps go to a neighbour: near tile sizes behave alike.
static uint64_t drawOther(const Knob &knob, uint64_t option,
                          RandomEngine &engine) {
  constexpr uint64_t fewOptions = 8;
  uint64_t numOptions = knob.getNumOptions();
  if (numOptions > fewOptions && knob.getInteger(0) &&
      uniformBelow(engine, 2) == 0) {
    bool up = uniformBelow(engine, 2) == 0;
    if (up && option + 1 < numOptions)
      return option + 1;
    if (!up && option > 0)
      return option - 1;
  }
  uint64_t other = uniformBelow(engine, numOptions - 1);
  return other < option ? other : other + 1;
}

std::optional<Assignment> Space::mutate(const Assignment &parent,
                                        RandomEngine &engine) const {
  const Diagram *diagram = impl->getConstrained(*this);
  std::string parentKey = getKey(parent);
  std::vector<unsigned> live;
  for (unsigned knob : impl->keyOrder)
    if (isLive(parent, knob))
      live.push_back(knob);
  if (live.empty())
    return std::nullopt;

  auto propose = [&]() {
    unsigned knob = live[uniformBelow(engine, live.size())];
    return std::make_pair(knob, drawOther(knobs[knob], parent[knob], engine));
  };
  // One knob changed, uniformly over those changes that are possible.
  uint64_t attempts = 16 + 4 * live.size();
  for (uint64_t attempt = 0; attempt < attempts; ++attempt) {
    auto [knob, option] = propose();
    Assignment child = parent;
    child[knob] = option;
    child = getCanonical(child);
    if (satisfies(child))
      return child;
  }
  // More than one: of several repaired proposals the one that changes least.
  std::optional<Assignment> best;
  unsigned bestChanges = 0;
  for (int attempt = 0; attempt < 16; ++attempt) {
    auto [knob, option] = propose();
    std::optional<Assignment> child = getNearest(parent, knob, option);
    if (!child)
      continue;
    unsigned changes = 0;
    for (unsigned other : live)
      changes += (*child)[other] != parent[other];
    if (!best || changes < bestChanges) {
      best = child;
      bestChanges = changes;
    }
  }
  if (best)
    return best;
  // Every option of the live knobs that was tried is impossible.
  if (diagram && diagram->getCount().approximate < 2)
    return std::nullopt;
  for (int attempt = 0; attempt < 64; ++attempt) {
    std::optional<Assignment> other = sample(engine);
    if (!other)
      return std::nullopt;
    if (getKey(*other) != parentKey)
      return other;
  }
  return std::nullopt;
}

std::optional<Assignment> Space::crossover(const Assignment &a,
                                           const Assignment &b,
                                           RandomEngine &engine) const {
  Assignment child;
  for (unsigned knob = 0; knob < knobs.size(); ++knob) {
    bool fromA = uniformBelow(engine, 2) == 0;
    // What a dead knob says is nobody's heritage.
    if (isLive(a, knob) != isLive(b, knob))
      fromA = isLive(a, knob);
    child.push_back(fromA ? a[knob] : b[knob]);
  }
  child = getCanonical(child);
  if (satisfies(child))
    return child;
  return impl->repair(*this, child);
}
