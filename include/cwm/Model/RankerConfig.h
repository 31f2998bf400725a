//===- RankerConfig.h - What a ranker sees of a candidate -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_RANKERCONFIG_H
#define CWM_MODEL_RANKERCONFIG_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cwm {

/// Which latent state a ranker sees.
enum class RankerState {
  None,    ///< none
  Initial, ///< that of the payload: the same for all candidates of a workload
  RollOut, ///< the predicted one behind the candidate's modelled actions
  Final    ///< the true one there; known only once the candidate was applied
};

/// "none", "initial", "rollout", "final".
llvm::StringRef stringifyRankerState(RankerState state);
std::optional<RankerState> symbolizeRankerState(llvm::StringRef name);
llvm::ArrayRef<llvm::StringRef> getRankerStateNames();

/// The inputs and the objective that a ranker was trained with. A row is
/// [z, phi(actions), h]: the latent state of `dim` floats (if any), the
/// features of docs/Features.md (if `actions`), the hardware vector.
struct RankerConfig {
  RankerState state = RankerState::RollOut;
  bool actions = true;
  /// Length of h.
  int64_t hardware = 0;
  /// XGBoost's name.
  std::string objective = "rank:ndcg";

  /// Columns of a row, with latent states of `dim` floats.
  size_t getNumColumns(size_t dim) const;
  /// Appends a row. What the ranker does not see may be empty; an empty `state`
  /// that it does see becomes NaN, "missing".
  void appendRow(llvm::ArrayRef<float> state, size_t dim,
                 llvm::ArrayRef<float> features, llvm::ArrayRef<float> hardware,
                 std::vector<float> &rows) const;
};

} // namespace cwm

#endif // CWM_MODEL_RANKERCONFIG_H
