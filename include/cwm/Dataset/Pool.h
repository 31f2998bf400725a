//===- Pool.h - Measured random candidates of one workload ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_DATASET_POOL_H
#define CWM_DATASET_POOL_H

#include "cwm/Dataset/Dataset.h"

namespace cwm {

/// Whose candidates a pool has, and where they were measured.
struct PoolHeader {
  WorkloadInfo workload;
  std::map<std::string, int64_t> networks;
  std::string target;    ///< HardwareDescription::getTargetKey
  std::string hardware;  ///< HardwareDescription::toJSON
  std::string toolchain; ///< getToolchainVersion()
  uint64_t seed = 0;
  /// Relative difference of scores below which two candidates are a tie.
  double noiseFloor = 0;
};

struct PoolCandidate {
  std::string candidate;
  TrialResult result;
  /// Numbers of actions, and of states: one more than actions, with
  /// Dataset::noState where none is kept. Of a candidate that could not be
  /// applied, the states are empty.
  std::vector<uint32_t> actions, states;
};

/// A fixed pool: random candidates that were all measured once, failures
/// included. Rankers and searches are simulated on it, so that all see the same
/// candidates and times.
struct Pool {
  PoolHeader header;
  std::vector<std::string> actions;
  std::vector<History::State> states;
  std::vector<PoolCandidate> candidates;
};

/// Gathers what `database` has of `candidates`; fails where one has no record.
llvm::Expected<Pool> makePool(Database &database, PoolHeader header,
                              llvm::ArrayRef<std::string> candidates);

/// JSON Lines: a line for the header, then one each for actions, states and
/// candidates (docs/Training.md).
std::string printPool(const Pool &pool);
/// Errors name the line.
llvm::Expected<Pool> parsePool(llvm::StringRef text);

/// `<folder>/<workload>.pool.zst`.
std::string getPoolFile(llvm::StringRef folder, const WorkloadInfo &workload);
/// Writes a pool, compressed; the folder is made where it is missing.
llvm::Error writePoolFile(const Pool &pool, llvm::StringRef folder);
/// Errors name the file.
llvm::Expected<Pool> readPoolFile(llvm::StringRef path);

} // namespace cwm

#endif // CWM_DATASET_POOL_H
