//===- Booster.h - Gradient-boosted trees ------------------------*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// XGBoost's handles with owners. The library is loaded on first use; see
// XGBoostAPI.h.
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_BOOSTER_H
#define CWM_MODEL_BOOSTER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cwm {

struct XGBoostAPI;

/// Rows to learn from.
struct BoosterRows {
  /// Row-major; NaN stands for a value that is missing.
  llvm::ArrayRef<float> values;
  size_t numColumns = 0;
  /// One each a row. Groups ascend; empty where there are none.
  llvm::ArrayRef<float> labels;
  llvm::ArrayRef<uint32_t> groups;
};

/// XGBoost's copy of rows.
class BoosterMatrix {
public:
  static llvm::Expected<BoosterMatrix> create(const BoosterRows &rows);
  BoosterMatrix(BoosterMatrix &&other);
  BoosterMatrix &operator=(BoosterMatrix &&other);
  ~BoosterMatrix();

private:
  friend class Booster;
  BoosterMatrix() = default;
  const XGBoostAPI *api = nullptr;
  void *handle = nullptr;
  size_t numColumns = 0;
};

/// A model of trees.
class Booster {
public:
  using Parameters = std::vector<std::pair<std::string, std::string>>;

  /// An untrained one for rows like these. Unknown parameters are errors.
  static llvm::Expected<Booster> create(const BoosterMatrix &matrix,
                                        const Parameters &parameters);
  /// The inverse of serialize(). To train it further, it needs the parameters
  /// again, which files lack.
  static llvm::Expected<Booster> load(llvm::StringRef data,
                                      const Parameters &parameters = {});
  Booster(Booster &&other);
  Booster &operator=(Booster &&other);
  ~Booster();

  /// Adds round `round`, from 0.
  llvm::Error update(int round, const BoosterMatrix &matrix);
  /// One value a row; an error for rows of another length than those that it
  /// was trained on.
  llvm::Expected<std::vector<float>> predict(llvm::ArrayRef<float> rows,
                                             size_t numColumns) const;
  /// The model in XGBoost's binary format (UBJSON).
  llvm::Expected<std::string> serialize() const;
  /// The first `numRounds` of it.
  llvm::Expected<Booster> slice(int numRounds) const;

  size_t getNumColumns() const { return numColumns; }
  int getNumRounds() const { return numRounds; }

private:
  Booster() = default;
  llvm::Error setParameters(const Parameters &parameters);
  llvm::Error readSizes();

  const XGBoostAPI *api = nullptr;
  void *handle = nullptr;
  size_t numColumns = 0;
  int numRounds = 0;
};

/// Parameters for learning from the few dozen candidates that a search has
/// measured.
Booster::Parameters getOnlineParameters(int maxDepth, double learningRate,
                                        uint64_t seed);

/// Relevance of a candidate in [0, 31]: its score relative to the best of its
/// workload; 0 for a failure. The root spreads the many slow candidates, which
/// teach as much as the few fast ones. `best` is 0 where all failed.
float computeRelevance(bool isOk, double score, double best);

} // namespace cwm

#endif // CWM_MODEL_BOOSTER_H
