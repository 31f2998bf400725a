//===- SpaceImpl.h - Internals of a space -----------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SPACE_SPACEIMPL_H
#define CWM_LIB_SPACE_SPACEIMPL_H

#include "Binding.h"
#include "Constraint.h"

#include "cwm/Space/Space.h"

#include "llvm/ADT/StringSet.h"

#include <mutex>

namespace cwm {

/// A conjunction of (knob, option index), sorted by knob.
using Guard = std::vector<std::pair<unsigned, uint64_t>>;
/// A disjunction of guards. Empty means never; one empty guard means always.
using GuardSet = std::vector<Guard>;

/// `guard` and "knob = option"; nullopt when that contradicts.
std::optional<Guard> conjoin(const Guard &guard, unsigned knob,
                             uint64_t option);
std::optional<Guard> conjoin(const Guard &a, const Guard &b);
/// Adds `guard` to `set` unless implied, dropping what it implies.
void addGuard(GuardSet &set, const Guard &guard);
bool holds(const Guard &guard, const Assignment &assignment);
bool holds(const GuardSet &set, const Assignment &assignment);

/// What a parameter value of the script is under which condition.
struct GuardedExpr {
  Guard guard;
  unsigned expr;
};
using Choices = std::vector<GuardedExpr>;

/// One operation of the schedule that binding has to touch.
struct Site {
  /// Position in a pre-order walk of the schedule.
  uint64_t index = 0;
  /// When the operation is reached by the interpreter.
  GuardSet live;
  /// Knob of a `transform.tune.knob`.
  std::optional<unsigned> knob;
  /// Its option when it is a knob that no candidate uses.
  mlir::Attribute fixedOption;
  /// The region that `transform.tune.alternatives` selects: a knob, or the
  /// values of its parameter.
  std::optional<unsigned> alternatives;
  Choices regionChoices;
  /// The parameter is (also) something that only the interpreter knows.
  bool regionUnknown = false;
  /// Attributes set by `cwm.bind`.
  std::vector<BoundAttribute> bound;
  /// Values of the results of a `transform.smt.constrain_params`.
  bool isConstraint = false;
  std::vector<Choices> results;
  /// A named sequence.
  bool isSequence = false;
};

class Diagram;

struct Space::Impl {
  Impl();
  ~Impl();

  mlir::OwningOpRef<mlir::ModuleOp> schedule;
  ExprPool exprs;
  std::vector<Constraint> constraints;
  /// In pre-order.
  std::vector<Site> sites;
  /// Name -> index in Space::knobs.
  llvm::StringMap<unsigned> knobIndex;
  /// Indices of Space::knobs in name order, single options left out.
  std::vector<unsigned> keyOrder;

  /// Integers of the options, for constraints: those of lists; first and step
  /// of ranges; and the hull of either.
  std::vector<std::vector<int64_t>> values;
  std::vector<std::optional<std::pair<int64_t, int64_t>>> ranges;
  std::vector<Interval> hulls;
  void computeValues(llvm::ArrayRef<Knob> knobs);
  int64_t getValue(unsigned knob, uint64_t option) const {
    return ranges[knob] ? ranges[knob]->first + static_cast<int64_t>(option) *
                                                    ranges[knob]->second
                        : values[knob][option];
  }
  Interval getPoint(unsigned knob, uint64_t option) const {
    Int128 value = getValue(knob, option);
    return {value, value, false};
  }

  /// What an option of a knob has to do with the operations of bound scripts.
  enum class Influence : uint8_t {
    None,   ///< values of attributes and parameters only
    Zeros,  ///< a tile size: whether it is 0
    Option, ///< which regions, sequences and orders of loops there are
  };
  /// Of each knob; filled by findStructure.
  std::vector<Influence> influence;
  void findStructure(size_t numKnobs);

  std::string describe(const Constraint &constraint,
                       llvm::ArrayRef<Knob> knobs) const;

  /// All candidates, constraints ignored; null when too large to build.
  const Diagram *getUnconstrained(const Space &space);
  /// All candidates that satisfy the constraints; null when too large.
  const Diagram *getConstrained(const Space &space);
  /// A candidate that keeps as many options of `preferred` as it can, with
  /// `forced` = (knob, option) live and so where given.
  std::optional<Assignment>
  repair(const Space &space, const Assignment &preferred,
         std::optional<std::pair<unsigned, uint64_t>> forced = std::nullopt);

private:
  // Built on first use, whatever the thread.
  std::once_flag unconstrainedOnce, constrainedOnce;
  std::unique_ptr<Diagram> unconstrained, constrained;
};

/// Fills `knobs` and `impl` from `impl.schedule`; see Space::create.
mlir::LogicalResult
collectSpace(llvm::StringRef name, std::vector<Knob> &knobs, Space::Impl &impl,
             const llvm::StringMap<mlir::ArrayAttr> &options,
             const llvm::StringMap<uint64_t> &defaults);

} // namespace cwm

#endif // CWM_LIB_SPACE_SPACEIMPL_H
