//===- Stats.h - What a database of trajectories has ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_DATASET_STATS_H
#define CWM_DATASET_STATS_H

#include "cwm/Dataset/Dataset.h"

namespace cwm {

/// Order statistics of some values; all 0 where there are none.
struct Spread {
  size_t count = 0;
  double min = 0, median = 0, p90 = 0, max = 0, mean = 0;
  static Spread of(std::vector<double> values);
};

struct WorkloadStats {
  WorkloadInfo info;
  bool heldOut = false;
  int64_t trajectories = 0, failedTrajectories = 0;
  int64_t measured = 0, failedMeasurements = 0;
  /// Nanoseconds of the valid ones; of several targets: the most frequent.
  Spread times;
};

struct DatasetStats {
  TrajectoryStore::Counts counts;
  std::vector<WorkloadStats> workloads; ///< by family, then hash
  /// By class.
  std::map<std::string, int64_t> trajectoriesByStatus, measurementsByStatus;
  /// Of trajectories that succeeded: actions, actions in front of the lowering,
  /// states that were kept, milliseconds.
  Spread actions, modelledActions, states, milliseconds;
  Spread stateBytes;
  /// Of distinct states, and of distinct actions; without a tokenizer empty.
  Spread stateTokens, actionTokens;
  int64_t targets = 0;
};

/// Reads a whole database. `countTokens` may be null. Fails where there is no
/// trajectory and no record.
llvm::Expected<DatasetStats>
gatherStats(Database &database, const Split &split,
            llvm::function_ref<size_t(llvm::StringRef)> countTokens);

/// For people; a line for each workload when `listWorkloads`.
std::string formatStats(const DatasetStats &stats, bool listWorkloads);
llvm::json::Value toJSON(const DatasetStats &stats);

} // namespace cwm

#endif // CWM_DATASET_STATS_H
