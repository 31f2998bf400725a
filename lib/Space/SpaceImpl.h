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
  mlir::OwningOpRef<mlir::ModuleOp> schedule;
  ExprPool exprs;
  std::vector<Constraint> constraints;
  /// In pre-order.
  std::vector<Site> sites;
  /// Name -> index in Space::knobs.
  llvm::StringMap<unsigned> knobIndex;
  /// Indices of Space::knobs in name order, single options left out.
  std::vector<unsigned> keyOrder;
};

/// Fills `knobs` and `impl` from `impl.schedule`; see Space::create.
mlir::LogicalResult
collectSpace(llvm::StringRef name, std::vector<Knob> &knobs, Space::Impl &impl,
             const llvm::StringMap<mlir::ArrayAttr> &options,
             const llvm::StringMap<uint64_t> &defaults);

} // namespace cwm

#endif // CWM_LIB_SPACE_SPACEIMPL_H
