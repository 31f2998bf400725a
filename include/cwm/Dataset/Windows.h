//===- Windows.h - Pieces of trajectories for training ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_DATASET_WINDOWS_H
#define CWM_DATASET_WINDOWS_H

#include "cwm/Dataset/Dataset.h"

namespace cwm {

struct WindowOptions {
  /// Steps of a window.
  unsigned numSteps = 8;
  /// Windows of one trajectory begin so many steps apart.
  unsigned stride = 4;
  /// Negatives: states that no step of the window leads to, of other
  /// trajectories of the workload, and of other workloads.
  unsigned numSameWorkload = 4, numOtherWorkload = 4;
  uint64_t seed = 0;
};

/// K steps from a state on, numbers as in the Dataset. All vectors have fixed
/// lengths, so that windows stack into tensors.
struct Window {
  uint32_t trajectory = 0;
  /// The state that it starts from: always a known one.
  uint32_t start = 0;
  /// K each. `hasAction` is 0 behind the trajectory's end, where action is 0;
  /// `hasState` is 0 where the state behind an action was not kept (it still
  /// has to be rolled over), where target is 0.
  std::vector<uint32_t> actions, targets;
  std::vector<uint8_t> hasAction, hasState;
  /// Fewer than asked for only where the dataset has no more such states.
  std::vector<uint32_t> sameWorkload, otherWorkload;
};

/// The windows of a dataset, in an order that the seed and the epoch decide.
/// The dataset must outlive it.
class WindowIterator {
public:
  /// Fails where no window has a single step with a known state: nothing can be
  /// learned from that.
  static llvm::Expected<WindowIterator> create(const Dataset &dataset,
                                               const WindowOptions &options);

  size_t size() const { return places.size(); }
  /// Shuffles for epoch 0, 1, ...; the same seed and epoch give the same order
  /// and negatives, whatever was asked for before.
  void startEpoch(uint64_t epoch);
  /// Window `index` of the epoch.
  Window get(size_t index) const;

private:
  struct Place {
    uint32_t trajectory, step;
  };
  WindowIterator(const Dataset &dataset, const WindowOptions &options)
      : dataset(&dataset), options(options) {}
  void addNegatives(Window &window, uint64_t seed) const;

  const Dataset *dataset;
  WindowOptions options;
  std::vector<Place> places;
  std::vector<uint32_t> order;
  uint64_t epochSeed = 0;
};

} // namespace cwm

#endif // CWM_DATASET_WINDOWS_H
