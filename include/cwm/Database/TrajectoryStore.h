//===- TrajectoryStore.h - Recorded trajectories in a database --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_DATABASE_TRAJECTORYSTORE_H
#define CWM_DATABASE_TRAJECTORYSTORE_H

#include "cwm/Database/Database.h"
#include "cwm/Trajectory/History.h"

#include "llvm/ADT/StringSet.h"

namespace cwm {

/// What is stored of a workload.
struct WorkloadInfo {
  std::string hash; ///< Payload::getWorkloadHash
  std::string file; ///< where it was first read
  std::string function;
  std::string family, shape; ///< see Dataset/Family.h
  double flops = 0, bytes = 0;
};

/// One recorded candidate. (workload, toolchain, candidate) is unique: what a
/// script does to a payload does not depend on where the code is to run.
struct StoredTrajectory {
  std::string workload, candidate;
  std::string toolchain; ///< empty becomes this one
  /// Ok, or why it could not be recorded, with the reason; then there is no
  /// history.
  TrialStatus status = TrialStatus::Ok;
  std::string reason;
  int64_t place = 0; ///< in the sequence of samples
  double milliseconds = 0;
  History history;
};

/// A trajectory as numbers: of actions and states in the store.
struct TrajectoryRow {
  int64_t id = 0;
  std::string workload, candidate, toolchain;
  TrialStatus status = TrialStatus::Ok;
  std::string reason;
  int64_t place = 0;
  double milliseconds = 0;
  struct Entry {
    int64_t action = 0; ///< 0 for the first: the payload itself
    int64_t state = 0;  ///< 0 where none is kept
  };
  std::vector<Entry> entries;
};

/// States are stored once, by hash, in chunks: what one call of add() brings is
/// compressed together with zstd, since a state is mostly the one before it.
class TrajectoryStore {
public:
  explicit TrajectoryStore(Database &database) : database(database) {}

  /// Does nothing where the workload is present.
  llvm::Error addWorkload(const WorkloadInfo &workload);
  /// All of them, or none where it fails; those that are present are left as
  /// they are. Committed before it returns.
  llvm::Error add(llvm::ArrayRef<StoredTrajectory> trajectories);

  llvm::Expected<std::vector<WorkloadInfo>> getWorkloads();
  /// Candidates of `workload` that this toolchain recorded, with or without
  /// success.
  llvm::Expected<llvm::StringSet<>> getCandidates(llvm::StringRef workload);

  /// All trajectories in the order of their ids, or those of one workload.
  llvm::Error
  visitTrajectories(llvm::StringRef workload,
                    llvm::function_ref<llvm::Error(TrajectoryRow)> visit);
  /// Texts of actions by number, [0] unused.
  llvm::Expected<std::vector<std::string>> getActions();

  struct StateInfo {
    int64_t id = 0;
    std::string hash;
    int64_t bytes = 0;
  };
  llvm::Expected<std::vector<StateInfo>> getStates();
  /// Calls `visit` with each state and its text, chunk by chunk. Damaged data
  /// is an error that names the file.
  llvm::Error visitStateTexts(
      llvm::function_ref<llvm::Error(int64_t id, llvm::StringRef text)> visit);
  /// The text of one state.
  llvm::Expected<std::string> getStateText(int64_t id);

  struct Counts {
    int64_t workloads = 0, trajectories = 0, states = 0, actions = 0;
    /// Of all state texts, and as they are stored.
    int64_t textBytes = 0, storedBytes = 0;
  };
  llvm::Expected<Counts> getCounts();

private:
  struct Batch;
  llvm::Error addAll(llvm::ArrayRef<StoredTrajectory> trajectories);
  llvm::Error addSteps(int64_t trajectory, const History &history,
                       Batch &batch);
  llvm::Expected<std::string> readChunk(int64_t chunk);

  Database &database;
};

} // namespace cwm

#endif // CWM_DATABASE_TRAJECTORYSTORE_H
