//===- Workloads.h - Which workloads training may see -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_DATASET_WORKLOADS_H
#define CWM_DATASET_WORKLOADS_H

#include "cwm/Database/TrajectoryStore.h"

#include "llvm/ADT/StringMap.h"

#include <map>

namespace cwm {

/// A workload that occurs in the networks of the benchmarks.
struct KnownWorkload {
  std::string hash, family, shape;
  /// How often each network calls it.
  std::map<std::string, int64_t> networks;
  /// Payload files, relative to benchmarks/payloads.
  std::vector<std::string> files;
};

/// benchmarks/workloads.json: hashes of all workloads that the benchmarks have,
/// the networks they belong to, and which networks are held out of training.
/// benchmarks/workloads.py makes it.
class WorkloadTable {
public:
  /// Errors name the file and what is wrong in it.
  static llvm::Expected<WorkloadTable> load(llvm::StringRef path);
  static llvm::Expected<WorkloadTable> parse(llvm::StringRef text,
                                             llvm::StringRef path);

  /// `CWM_WORKLOADS` in the environment, else relative to the running
  /// executable: of the build tree or the installation.
  static std::string getDefaultPath();

  /// Null for a workload of no network.
  const KnownWorkload *find(llvm::StringRef hash) const;
  llvm::ArrayRef<KnownWorkload> getWorkloads() const { return workloads; }
  /// Networks that no training stage sees.
  llvm::ArrayRef<std::string> getHeldOutNetworks() const { return heldOut; }
  std::vector<std::string> getNetworks() const;

private:
  std::vector<KnownWorkload> workloads;
  std::vector<std::string> heldOut;
  llvm::StringMap<size_t> byHash;
};

struct SplitOptions {
  /// Networks left out besides those that are always held out: of the eight
  /// representative subgraphs of other networks, say.
  std::vector<std::string> networks;
  /// Operator families that are left out (see getOperatorFamilies).
  std::vector<std::string> families;
  /// One of so many shapes is left out, by hash of the shape key; 0: none.
  unsigned shapesOneIn = 0;
};

/// Decides what training may see, by canonical hash. Every stage reads its data
/// through one of these (Dataset::load); none can see a workload of a network
/// that is held out.
class Split {
public:
  /// Fails on names that do not exist.
  static llvm::Expected<Split> create(const WorkloadTable &table,
                                      const SplitOptions &options);

  /// True for what training must not see.
  bool isHeldOut(const WorkloadInfo &workload) const;
  /// By the network alone: what is held out whatever the options are.
  bool isInHeldOutNetwork(llvm::StringRef hash) const;

private:
  Split(const WorkloadTable &table, SplitOptions options)
      : table(table), options(std::move(options)) {}

  WorkloadTable table;
  SplitOptions options;
};

} // namespace cwm

#endif // CWM_DATASET_WORKLOADS_H
