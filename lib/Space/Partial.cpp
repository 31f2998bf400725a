//===- Partial.cpp - Candidates with some knobs still open --------*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Partial.h"

using namespace mlir;
using namespace cwm;

Partial::Partial(ArrayRef<Knob> knobs, const Space::Impl &impl)
    : knobs(knobs), impl(impl), options(knobs.size()), known(knobs.size()) {
  for (auto [option, knob] : llvm::zip_equal(options, knobs))
    option = knob.defaultIndex;
}

Truth Partial::check(const Guard &guard) const {
  Truth result = Truth::True;
  for (auto [knob, option] : guard) {
    if (!known[knob])
      result = Truth::Open;
    else if (options[knob] != option)
      return Truth::False;
  }
  return result;
}

Truth Partial::isLive(unsigned knob) const {
  if (knobs[knob].liveWhen.empty())
    return Truth::True;
  Truth result = Truth::False;
  for (const Guard &guard : knobs[knob].liveWhen) {
    Truth truth = check(guard);
    if (truth == Truth::True)
      return truth;
    if (truth == Truth::Open)
      result = truth;
  }
  return result;
}

Truth Partial::check(const Constraint &constraint) const {
  Truth applies = check(constraint.guard);
  if (applies == Truth::False)
    return Truth::True;
  bool allKnown = llvm::all_of(constraint.program.getKnobs(),
                               [&](unsigned knob) { return known[knob] != 0; });
  if (allKnown && applies == Truth::True)
    if (std::optional<int64_t> value = constraint.program.evaluatePoint(
            [&](unsigned knob) { return impl.getValue(knob, options[knob]); }))
      return *value ? Truth::True : Truth::False;
  Interval value = constraint.program.evaluate([&](unsigned knob) {
    return known[knob] ? impl.getPoint(knob, options[knob]) : impl.hulls[knob];
  });
  if (value.isTrue())
    return Truth::True;
  if (!allKnown && !value.isFalse())
    return Truth::Open;
  return applies == Truth::True ? Truth::False : Truth::Open;
}

//===----------------------------------------------------------------------===//
// Solver
//===----------------------------------------------------------------------===//

Solver::Solver(ArrayRef<Knob> knobs, const Space::Impl &impl,
               const Assignment &preferred, uint64_t budget)
    : knobs(knobs), impl(impl), preferred(preferred), budget(budget),
      left(budget), partial(knobs, impl), watchers(knobs.size()),
      failures(impl.constraints.size()) {
  for (auto [index, constraint] : llvm::enumerate(impl.constraints)) {
    for (unsigned knob : constraint.program.getKnobs())
      watchers[knob].push_back(index);
    for (auto [knob, option] : constraint.guard)
      if (!llvm::is_contained(constraint.program.getKnobs(), knob))
        watchers[knob].push_back(index);
  }
}

bool Solver::run(llvm::function_ref<bool(const Assignment &)> visit) {
  // Constraints over no knob at all are looked at by nobody else.
  for (auto [index, constraint] : llvm::enumerate(impl.constraints)) {
    if (partial.check(constraint) == Truth::False) {
      ++failures[index];
      return true;
    }
  }
  return search(0, visit) != Outcome::OutOfBudget;
}

/// The first open knob of which it is known whether it is live. There is
/// always one: of the knobs on the path to an undecided place of the schedule,
/// the outermost open one.
std::optional<unsigned> Solver::findDecided() const {
  for (unsigned knob = 0; knob < knobs.size(); ++knob)
    if (!partial.isKnown(knob) && partial.isLive(knob) != Truth::Open)
      return knob;
  return std::nullopt;
}

bool Solver::isConsistent(unsigned knob) {
  for (unsigned index : watchers[knob]) {
    if (partial.check(impl.constraints[index]) == Truth::False) {
      ++failures[index];
      return false;
    }
  }
  return true;
}

Solver::Outcome
Solver::search(unsigned numKnown,
               llvm::function_ref<bool(const Assignment &)> visit) {
  if (numKnown == knobs.size()) {
    left = budget;
    return visit(partial.getOptions()) ? Outcome::Continue : Outcome::Stop;
  }
  std::optional<unsigned> knob = findDecided();
  assert(knob && "conditions of liveness are circular");
  bool isForced = forced && forced->first == *knob;
  bool isLive = partial.isLive(*knob) == Truth::True;
  if (isForced && !isLive)
    return Outcome::Continue;
  uint64_t numOptions = isLive && !isForced ? knobs[*knob].getNumOptions() : 1;
  uint64_t first = isForced ? forced->second
                   : isLive ? preferred[*knob]
                            : knobs[*knob].defaultIndex;
  Outcome outcome = Outcome::Continue;
  for (uint64_t rank = 0; rank < numOptions && outcome == Outcome::Continue;
       ++rank) {
    if (left-- == 0) {
      left = 0;
      outcome = Outcome::OutOfBudget;
      break;
    }
    // `first` is below the number of options unless that is 1.
    partial.set(*knob, numOptions == 1 ? first : (first + rank) % numOptions);
    if (isConsistent(*knob))
      outcome = search(numKnown + 1, visit);
  }
  partial.clear(*knob);
  return outcome;
}
