//===- Explain.h - Which actions moved a score ------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SEARCH_EXPLAIN_H
#define CWM_SEARCH_EXPLAIN_H

#include "cwm/Model/Scorer.h"

namespace cwm {

/// What the actions of one candidate did to its score, in their order.
struct ScoreExplanation {
  /// Of the payload as it is, and of the candidate.
  double before = 0, after = 0;
  /// One an action: the score of the schedule that ends with it less that of
  /// the schedule that ends before it. Their sum is `after - before`.
  std::vector<double> effects;
};

/// Scores each beginning of a candidate's schedule. A scorer has learned from
/// whole schedules: what it says of their beginnings tells what it looks at,
/// not what a shorter schedule would be worth.
llvm::Expected<ScoreExplanation>
explainScore(Scorer &scorer, const ScoringContext &context,
             llvm::ArrayRef<const Action *> actions);

/// Lines for people: the `limit` actions with the largest effects, in the order
/// of the schedule, and what the others add up to. `width` cuts action texts.
std::string formatExplanation(const ScoreExplanation &explanation,
                              llvm::ArrayRef<const Action *> actions,
                              size_t limit, size_t width);

} // namespace cwm

#endif // CWM_SEARCH_EXPLAIN_H
