//===- TestUtils.h - What the database tests share --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_UNITTESTS_DATABASE_TESTUTILS_H
#define CWM_UNITTESTS_DATABASE_TESTUTILS_H

#include "cwm/Database/Database.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

namespace cwm::test {

/// A folder of its own for each test.
class DatabaseTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("cwm-db", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string getPath(llvm::StringRef name) const {
    llvm::SmallString<128> path = folder;
    llvm::sys::path::append(path, name);
    return path.str().str();
  }
  void writeFile(llvm::StringRef path, llvm::StringRef text) const {
    std::error_code error;
    llvm::raw_fd_ostream out(path, error);
    ASSERT_FALSE(error);
    out << text;
  }

  llvm::SmallString<128> folder;
};

inline Record makeRecord(llvm::StringRef workload, llvm::StringRef candidate) {
  Record record;
  record.workload = workload.str();
  record.target = "cpu:test";
  record.candidate = candidate.str();
  record.provenance = "random";
  record.actions = {"structured.tile_using_for sizes=[4, 8]"};
  record.features = {1.5f, 0.1f, 3e-39f};
  record.hardware = {512.0f};
  record.predicted = 0.1;
  record.round = 3;
  record.result.status = TrialStatus::Ok;
  record.result.score = 1.0 / 3;
  record.result.timeNs = 123456.789;
  return record;
}

inline std::unique_ptr<Database> openOrDie(llvm::StringRef path) {
  return llvm::cantFail(Database::open(path));
}

/// The message of a failed open.
inline std::string getOpenError(llvm::StringRef path) {
  llvm::Expected<std::unique_ptr<Database>> database = Database::open(path);
  if (database)
    return "no error";
  return llvm::toString(database.takeError());
}

} // namespace cwm::test

#endif // CWM_UNITTESTS_DATABASE_TESTUTILS_H
