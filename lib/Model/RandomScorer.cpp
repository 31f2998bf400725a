//===- RandomScorer.cpp - Scores that mean nothing --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/RandomScorer.h"

#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace cwm {

Expected<std::vector<double>> RandomScorer::score(const ScoringContext &,
                                                  ArrayRef<ScoringItem> items) {
  std::vector<double> scores;
  scores.reserve(items.size());
  for (const ScoringItem &item : items) {
    ArrayRef<uint8_t> bytes(
        reinterpret_cast<const uint8_t *>(item.features.data()),
        item.features.size() * sizeof(float));
    uint64_t mixed = (xxh3_64bits(bytes) ^ seed) * 0x9e3779b97f4a7c15ull;
    scores.push_back(double(mixed >> 11) / (uint64_t(1) << 53));
  }
  return scores;
}

} // namespace cwm
