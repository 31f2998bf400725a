//===- Random.h - Random numbers that are the same everywhere -- -*- C++-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRAIN_RANDOM_H
#define CWM_LIB_TRAIN_RANDOM_H

#include "cwm/Support/SplitMix.h"

#include <cstdint>
#include <vector>

namespace cwm {

/// splitmix64. The distributions of the standard library differ between its
/// implementations; training must not.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  /// A stream that has nothing to do with those of other numbers.
  static Random fork(uint64_t seed, uint64_t first, uint64_t second = 0) {
    Random random(seed);
    random.state ^= Random(first + 1).next();
    random.state ^= Random(random.next() + second).next();
    return random;
  }

  uint64_t next() {
    uint64_t value = splitMix(state);
    state += splitMixStep;
    return value;
  }
  /// Below `bound`; the bias of the remainder does not matter here.
  size_t below(size_t bound) { return static_cast<size_t>(next() % bound); }
  /// From 0 to 1, exclusive.
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  template <typename T> void shuffle(std::vector<T> &values) {
    shuffleBy(values, [&](size_t end) { return below(end); });
  }

private:
  uint64_t state;
};

} // namespace cwm

#endif // CWM_LIB_TRAIN_RANDOM_H
