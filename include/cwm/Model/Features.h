//===- Features.h - phi: a candidate's actions as numbers -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_FEATURES_H
#define CWM_MODEL_FEATURES_H

#include "cwm/Trajectory/ActionText.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace cwm {

/// Length of phi. docs/Features.md lists it field by field; a change of the
/// layout changes `featureVersion`.
constexpr size_t numFeatures = 256;
constexpr int featureVersion = 1;

/// What phi needs to know of a payload, computed once a workload.
class WorkloadFeatures {
public:
  /// Reads the extents of tensor types and the names of linalg ops.
  explicit WorkloadFeatures(llvm::StringRef stateText);

  /// Distinct extents above 1, ascending.
  llvm::ArrayRef<int64_t> getExtents() const { return extents; }
  /// Elements of the largest tensor.
  double getMaxElements() const { return maxElements; }
  /// The workload's own part of phi.
  llvm::ArrayRef<float> getValues() const { return values; }

private:
  std::vector<int64_t> extents;
  double maxElements = 1;
  std::array<float, 16> values = {};
};

/// phi of the candidates of one workload: numFeatures values, the same on every
/// machine. Works on the text of actions and so for any schedule. Candidates
/// share most of their actions: each is read once.
class FeatureTable {
public:
  explicit FeatureTable(WorkloadFeatures workload);
  ~FeatureTable();
  FeatureTable(FeatureTable &&) = default;

  std::vector<float> compute(llvm::ArrayRef<const Action *> candidate);

  /// An action, read.
  struct Parsed;

private:
  const Parsed &parse(const Action &action);

  WorkloadFeatures workload;
  llvm::StringMap<std::unique_ptr<Parsed>> actions; ///< by text
  llvm::StringMap<unsigned> names;
};

/// The same for one candidate.
std::vector<float> computeFeatures(llvm::ArrayRef<Action> actions,
                                   const WorkloadFeatures &workload);

} // namespace cwm

#endif // CWM_MODEL_FEATURES_H
