//===- TestUtils.h - What the database tests share --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_UNITTESTS_DATABASE_TESTUTILS_H
#define CWM_UNITTESTS_DATABASE_TESTUTILS_H

#include "../Support/SupportTestUtils.h"

#include "cwm/Database/Database.h"

#include <sqlite3.h>

namespace cwm::test {

/// A folder of its own for each test.
class DatabaseTest : public FolderTest {};

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

/// Runs statements on a file that no database of ours has open.
inline void runSQL(llvm::StringRef path, const char *statements) {
  sqlite3 *handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.str().c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle, statements, nullptr, nullptr, nullptr),
            SQLITE_OK)
      << sqlite3_errmsg(handle);
  sqlite3_close(handle);
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
