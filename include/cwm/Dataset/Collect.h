//===- Collect.h - Samples, records and measures candidates -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_DATASET_COLLECT_H
#define CWM_DATASET_COLLECT_H

#include "cwm/Database/TrajectoryStore.h"
#include "cwm/Dataset/Workloads.h"
#include "cwm/Runner/CreateMeasurer.h"
#include "cwm/Support/Interrupt.h"

#include "llvm/ADT/StringMap.h"

#include <functional>

namespace cwm {

/// How many of the samples of a payload are measured: the first so many of the
/// sequence.
struct MeasureShare {
  /// A number of candidates, or, below 1, a share of the samples.
  double value = 0;
  int64_t getCount(int64_t samples) const;
  /// "0.25", "25%", "16".
  static llvm::Expected<MeasureShare> parse(llvm::StringRef text);
};

struct CollectOptions {
  std::string target = "cpu";
  int64_t threads = 1; ///< of the kernels
  int64_t samples = 100;
  MeasureShare measure;
  uint64_t seed = 0;
  int64_t jobs = 0; ///< workers that record and compile; 0: by the cores
  /// Folder for what workers need; what is in it is of no use afterwards.
  std::string workDir;
  /// Where a pool file of each workload goes that was measured; empty: none.
  std::string poolDir;
  /// Measurer and replay are those of the tests; `pool` is filled here.
  MeasurerOptions measurer;
};

/// Tells how far it is, for a progress line.
struct CollectProgress {
  size_t payload = 0, numPayloads = 0;
  std::string file;
  int64_t recorded = 0, samples = 0, measured = 0, toMeasure = 0;
  /// Of this run, over all payloads.
  int64_t failures = 0;
  double seconds = 0;
};

/// "[3/600] conv2d-003.mlir: 64/100 recorded, 12/25 measured, 3 failed, 812 s".
std::string formatProgress(const CollectProgress &progress);

/// What a run did.
struct CollectSummary {
  /// Payloads that are complete: now, or before this run.
  size_t complete = 0, completeBefore = 0;
  /// Payloads that were refused or cannot be measured, with the reason.
  std::vector<std::pair<std::string, std::string>> refused;
  int64_t recorded = 0, measured = 0;
  llvm::StringMap<int64_t> recordedByStatus, measuredByStatus;
  double recordSeconds = 0, measureSeconds = 0, seconds = 0;
  bool interrupted = false;
};

/// Collects trajectories of payloads into a database: for each payload a
/// sequence of random candidates of all sketches that fit, which depends on the
/// payload, the seed and the schedules alone, not on the order of payloads. All
/// are recorded, the first ones measured; failures are kept with their class.
/// Nothing that a candidate does happens in this process. What is stored is
/// committed piece by piece: after a kill at any time the same call goes on
/// where it was, and a later one with more samples continues the sequence.
class Collector {
public:
  Collector(Database &database, const WorkloadTable &table,
            const HardwareDescription &hardware, const CollectOptions &options,
            InterruptScope &interrupts)
      : database(database), table(table), hardware(hardware), options(options),
        interrupts(interrupts) {}

  /// Called with every change; may be null.
  std::function<void(const CollectProgress &)> onProgress;
  /// Receives what the user should know, a line each; may be null.
  std::function<void(llvm::StringRef)> onNote;

  /// Fails when the database, the workers or the disk do; a payload that is
  /// refused is in the summary.
  llvm::Expected<CollectSummary> run(llvm::ArrayRef<std::string> files);

private:
  struct Job;
  llvm::Error collect(llvm::StringRef file, llvm::StringRef schedulesHash);
  llvm::Error record(Job &job);
  llvm::Error measure(Job &job);
  llvm::Error writePool(Job &job);
  void refuse(llvm::StringRef file, std::string reason);
  void report();

  Database &database;
  const WorkloadTable &table;
  const HardwareDescription &hardware;
  const CollectOptions &options;
  InterruptScope &interrupts;
  CollectSummary summary;
  CollectProgress progress;
  std::function<double()> getSeconds;
  llvm::StringMap<std::string> fileOfWorkload;
};

/// The files that arguments mean: files, folders (their *.mlir) and patterns
/// with * and ?, each sorted. Fails on an argument that means none.
llvm::Expected<std::vector<std::string>>
findPayloadFiles(llvm::ArrayRef<std::string> arguments);

/// One line of JSON for each payload: hash, function, family, shape, flops,
/// bytes, length of the state text, networks, whether training may see it, the
/// spaces that fit; of a payload that is refused, the reason.
llvm::json::Value describePayload(llvm::StringRef file,
                                  const WorkloadTable &table,
                                  const HardwareDescription &hardware,
                                  llvm::StringRef target, int64_t threads);

} // namespace cwm

#endif // CWM_DATASET_COLLECT_H
