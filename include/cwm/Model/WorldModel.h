//===- WorldModel.h - E, F and G: scores of candidates ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What search, passes and evaluation share. A candidate is scored without being
// applied: the latent state of the payload is rolled over its modelled actions,
// and the ranker sees the result, the features of all actions, and the
// hardware vector. Which of these the ranker sees is in config.json; what it
// does not see is not loaded: a model without latent states needs no torch.
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_WORLDMODEL_H
#define CWM_MODEL_WORLDMODEL_H

#include "cwm/Model/Features.h"
#include "cwm/Model/LatentModel.h"
#include "cwm/Model/Ranker.h"
#include "cwm/Model/Scorer.h"

namespace cwm {

class WorldModel {
public:
  /// `latents` may be absent where the ranker sees no state.
  WorldModel(Ranker ranker, std::optional<LatentModel> latents,
             std::vector<float> hardware);

  /// Errors name the model: a file that is missing (with the stage that makes
  /// it) or damaged, another target than `targetKey`
  /// (HardwareDescription::getTargetKey()), a ranker of other inputs, of true
  /// final states, or of hardware vectors of another length than `hardware`; no
  /// torch component or no XGBoost.
  static llvm::Expected<std::unique_ptr<WorldModel>>
  load(const ModelDirectory &directory, llvm::StringRef targetKey,
       std::vector<float> hardware);

  const Ranker &getRanker() const { return ranker; }
  /// Null where the ranker sees no state.
  LatentModel *getLatents() { return latents ? &*latents : nullptr; }

  /// Begins with another payload, by its canonical text; does nothing where it
  /// is the present one. What was encoded of actions stays.
  llvm::Error setPayload(llvm::StringRef stateText);

  /// One score for each candidate of the payload: higher is believed faster.
  /// `actions` are all actions of the candidate, in order; `features` may be
  /// empty, and are then computed.
  llvm::Expected<std::vector<float>>
  score(llvm::ArrayRef<ScoringItem> candidates);

  /// The parts of score(). What the ranker sees of each candidate, in rows of
  /// getRanker().getNumColumns().
  llvm::Expected<std::vector<float>>
  getRows(llvm::ArrayRef<ScoringItem> candidates);
  /// Rows of `features.size() / numFeatures` candidates whose states, row by
  /// row, are `states` (empty where the ranker sees none).
  std::vector<float> makeRows(llvm::ArrayRef<float> states,
                              llvm::ArrayRef<float> features) const;

private:
  std::vector<std::vector<uint32_t>>
  addAllActions(llvm::ArrayRef<ScoringItem> candidates);

  Ranker ranker;
  std::optional<LatentModel> latents;
  std::vector<float> hardware;
  std::string payload;
  std::optional<FeatureTable> features;
};

/// An action from its text, which begins with its name.
Action makeAction(llvm::StringRef text);

} // namespace cwm

#endif // CWM_MODEL_WORLDMODEL_H
