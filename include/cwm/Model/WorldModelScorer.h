//===- WorldModelScorer.h - Candidates scored by a world model --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_WORLDMODELSCORER_H
#define CWM_MODEL_WORLDMODELSCORER_H

#include "cwm/Model/WorldModel.h"

namespace cwm {

/// A world model in a search. It knows something before the first measurement,
/// and learns from those of the run: trees for what was measured are added to
/// the pretrained ones. Each update begins with the pretrained ones again, so
/// that the result depends on the data alone.
class WorldModelScorer : public Scorer {
public:
  struct Options {
    /// Rounds of boosting on what the run measured; 0: the model stays as it
    /// is.
    int numRounds = 40;
    double learningRate = 0.1;
    int maxDepth = 6;
    uint64_t seed = 0;
    /// Learns once so many candidates were measured.
    size_t minItems = 8;
  };

  /// `payload` is the one whose measurements it learns from.
  WorldModelScorer(std::unique_ptr<WorldModel> model, ScoringContext payload,
                   const Options &options)
      : model(std::move(model)), payload(std::move(payload)), options(options) {
  }

  llvm::StringRef getName() const override { return "world-model"; }
  std::string getIdentity() const override;
  bool isReady() const override { return true; }
  llvm::Expected<std::vector<double>>
  score(const ScoringContext &context,
        llvm::ArrayRef<ScoringItem> items) override;
  llvm::Error update(llvm::ArrayRef<TrainingItem> items) override;

private:
  std::unique_ptr<WorldModel> model;
  ScoringContext payload;
  Options options;
  /// The pretrained trees and those of this run; none before it learned.
  std::optional<Booster> updated;
};

} // namespace cwm

#endif // CWM_MODEL_WORLDMODELSCORER_H
