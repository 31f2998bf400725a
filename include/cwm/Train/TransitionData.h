//===- TransitionData.h - What the transition learns from -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAIN_TRANSITIONDATA_H
#define CWM_TRAIN_TRANSITIONDATA_H

#include "cwm/Dataset/Windows.h"
#include "cwm/Model/LatentStore.h"
#include "cwm/Model/TorchTable.h"
#include "cwm/Train/RolloutMetrics.h"

#include <optional>

namespace cwm {

/// A hash of everything that is learned from, but not of the encoder.
std::string getDigest(const Dataset &dataset);

/// The two sides of `dataset`: to train on, and of whole workloads for
/// validation. A share of those that have a trajectory, at least one, chosen by
/// `seed`. Fails if there are less than two.
llvm::Expected<std::pair<Dataset, Dataset>>
splitValidation(const Dataset &dataset, double share, uint64_t seed);

/// `dataset` with the latent states of `store`, by the same numbers.
/// Trajectories whose payload has no state are left out. An error where the
/// store lacks a text.
llvm::Expected<LatentTrajectories>
makeLatentTrajectories(const Dataset &dataset, const LatentStore &store);

/// Owns what a CwmRolloutBatch points to, but for the states.
struct RolloutBatch {
  int64_t steps = 0, negatives = 0, sameWorkload = 0;
  const LatentTrajectories *data = nullptr;
  std::vector<int32_t> start, actions, targets, negative;
  std::vector<float> weights, encodings;
  double totalWeight = 0;

  int64_t getNumRows() const { return static_cast<int64_t>(start.size()); }
  /// A view; valid while the batch is not changed.
  CwmRolloutBatch get() const;
};

/// The roll-outs of each step, a function of the seed and the step alone, so
/// that a resumed run sees what the run would have seen. A batch is either of
/// windows of a few actions, anywhere in a trajectory, or of whole
/// trajectories: a ranker only sees the end of these.
class RolloutSampler {
public:
  struct Options {
    int64_t windows = 64, windowSteps = 8, stride = 4;
    /// Whole trajectories of a batch, and the share of the batches that have
    /// them.
    int64_t whole = 16;
    double wholeShare = 0.5;
    /// Weight of a trajectory's last state, where that of others is 1.
    double finalWeight = 4;
    int64_t sameWorkload = 8, otherWorkload = 8; ///< negatives
    uint64_t seed = 0;
    /// This process has the rank-th of `ranks` parts of each batch.
    int64_t rank = 0, ranks = 1;
  };
  /// Fails where no window has a step with a known state.
  static llvm::Expected<RolloutSampler> create(const Dataset &dataset,
                                               const LatentTrajectories &data,
                                               const Options &options);

  /// The batch of a step, counted from 0.
  RolloutBatch getBatch(int64_t step);
  /// The `index`-th batch of windows, or of whole trajectories, that
  /// evaluations see, and how many there are.
  RolloutBatch getEvaluationBatch(bool isWhole, int64_t index);
  int64_t getNumEvaluationBatches(bool isWhole) const;
  size_t getNumWindows() const { return windows.size(); }

private:
  RolloutSampler(WindowIterator windows, WindowIterator whole,
                 const LatentTrajectories &data, const Options &options)
      : windows(std::move(windows)), whole(std::move(whole)), data(&data),
        options(options) {}
  /// Batch `index` of the batches of all epochs.
  RolloutBatch make(bool isWhole, int64_t index);

  WindowIterator windows, whole;
  const LatentTrajectories *data;
  Options options;
  /// What the iterators are shuffled for.
  int64_t epochs[2] = {0, 0};
};

} // namespace cwm

#endif // CWM_TRAIN_TRANSITIONDATA_H
