//===- Trajectory.h - What a schedule did to a payload ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAJECTORY_TRAJECTORY_H
#define CWM_TRAJECTORY_TRAJECTORY_H

#include "cwm/Dialect/Cwm/CwmDialect.h"

#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cwm {

/// The payload between two steps.
struct State {
  /// hashText() of its canonical text.
  std::string hash;
  /// Canonical text; empty when only hashes were asked for.
  std::string text;
  /// A part of the payload that a step saw by itself, on a clone.
  bool detached = false;
  /// The payload itself, when asked for.
  mlir::OwningOpRef<mlir::Operation *> payload;
};

/// One application of a transform op; see the documentation of `cwm.step`.
struct Step {
  std::optional<unsigned> parent;
  unsigned depth = 0;
  StepKind kind = StepKind::Handle;
  StepStatus status = StepStatus::Ok;
  /// Name of the op without the dialect prefix.
  std::string name;
  /// Canonical text of an action.
  std::string text;
  /// Of a failure.
  std::string message;
  /// Numbers of the states before and after; unset where the payload was not
  /// looked at (matchers) or is gone.
  std::optional<unsigned> before, after;
  /// What the operands and results held: op names, types of values, or
  /// parameters.
  std::vector<std::string> operands, results;
  /// In its parent: which run of a loop's body, or which alternative.
  std::optional<unsigned> iteration;
  /// Which pair of a foreach_match parent.
  unsigned pair = 0;
  /// Successful rewrites by pattern name.
  std::map<std::string, unsigned> patterns;
  /// What the verifier says about the state it left.
  std::string invalid;
  /// `file:line:column` in the schedule, without the folder.
  std::string location;
  bool detached = false;
  bool rolledBack = false;

  bool isChanged() const { return before && after && *before != *after; }
};

/// One action of the effective history.
struct HistoryEntry {
  /// The (first) step that applied it.
  unsigned step = 0;
  /// The state of the whole payload behind it, if there is one.
  std::optional<unsigned> state;
};

/// s0, a1, s1, ..., aK, sK, and the steps that this was gathered from. Steps
/// are in the order in which they began; a step's number is its position.
struct Trajectory {
  StepStatus status = StepStatus::Ok;
  std::string message;
  /// The knobs that the run asked for, by name, with their selection.
  std::map<std::string, mlir::Attribute> knobs;
  std::vector<State> states;
  std::vector<Step> steps;
  std::vector<HistoryEntry> history;

  /// Marks the steps of alternatives that were given up and fills `history`
  /// from `steps`. Loop bodies count once, by their first run; the pairs of a
  /// foreach_match in the order of the script.
  void computeHistory();
  /// The texts of the effective history.
  std::vector<std::string> getActionTexts() const;
};

/// Which steps are written.
enum class StepFilter {
  Changed, ///< actions that changed the payload, and what they are nested in
  Actions, ///< all actions, and what they are nested in
  All      ///< matchers and handle plumbing too
};

struct TrajectoryWriterOptions {
  StepFilter steps = StepFilter::Actions;
  /// Names the space in the candidate.
  std::string spaceName;
};

/// One JSON object a line: a header, the states, the steps, the actions; see
/// docs/Trajectories.md.
void writeJSONLines(const Trajectory &trajectory,
                    const TrajectoryWriterOptions &options,
                    llvm::raw_ostream &os);

/// A `cwm.trajectory` op. Moves the payloads of states into it.
mlir::OwningOpRef<TrajectoryOp>
buildTrajectoryOp(Trajectory &trajectory,
                  const TrajectoryWriterOptions &options,
                  mlir::MLIRContext *context);

} // namespace cwm

#endif // CWM_TRAJECTORY_TRAJECTORY_H
