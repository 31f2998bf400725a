//===- History.h - The states and actions that a model learns from -- C++ -*-=//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAJECTORY_HISTORY_H
#define CWM_TRAJECTORY_HISTORY_H

#include "cwm/Trajectory/ActionText.h"
#include "cwm/Trajectory/Trajectory.h"

#include "llvm/Support/JSON.h"

namespace cwm {

/// True for actions that begin the final lowering: bufferisation, and the
/// lowering of vectors. What stands before decides about the schedule; what
/// comes from there on is the same for all candidates of a sketch and
/// multiplies the text (median of 855 tokens after tiling, 2453 at the end).
/// Neither encoder nor transition see states or actions from there on.
bool isLoweringAction(llvm::StringRef actionText);

/// The actions in front of the first that isLoweringAction(): those that a
/// transition model rolls a state over.
llvm::ArrayRef<Action> getModelledActions(llvm::ArrayRef<Action> actions);

/// The effective history of a candidate as it is kept: s0, a1, s1, ..., aK. All
/// actions are there; states up to the first lowering action, and those only
/// that the whole payload had (docs/Trajectories.md: the body of a loop that
/// ran several times has one behind its last action) and whose text is not
/// longer than `maxStateBytes`.
struct History {
  struct State {
    std::string hash, text;
  };
  struct Entry {
    std::string action;
    /// Number of the state behind it.
    std::optional<unsigned> state;
  };
  /// Distinct; the first is the payload itself.
  std::vector<State> states;
  std::vector<Entry> entries;

  /// 256 KiB: some 60,000 tokens, far beyond what encoders take whole.
  static constexpr size_t maxStateBytes = size_t(256) << 10;
};

/// Takes the texts of the states out of `trajectory`.
History makeHistory(Trajectory &&trajectory);

llvm::json::Value toJSON(const History &history);
/// Fails, with the place in `path`, on a wrong type or a number of no state.
bool fromJSON(const llvm::json::Value &value, History &history,
              llvm::json::Path path);

} // namespace cwm

#endif // CWM_TRAJECTORY_HISTORY_H
