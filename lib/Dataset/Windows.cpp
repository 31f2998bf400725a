//===- Windows.cpp - Pieces of trajectories for training --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Dataset/Windows.h"

#include "cwm/Space/Space.h"
#include "cwm/Support/SplitMix.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Sequence.h"

#include <numeric>

using namespace llvm;

namespace cwm {

/// Mixes two numbers into a seed.
static uint64_t mix(uint64_t a, uint64_t b) {
  return splitMix(a + splitMixStep * b);
}

Expected<WindowIterator> WindowIterator::create(const Dataset &dataset,
                                                const WindowOptions &options) {
  if (options.numSteps == 0 || options.stride == 0)
    return createStringError("windows need at least one step and a stride of "
                             "at least one");
  WindowIterator iterator(dataset, options);
  for (size_t number = 0; number < dataset.getTrajectories().size(); ++number) {
    const Dataset::Trajectory &trajectory = dataset.getTrajectories()[number];
    size_t next = 0;
    for (size_t step = 0; step < trajectory.actions.size(); ++step) {
      // A start that is not known moves the window to the next one that is.
      if (step < next || trajectory.states[step] == Dataset::noState)
        continue;
      size_t end = std::min(step + options.numSteps, trajectory.actions.size());
      bool hasTarget = any_of(seq(step + 1, end + 1), [&](size_t place) {
        return trajectory.states[place] != Dataset::noState;
      });
      if (!hasTarget)
        continue;
      iterator.places.push_back(
          {static_cast<uint32_t>(number), static_cast<uint32_t>(step)});
      next = step + options.stride;
    }
  }
  if (iterator.places.empty())
    return createStringError("no trajectory has an action between two known "
                             "states: there is nothing to learn from");
  iterator.startEpoch(0);
  return iterator;
}

void WindowIterator::startEpoch(uint64_t epoch) {
  epochSeed = mix(options.seed, epoch);
  order.resize(places.size());
  std::iota(order.begin(), order.end(), 0U);
  RandomEngine engine(epochSeed);
  shuffleBy(order, [&](size_t end) { return uniformBelow(engine, end); });
}

/// Up to `count` distinct states from a pool that are neither `excluded` nor
/// refused by `isAllowed`, drawn until a bounded number of draws gave nothing
/// new.
static std::vector<uint32_t> drawStates(unsigned count, size_t poolSize,
                                        function_ref<uint32_t(size_t)> getState,
                                        function_ref<bool(uint32_t)> isAllowed,
                                        DenseSet<uint32_t> &excluded,
                                        RandomEngine &engine) {
  std::vector<uint32_t> drawn;
  if (poolSize == 0)
    return drawn;
  for (unsigned attempt = 0; attempt < 8 * count && drawn.size() < count;
       ++attempt) {
    uint32_t state = getState(uniformBelow(engine, poolSize));
    if (isAllowed(state) && excluded.insert(state).second)
      drawn.push_back(state);
  }
  // Small pools are searched to the end.
  for (size_t i = 0; i < poolSize && drawn.size() < count && poolSize <= 256;
       ++i)
    if (uint32_t state = getState(i);
        isAllowed(state) && excluded.insert(state).second)
      drawn.push_back(state);
  return drawn;
}

void WindowIterator::addNegatives(Window &window, uint64_t seed) const {
  const Dataset::Trajectory &trajectory =
      dataset->getTrajectories()[window.trajectory];
  RandomEngine engine(seed);
  // All of the trajectory, not only of the window: what it comes to later is no
  // other trajectory's.
  DenseSet<uint32_t> excluded;
  for (uint32_t state : trajectory.states)
    if (state != Dataset::noState)
      excluded.insert(state);
  ArrayRef<uint32_t> same = dataset->getStatesOf(trajectory.workload);
  window.sameWorkload = drawStates(
      options.numSameWorkload, same.size(), [&](size_t i) { return same[i]; },
      [](uint32_t) { return true; }, excluded, engine);
  // Everything of the own workload is no negative of another one.
  window.otherWorkload = drawStates(
      options.numOtherWorkload, dataset->getNumStates(),
      [&](size_t i) { return static_cast<uint32_t>(i); },
      [&](uint32_t state) {
        return dataset->getWorkloadOfState(state) != trajectory.workload;
      },
      excluded, engine);
}

Window WindowIterator::get(size_t index) const {
  Place place = places[order[index]];
  const Dataset::Trajectory &trajectory =
      dataset->getTrajectories()[place.trajectory];
  Window window;
  window.trajectory = place.trajectory;
  window.start = trajectory.states[place.step];
  window.actions.resize(options.numSteps);
  window.targets.resize(options.numSteps);
  window.hasAction.resize(options.numSteps);
  window.hasState.resize(options.numSteps);
  for (unsigned step = 0; step < options.numSteps; ++step) {
    size_t at = place.step + step;
    if (at >= trajectory.actions.size())
      break;
    window.actions[step] = trajectory.actions[at];
    window.hasAction[step] = 1;
    uint32_t state = trajectory.states[at + 1];
    if (state == Dataset::noState)
      continue;
    window.targets[step] = state;
    window.hasState[step] = 1;
  }
  addNegatives(window, mix(epochSeed, order[index]));
  return window;
}

} // namespace cwm
