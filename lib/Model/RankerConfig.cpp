//===- RankerConfig.cpp - What a ranker sees of a candidate -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/RankerConfig.h"

#include "cwm/Model/Features.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <limits>

using namespace llvm;

namespace cwm {

ArrayRef<StringRef> getRankerStateNames() {
  static constexpr StringRef names[] = {"none", "initial", "rollout", "final"};
  return names;
}

StringRef stringifyRankerState(RankerState state) {
  return getRankerStateNames()[static_cast<size_t>(state)];
}

std::optional<RankerState> symbolizeRankerState(StringRef name) {
  for (const auto &[index, known] : enumerate(getRankerStateNames()))
    if (known == name)
      return static_cast<RankerState>(index);
  return std::nullopt;
}

size_t RankerConfig::getNumColumns(size_t dim) const {
  return (state == RankerState::None ? 0 : dim) + (actions ? numFeatures : 0) +
         static_cast<size_t>(hardware);
}

void RankerConfig::appendRow(ArrayRef<float> latent, size_t dim,
                             ArrayRef<float> features,
                             ArrayRef<float> hardwareVector,
                             std::vector<float> &rows) const {
  if (state != RankerState::None) {
    assert((latent.empty() || latent.size() == dim) && "not a latent state");
    if (latent.empty())
      rows.resize(rows.size() + dim, std::numeric_limits<float>::quiet_NaN());
    else
      append_range(rows, latent);
  }
  if (actions) {
    assert(features.size() == numFeatures && "not the features of actions");
    append_range(rows, features);
  }
  append_range(rows, hardwareVector);
}

} // namespace cwm
