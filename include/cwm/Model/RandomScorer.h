//===- RandomScorer.h - Scores that mean nothing ----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_RANDOMSCORER_H
#define CWM_MODEL_RANDOMSCORER_H

#include "cwm/Model/Scorer.h"

namespace cwm {

/// The baseline of all scorers: a hash of the features and the seed. It never
/// becomes ready; a search with it picks at random and by evolution only.
class RandomScorer : public Scorer {
public:
  explicit RandomScorer(uint64_t seed = 0) : seed(seed) {}
  llvm::StringRef getName() const override { return "random"; }
  bool isReady() const override { return false; }
  llvm::Expected<std::vector<double>>
  score(const ScoringContext &context,
        llvm::ArrayRef<ScoringItem> items) override;
  llvm::Error update(llvm::ArrayRef<TrainingItem>) override {
    return llvm::Error::success();
  }

private:
  uint64_t seed;
};

} // namespace cwm

#endif // CWM_MODEL_RANDOMSCORER_H
