//===- SplitMix.h - Random bits that are the same everywhere ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SUPPORT_SPLITMIX_H
#define CWM_SUPPORT_SPLITMIX_H

#include <cstddef>
#include <cstdint>
#include <utility>

namespace cwm {

/// What splitmix64 adds to its state for each value.
inline constexpr uint64_t splitMixStep = 0x9e3779b97f4a7c15;

/// The value of splitmix64 after `state` (Steele, Lea, Flood: Fast splittable
/// pseudorandom number generators, OOPSLA 2014): every bit of the state changes
/// every bit of the value.
inline uint64_t splitMix(uint64_t state) {
  uint64_t value = state + splitMixStep;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

/// Puts `values` into a random order (Fisher and Yates); unlike std::shuffle
/// the same with every standard library. `below(n)` draws a number below n.
template <typename Values, typename Below>
void shuffleBy(Values &values, Below below) {
  for (size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[below(i)]);
}

} // namespace cwm

#endif // CWM_SUPPORT_SPLITMIX_H
