//===- Scorer.h - Interface: predicts which candidates run fast -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_SCORER_H
#define CWM_MODEL_SCORER_H

#include "cwm/Trajectory/ActionText.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace cwm {

/// What all candidates of one workload share.
struct ScoringContext {
  std::string workload;        ///< hash; the group of the ranking
  std::string stateText;       ///< s0
  std::vector<float> hardware; ///< h
};

/// One candidate as a scorer sees it.
struct ScoringItem {
  /// The same object for the same action of all candidates.
  llvm::ArrayRef<const Action *> actions;
  llvm::ArrayRef<float> features; ///< phi(actions), Model/Features.h
};

/// One measured candidate to learn from. Failures have relevance 0.
struct TrainingItem {
  std::string workload;
  std::vector<float> features, hardware;
  bool ok = false;
  double score = 0; ///< TrialResult::score when ok
  /// Where they are known, which they are of the workload that is tuned. Valid
  /// during the call.
  llvm::ArrayRef<const Action *> actions;
};

/// Scores order candidates of one workload: higher is believed faster. The
/// world model plugs in here.
class Scorer {
public:
  virtual ~Scorer() = default;
  virtual llvm::StringRef getName() const = 0;
  /// Scorers of one identity that learn the same score alike.
  virtual std::string getIdentity() const { return getName().str(); }
  /// False until it has learned enough to be better than chance; search then
  /// falls back to random picks.
  virtual bool isReady() const = 0;
  virtual llvm::Expected<std::vector<double>>
  score(const ScoringContext &context, llvm::ArrayRef<ScoringItem> items) = 0;
  /// Learns from all measured candidates so far. Deterministic.
  virtual llvm::Error update(llvm::ArrayRef<TrainingItem> items) = 0;
};

} // namespace cwm

#endif // CWM_MODEL_SCORER_H
