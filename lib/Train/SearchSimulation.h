//===- SearchSimulation.h - A search on a fixed pool ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRAIN_SEARCHSIMULATION_H
#define CWM_LIB_TRAIN_SEARCHSIMULATION_H

#include "cwm/Train/RankingTask.h"

namespace cwm {

/// The picks of a search that learns as it goes, among the candidates of a
/// pool: batches of eight, a tenth of each at random, the others by the scores
/// of a RankerScorer that is trained on all picks so far; at random while it is
/// not ready. That is cwm-tune without its variations of the best candidates,
/// which are not in a pool. Deterministic for a seed.
llvm::Expected<std::vector<uint32_t>>
simulateOnlineSearch(const RankingTask &task, const RankingInputs &inputs,
                     size_t numTrials, uint64_t seed);

} // namespace cwm

#endif // CWM_LIB_TRAIN_SEARCHSIMULATION_H
