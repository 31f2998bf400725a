//===- Dataset.h - What training and evaluation read ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_DATASET_DATASET_H
#define CWM_DATASET_DATASET_H

#include "cwm/Database/TrajectoryStore.h"
#include "cwm/Dataset/Workloads.h"

namespace cwm {

/// Which side of the split.
enum class DatasetPart { Training, HeldOut };

/// The trajectories of one side of a split, with actions and states as small
/// numbers: 0, 1, ... in the order of the store.
class Dataset {
public:
  /// A trajectory without its failures: s0, a1, s1, ..., aK. Actions are those
  /// in front of the lowering (see isLoweringAction).
  struct Trajectory {
    unsigned workload = 0;
    std::string candidate, toolchain;
    std::vector<uint32_t> actions;
    /// One more than actions; `noState` where none was kept.
    std::vector<uint32_t> states;
  };
  static constexpr uint32_t noState = ~0U;

  /// Errors: the database cannot be read, has no trajectory, or has none on
  /// this side of the split; one message each that names the file.
  static llvm::Expected<Dataset> load(Database &database, const Split &split,
                                      DatasetPart part);

  /// The part whose workloads `keep` names, with numbers of its own. It may
  /// have no trajectory.
  Dataset restrictTo(llvm::function_ref<bool(const WorkloadInfo &)> keep) const;

  llvm::ArrayRef<WorkloadInfo> getWorkloads() const { return workloads; }
  llvm::ArrayRef<Trajectory> getTrajectories() const { return trajectories; }
  /// Texts of actions.
  llvm::ArrayRef<std::string> getActions() const { return actions; }
  size_t getNumStates() const { return stateIds.size(); }
  llvm::StringRef getStateHash(uint32_t state) const {
    return stateHashes[state];
  }
  /// The workload in whose trajectories a state came first.
  unsigned getWorkloadOfState(uint32_t state) const {
    return stateWorkloads[state];
  }
  /// States of one workload, ascending.
  llvm::ArrayRef<uint32_t> getStatesOf(unsigned workload) const {
    return statesByWorkload[workload];
  }
  /// Texts of all states in the order of the store, which is not that of their
  /// numbers. Nothing is kept in memory.
  llvm::Error visitStateTexts(
      llvm::function_ref<llvm::Error(uint32_t state, llvm::StringRef text)>
          visit) const;

  /// Measured candidates of these workloads on `target` with this toolchain.
  llvm::Expected<std::vector<Record>> getRecords(llvm::StringRef target) const;

  /// Texts as JSON Lines for the encoder (docs/Training.md): a line for each
  /// state, then one for each action when `withActions`. Returns how many.
  llvm::Expected<size_t> writeTexts(llvm::raw_ostream &os,
                                    bool withActions) const;

private:
  explicit Dataset(Database &database) : database(&database) {}

  Database *database;
  std::vector<WorkloadInfo> workloads;
  std::vector<Trajectory> trajectories;
  std::vector<std::string> actions;
  /// Numbers in the store, and back.
  std::vector<int64_t> stateIds;
  llvm::DenseMap<int64_t, uint32_t> stateNumbers;
  std::vector<std::string> stateHashes;
  std::vector<unsigned> stateWorkloads;
  std::vector<std::vector<uint32_t>> statesByWorkload;
};

} // namespace cwm

#endif // CWM_DATASET_DATASET_H
