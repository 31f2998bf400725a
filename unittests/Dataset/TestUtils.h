//===- TestUtils.h - Small datasets -----------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_UNITTESTS_DATASET_TESTUTILS_H
#define CWM_UNITTESTS_DATASET_TESTUTILS_H

#include "../Database/TestUtils.h"

#include "cwm/Dataset/Dataset.h"

namespace cwm::test {

/// A hash of 32 times the same digit.
inline std::string hash(char digit) { return std::string(32, digit); }

/// 'a' belongs to the network that is held out, 'b' to it and another, 'c' to
/// the other only.
inline WorkloadTable makeTable() {
  return llvm::cantFail(WorkloadTable::parse(
      R"({"version": 1, "held_out": ["held"], "workloads": [
        {"hash": ")" +
          hash('a') + R"(", "family": "matmul", "shape": "1x2x3",
         "networks": {"held": 2}, "files": ["a.mlir"]},
        {"hash": ")" +
          hash('b') + R"(", "family": "matmul", "shape": "4x5x6",
         "networks": {"held": 1, "free": 3}, "files": []},
        {"hash": ")" +
          hash('c') + R"(", "family": "depthwise", "shape": "7x8",
         "networks": {"free": 1}, "files": []}]})",
      "table.json"));
}

inline Split makeSplit(SplitOptions options = {}) {
  return llvm::cantFail(Split::create(makeTable(), options));
}

/// The message of an error; "no error" without one.
inline std::string getMessage(llvm::Error error) {
  return error ? llvm::toString(std::move(error)) : "no error";
}

/// A database in a folder of its own.
class DatasetTest : public FolderTest {
protected:
  void SetUp() override {
    FolderTest::SetUp();
    database = llvm::cantFail(Database::open(at("t.db")));
  }

  void addWorkload(char digit, llvm::StringRef family = "matmul") {
    llvm::cantFail(TrajectoryStore(*database).addWorkload(
        {hash(digit), "file.mlir", "kernel", family.str(), "2x2", 1, 1}));
  }

  /// A trajectory whose states are called by `names`, "-" for one that is not
  /// kept; the action behind state X is "to X".
  void addTrajectory(char workload, llvm::StringRef candidate,
                     std::vector<std::string> names,
                     TrialStatus status = TrialStatus::Ok) {
    StoredTrajectory trajectory;
    trajectory.workload = hash(workload);
    trajectory.candidate = candidate.str();
    trajectory.status = status;
    for (const auto &[place, name] : llvm::enumerate(names)) {
      std::optional<unsigned> state;
      if (name != "-") {
        state = trajectory.history.states.size();
        trajectory.history.states.push_back({name, "text " + name});
      }
      if (place > 0)
        trajectory.history.entries.push_back({"to " + name, state});
    }
    llvm::cantFail(TrajectoryStore(*database).add(trajectory));
  }

  Dataset load(DatasetPart part = DatasetPart::Training,
               SplitOptions options = {}) {
    return llvm::cantFail(Dataset::load(*database, makeSplit(options), part));
  }

  std::unique_ptr<Database> database;
};

} // namespace cwm::test

#endif // CWM_UNITTESTS_DATASET_TESTUTILS_H
