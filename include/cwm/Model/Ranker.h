//===- Ranker.h - G: from inputs to scores -----------------------*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_RANKER_H
#define CWM_MODEL_RANKER_H

#include "cwm/Model/Booster.h"
#include "cwm/Model/ModelDirectory.h"

namespace cwm {

/// The trained ranker of a model directory, and what it sees.
class Ranker {
public:
  Ranker(RankerConfig config, size_t dim, Booster booster)
      : config(std::move(config)), dim(dim), booster(std::move(booster)) {}

  /// Errors, each beginning with "cannot use model 'path': ": no ranker.ubj,
  /// not a model of XGBoost, one for other inputs than config.json says, or for
  /// another layout of phi than this build's.
  static llvm::Expected<Ranker> load(const ModelDirectory &directory);

  const RankerConfig &getConfig() const { return config; }
  /// Length of the latent states in its rows.
  size_t getDim() const { return dim; }
  const Booster &getBooster() const { return booster; }
  size_t getNumColumns() const { return config.getNumColumns(dim); }
  /// One score for each row of getNumColumns() values: higher is believed
  /// faster.
  llvm::Expected<std::vector<float>> score(llvm::ArrayRef<float> rows) const {
    return booster.predict(rows, getNumColumns());
  }

  /// The trees, as Booster::load() reads them.
  llvm::Expected<std::string> serialize() const { return booster.serialize(); }

private:
  RankerConfig config;
  size_t dim;
  Booster booster;
};

/// Whether a model for `modelTarget` (config.json) may score for `targetKey`
/// (HardwareDescription::getTargetKey()): the same, or its family, as "cpu" of
/// "cpu:znver4:...".
bool isTargetOf(llvm::StringRef modelTarget, llvm::StringRef targetKey);

} // namespace cwm

#endif // CWM_MODEL_RANKER_H
