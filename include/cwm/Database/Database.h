//===- Database.h - The record store ----------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_DATABASE_DATABASE_H
#define CWM_DATABASE_DATABASE_H

#include "cwm/Runner/TrialResult.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cwm {

/// What is stored of a trial. (workload, target, toolchain, candidate) is
/// unique.
struct Record {
  int64_t id = 0;         ///< assigned by the database, increasing
  std::string workload;   ///< Payload::getWorkloadHash
  std::string target;     ///< HardwareDescription::getTargetKey
  std::string toolchain;  ///< getToolchainVersion()
  std::string candidate;  ///< getCandidateId, see Search/Search.h
  std::string provenance; ///< "baseline", "default", "random", "model", ...
  std::vector<std::string> actions; ///< action texts
  std::vector<float> features;      ///< phi, see Model/Features.h
  std::vector<float> hardware;      ///< h
  double predicted = 0;             ///< the scorer's value when it was picked
  int64_t round = 0;                ///< round of the search
  std::string createdAt;            ///< UTC, ISO 8601
  TrialResult result;
};

/// "cwm 0.1.0 / LLVM 22.1.8": part of every key.
std::string getToolchainVersion();

/// SQLite in WAL mode. Every insert is committed before it returns, so that
/// kill -9 loses nothing that was inserted. One live writer at a time.
class Database {
public:
  /// Opens or creates `path`. Errors (one line each): held by a live run (with
  /// its process id), not a database or corrupt, schema newer than this build.
  static llvm::Expected<std::unique_ptr<Database>> open(llvm::StringRef path);
  /// Opens what is there to read it only: without the lock, so that several
  /// processes can, also beside one that writes. Errors as above, and where
  /// there is no file.
  static llvm::Expected<std::unique_ptr<Database>>
  openToRead(llvm::StringRef path);
  ~Database();

  /// As it was opened, for messages.
  llvm::StringRef getPath() const;

  /// Checks, before anything is made beside it, that open() may take `path`:
  /// there is no such file, or a regular one with the header of a database of
  /// ours. An empty file passes only with the lock of a killed run beside it;
  /// any other may be somebody's.
  static llvm::Error checkFile(llvm::StringRef path);

  /// Stores `record` and sets its id; an empty toolchain becomes this one, an
  /// empty time now. Numbers and texts are normalised, see RecordJSON.h. A
  /// second record of the same key is refused with an error: nothing is
  /// measured twice.
  llvm::Error insert(Record &record);

  /// Records of one workload on one target with this toolchain, by id.
  llvm::Expected<std::vector<Record>> getRecords(llvm::StringRef workload,
                                                 llvm::StringRef target);
  /// Records of all other workloads on `target` with this toolchain and
  /// id <= maxId (what a ranker may learn from before the run starts).
  llvm::Expected<std::vector<Record>> getOtherRecords(llvm::StringRef workload,
                                                      llvm::StringRef target,
                                                      int64_t maxId);
  /// Everything, by id, also of other toolchains and targets.
  llvm::Expected<std::vector<Record>> getAllRecords();
  /// Largest id, 0 when empty.
  llvm::Expected<int64_t> getMaxId();
  /// How many records of `workload` were made by another toolchain or on
  /// another target: they are not used, and the user is told.
  llvm::Expected<int64_t> countForeign(llvm::StringRef workload,
                                       llvm::StringRef target);

  /// A small key-value store for run state ("run.<hash>.snapshot", ...).
  llvm::Error setValue(llvm::StringRef key, llvm::StringRef value);
  llvm::Expected<std::string> getValue(llvm::StringRef key); ///< "" if absent

  /// JSON Lines, one record a line, lossless; import skips records whose key
  /// is present and returns how many it added; a malformed line is an error
  /// that names the line, and nothing is imported. "-" is stdout or stdin.
  llvm::Error exportJSONL(llvm::StringRef path);
  llvm::Expected<int64_t> importJSONL(llvm::StringRef path);

  /// Whether what was stored can be found again: an error when the file was
  /// removed, moved or replaced since it was opened.
  llvm::Error checkInPlace() const;

private:
  friend class TrajectoryStore;
  Database();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace cwm

#endif // CWM_DATABASE_DATABASE_H
