//===- Partial.h - Candidates with some knobs still open --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SPACE_PARTIAL_H
#define CWM_LIB_SPACE_PARTIAL_H

#include "SpaceImpl.h"

namespace cwm {

enum class Truth { False, True, Open };

/// An assignment under construction.
class Partial {
public:
  Partial(llvm::ArrayRef<Knob> knobs, const Space::Impl &impl);

  void set(unsigned knob, uint64_t option) {
    options[knob] = option;
    known[knob] = true;
  }
  void clear(unsigned knob) { known[knob] = false; }
  bool isKnown(unsigned knob) const { return known[knob]; }
  const Assignment &getOptions() const { return options; }

  Truth check(const Guard &guard) const;
  /// Whether the knob is live whatever the open knobs turn out to be.
  Truth isLive(unsigned knob) const;
  /// Whether the constraint holds (or does not apply) whatever the open knobs
  /// turn out to be. An undefined value counts as False.
  Truth check(const Constraint &constraint) const;

private:
  llvm::ArrayRef<Knob> knobs;
  const Space::Impl &impl;
  Assignment options;
  std::vector<char> known;
};

/// Depth-first search over the candidates that satisfy the constraints.
class Solver {
public:
  /// Tries the options of knob k in the order preferred[k], preferred[k] + 1,
  /// ... and around. `budget` bounds the options looked at for one candidate.
  Solver(llvm::ArrayRef<Knob> knobs, const Space::Impl &impl,
         const Assignment &preferred, uint64_t budget);

  /// Only candidates in which `knob` is live and has `option`.
  void force(unsigned knob, uint64_t option) { forced = {knob, option}; }
  /// Calls `visit` for each candidate until it returns false. Returns false
  /// when the budget ran out before.
  bool run(llvm::function_ref<bool(const Assignment &)> visit);
  /// How often each constraint failed.
  llvm::ArrayRef<uint64_t> getFailures() const { return failures; }

private:
  enum class Outcome { Continue, Stop, OutOfBudget };
  Outcome search(unsigned numKnown,
                 llvm::function_ref<bool(const Assignment &)> visit);
  std::optional<unsigned> findDecided() const;
  bool isConsistent(unsigned knob);

  llvm::ArrayRef<Knob> knobs;
  const Space::Impl &impl;
  const Assignment &preferred;
  uint64_t budget, left;
  Partial partial;
  std::optional<std::pair<unsigned, uint64_t>> forced;
  /// For each knob, the constraints that mention it.
  std::vector<std::vector<unsigned>> watchers;
  std::vector<uint64_t> failures;
};

} // namespace cwm

#endif // CWM_LIB_SPACE_PARTIAL_H
