//===- RolloutMetrics.h - How good roll-outs are ----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAIN_ROLLOUTMETRICS_H
#define CWM_TRAIN_ROLLOUTMETRICS_H

#include "cwm/Model/Transition.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

#include <memory>
#include <string>

namespace cwm {

/// Trajectories whose states and actions are encoded.
struct LatentTrajectories {
  /// In `Trajectory::states`: a state that is not known (Dataset::noState).
  static constexpr uint32_t unknown = ~0U;

  struct Trajectory {
    unsigned workload = 0;
    std::vector<uint32_t> actions;
    /// One more than actions. The first is known.
    std::vector<uint32_t> states;
  };

  size_t dim = 0, encodingDim = 0;
  /// Rows of unit vectors, by number.
  std::vector<float> states, encodings;
  /// Texts of actions; the first word is an action's kind.
  std::vector<std::string> actions;
  /// Names of workloads.
  std::vector<std::string> workloads;
  std::vector<Trajectory> trajectories;

  llvm::ArrayRef<float> getState(uint32_t state) const {
    return llvm::ArrayRef(states).slice(state * dim, dim);
  }
  llvm::ArrayRef<float> getEncoding(uint32_t action) const {
    return llvm::ArrayRef(encodings).slice(action * encodingDim, encodingDim);
  }
};

/// Guesses what actions lead to.
class RolloutPredictor {
public:
  virtual ~RolloutPredictor() = default;
  virtual llvm::StringRef getName() const = 0;
  /// The unit vector behind each prefix, by node of `tree`, whose actions are
  /// numbers of `data`; the first row is `initial`.
  virtual std::vector<float> predict(const LatentTrajectories &data,
                                     llvm::ArrayRef<float> initial,
                                     const PrefixTree &tree) const = 0;
};

/// The model's guess.
std::unique_ptr<RolloutPredictor>
makeTransitionPredictor(const Transition &transition);
/// Nothing ever changes.
std::unique_ptr<RolloutPredictor> makeIdentityPredictor();
/// Each kind of action adds what it added to states on average; the sum is
/// brought to unit length.
std::unique_ptr<RolloutPredictor>
makeMeanDeltaPredictor(const LatentTrajectories &training);
/// What is added depends on state and encoded action linearly: least squares
/// with a penalty of a hundredth of the mean square of an input. Of very many
/// steps every n-th is taken, so that at most `maxSteps` are.
std::unique_ptr<RolloutPredictor>
makeLinearPredictor(const LatentTrajectories &training,
                    size_t maxSteps = 100000);

/// Roll-outs of one workload. Candidates with the same actions count once.
struct RolloutScore {
  unsigned workload = 0;
  size_t candidates = 0;
  /// Sum and number of cosines between predicted and true state: [k] behind
  /// k + 1 actions, over the candidates whose state there is known.
  std::vector<double> cosine;
  std::vector<size_t> numKnown;
  /// The same behind the last action.
  double finalCosine = 0;
  size_t numFinal = 0;
  /// Distinct final states that are known.
  size_t numStates = 0;
  /// Of the candidates whose final state is known, how many predicted states
  /// have the true one among the 1 and 5 nearest of the workload's distinct
  /// final states. Where several are equally near (within 1e-6), the
  /// probability of a random order.
  double hits1 = 0, hits5 = 0;

  /// Whether there is something to choose among the nearest 1 or 5.
  bool counts(size_t nearest) const { return numStates > nearest; }
};

struct RolloutReport {
  std::string predictor;
  /// Of the workloads that have candidates, in the order of their numbers.
  std::vector<RolloutScore> scores;

  /// Means over workloads of their means; NaN where there is none.
  double getCosine(size_t step) const;
  double getFinalCosine() const;
  /// `nearest`: 1 or 5. Only over workloads with more final states than that.
  double getRetrieval(size_t nearest) const;
  /// What guessing would give there.
  double getChance(size_t nearest) const;
  size_t getNumQueries(size_t nearest) const;
  size_t getNumWorkloads(size_t nearest) const;
  /// Actions of the longest candidate.
  size_t getNumSteps() const;
};

RolloutReport measureRollouts(const LatentTrajectories &data,
                              const RolloutPredictor &predictor);

/// A table for people: a line for each report, all of the same data.
std::string formatRollouts(llvm::ArrayRef<RolloutReport> reports);
/// Everything of it, with the scores by workload.
llvm::json::Value toJSON(llvm::ArrayRef<RolloutReport> reports,
                         const LatentTrajectories &data);

} // namespace cwm

#endif // CWM_TRAIN_ROLLOUTMETRICS_H
