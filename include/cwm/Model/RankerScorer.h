//===- RankerScorer.h - Gradient-boosted ranker of candidates ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_RANKERSCORER_H
#define CWM_MODEL_RANKERSCORER_H

#include "cwm/Model/Scorer.h"

#include <memory>

namespace cwm {

class Booster;

/// XGBoost `rank:ndcg` over [phi(actions), h]. The groups are the workloads;
/// relevance grows with the score relative to the workload's best, and is 0 for
/// failures.
/// Trained anew on each update: a few hundred rows take a fraction of a
/// second, and the model then depends on the data alone.
class RankerScorer : public Scorer {
public:
  struct Options {
    int numRounds = 60;
    int maxDepth = 6;
    double learningRate = 0.1;
    uint64_t seed = 0;
    /// Ready once this many candidates were measured, of which at least a
    /// quarter are valid.
    size_t minItems = 8;
    /// The most items of other workloads that are learned from (the latest),
    /// so that updates stay short.
    size_t maxItems = 4000;
  };

  RankerScorer();
  explicit RankerScorer(const Options &options);
  ~RankerScorer() override;

  llvm::StringRef getName() const override { return "features"; }
  bool isReady() const override;
  llvm::Expected<std::vector<double>>
  score(const ScoringContext &context,
        llvm::ArrayRef<ScoringItem> items) override;
  /// Without the XGBoost library the first call fails with a message that says
  /// so; later ones do nothing, and the scorer is never ready.
  llvm::Error update(llvm::ArrayRef<TrainingItem> items) override;

  /// The model in XGBoost's binary format (UBJSON); "" when not ready.
  llvm::Expected<std::string> serialize() const;
  /// Replaces the model; `serialize`'s inverse. An unreadable model is an
  /// error, and the scorer stays as it was.
  llvm::Error deserialize(llvm::StringRef data, size_t numColumns);

private:
  llvm::Error train(llvm::ArrayRef<const TrainingItem *> items);

  Options options;
  std::unique_ptr<Booster> booster;
  bool libraryMissing = false;
};

} // namespace cwm

#endif // CWM_MODEL_RANKERSCORER_H
