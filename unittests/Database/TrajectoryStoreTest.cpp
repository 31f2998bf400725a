//===- TrajectoryStoreTest.cpp - Trajectories in a database -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Database/TrajectoryStore.h"

#include "TestUtils.h"

#include "gmock/gmock.h"

using namespace cwm;
using namespace cwm::test;
using ::testing::HasSubstr;

namespace {

/// s0, tile, s1, vectorize, (no state).
StoredTrajectory makeTrajectory(llvm::StringRef workload,
                                llvm::StringRef candidate) {
  StoredTrajectory trajectory;
  trajectory.workload = workload.str();
  trajectory.candidate = candidate.str();
  trajectory.place = 7;
  trajectory.milliseconds = 2.5;
  trajectory.history.states = {{"hash-s0", "module s0"},
                               {"hash-s1", "module s1 tiled"}};
  trajectory.history.entries = {{"tile sizes=[4]", 1}, {"vectorize", {}}};
  return trajectory;
}

std::vector<TrajectoryRow> readAll(TrajectoryStore &store,
                                   llvm::StringRef workload = "") {
  std::vector<TrajectoryRow> rows;
  llvm::cantFail(store.visitTrajectories(workload, [&](TrajectoryRow row) {
    rows.push_back(std::move(row));
    return llvm::Error::success();
  }));
  return rows;
}

class TrajectoryStoreTest : public DatabaseTest {};

TEST_F(TrajectoryStoreTest, RoundTrip) {
  {
    std::unique_ptr<Database> database = openOrDie(at("t.db"));
    TrajectoryStore store(*database);
    ASSERT_FALSE(store.add({makeTrajectory("w", "a"), makeTrajectory("w", "b"),
                            makeTrajectory("v", "a")}));
  }
  std::unique_ptr<Database> database = openOrDie(at("t.db"));
  TrajectoryStore store(*database);
  std::vector<TrajectoryRow> rows = readAll(store);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(readAll(store, "v").size(), 1U);
  std::vector<std::string> actions = llvm::cantFail(store.getActions());
  for (const TrajectoryRow &row : rows) {
    EXPECT_EQ(row.place, 7);
    EXPECT_EQ(row.milliseconds, 2.5);
    EXPECT_EQ(row.toolchain, getToolchainVersion());
    ASSERT_EQ(row.entries.size(), 3U);
    EXPECT_EQ(row.entries[0].action, 0);
    EXPECT_EQ(actions[row.entries[1].action], "tile sizes=[4]");
    EXPECT_EQ(actions[row.entries[2].action], "vectorize");
    EXPECT_EQ(llvm::cantFail(store.getStateText(row.entries[0].state)),
              "module s0");
    EXPECT_EQ(llvm::cantFail(store.getStateText(row.entries[1].state)),
              "module s1 tiled");
    EXPECT_EQ(row.entries[2].state, 0);
  }
  // Each state and action is there once.
  TrajectoryStore::Counts counts = llvm::cantFail(store.getCounts());
  EXPECT_EQ(counts.states, 2);
  EXPECT_EQ(counts.actions, 2);
  EXPECT_EQ(counts.textBytes, 24);
}

TEST_F(TrajectoryStoreTest, NothingTwice) {
  std::unique_ptr<Database> database = openOrDie(at("t.db"));
  TrajectoryStore store(*database);
  ASSERT_FALSE(store.add({makeTrajectory("w", "a")}));
  StoredTrajectory again = makeTrajectory("w", "a");
  again.history.entries.clear();
  ASSERT_FALSE(store.add({again, makeTrajectory("w", "b")}));
  std::vector<TrajectoryRow> rows = readAll(store);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].entries.size(), 3U);
  EXPECT_EQ(llvm::cantFail(store.getCounts()).states, 2);
  llvm::StringSet<> candidates = llvm::cantFail(store.getCandidates("w"));
  EXPECT_EQ(candidates.size(), 2U);
  EXPECT_TRUE(candidates.contains("a"));
}

TEST_F(TrajectoryStoreTest, FailuresAreKept) {
  std::unique_ptr<Database> database = openOrDie(at("t.db"));
  TrajectoryStore store(*database);
  StoredTrajectory failed;
  failed.workload = "w";
  failed.candidate = "a";
  failed.status = TrialStatus::TransformError;
  failed.reason = "no match";
  StoredTrajectory good = makeTrajectory("w", "b");
  ASSERT_FALSE(store.add({failed, good}));
  std::vector<TrajectoryRow> rows = readAll(store);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].status, TrialStatus::TransformError);
  EXPECT_EQ(rows[0].reason, "no match");
  EXPECT_TRUE(rows[0].entries.empty());
  EXPECT_EQ(rows[1].entries.size(), 3U);
}

TEST_F(TrajectoryStoreTest, Workloads) {
  std::unique_ptr<Database> database = openOrDie(at("t.db"));
  TrajectoryStore store(*database);
  WorkloadInfo info{"h", "f.mlir", "kernel", "matmul", "4x5x6", 240, 100};
  ASSERT_FALSE(store.addWorkload(info));
  info.file = "other.mlir";
  ASSERT_FALSE(store.addWorkload(info));
  std::vector<WorkloadInfo> read = llvm::cantFail(store.getWorkloads());
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].file, "f.mlir");
  EXPECT_EQ(read[0].family, "matmul");
  EXPECT_EQ(read[0].shape, "4x5x6");
  EXPECT_EQ(read[0].flops, 240);
}

/// The tables of version 1, as cwm 0.1.0 wrote them.
constexpr char versionOne[] = R"sql(
CREATE TABLE record(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  workload TEXT NOT NULL, target TEXT NOT NULL,
  toolchain TEXT NOT NULL, candidate TEXT NOT NULL,
  status TEXT NOT NULL, score REAL NOT NULL, time_ns REAL NOT NULL,
  provenance TEXT NOT NULL, round INTEGER NOT NULL, predicted REAL NOT NULL,
  created_at TEXT NOT NULL, actions TEXT NOT NULL, features BLOB NOT NULL,
  hardware BLOB NOT NULL, result TEXT NOT NULL,
  UNIQUE(workload, target, toolchain, candidate));
CREATE TABLE value(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO record VALUES(5, 'w', 't', 'old', 'c', 'ok', 2.0, 3.0, 'random',
  0, 0.0, '2026-01-01T00:00:00Z', '["tile"]', x'0000803f', x'',
  '{"status":"ok","score":2.0,"time_ns":3.0}');
INSERT INTO value VALUES('key', 'kept');
PRAGMA application_id=1668771121;
PRAGMA user_version=1;
)sql";

TEST_F(TrajectoryStoreTest, DatabasesOfVersionOneAreUpgraded) {
  std::string path = at("old.db");
  runSQL(path, versionOne);
  {
    std::unique_ptr<Database> database = openOrDie(path);
    std::vector<Record> records = llvm::cantFail(database->getAllRecords());
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].candidate, "c");
    EXPECT_EQ(records[0].result.timeNs, 3);
    EXPECT_EQ(llvm::cantFail(database->getValue("key")), "kept");
    TrajectoryStore store(*database);
    EXPECT_TRUE(readAll(store).empty());
    ASSERT_FALSE(store.add({makeTrajectory("w", "a")}));
    Record record = makeRecord("w", "new");
    ASSERT_FALSE(database->insert(record));
    EXPECT_EQ(record.id, 6);
  }
  // The second time there is nothing to upgrade.
  std::unique_ptr<Database> database = openOrDie(path);
  TrajectoryStore store(*database);
  EXPECT_EQ(readAll(store).size(), 1U);
}

TEST_F(TrajectoryStoreTest, UnknownVersion) {
  std::string path = at("old.db");
  runSQL(path, versionOne);
  runSQL(path, "PRAGMA user_version=-3");
  EXPECT_EQ(getOpenError(path),
            "'" + path + "' has the unknown schema version -3");
}

/// What readers say of a database after `damage`.
class DamageTest : public TrajectoryStoreTest {
protected:
  std::string readDamaged(const char *damage) {
    std::string path = at("t.db");
    {
      std::unique_ptr<Database> database = openOrDie(path);
      TrajectoryStore store(*database);
      llvm::cantFail(store.add({makeTrajectory("w", "a")}));
    }
    runSQL(path, damage);
    std::unique_ptr<Database> database = openOrDie(path);
    TrajectoryStore store(*database);
    llvm::Error error = store.visitStateTexts(
        [](int64_t, llvm::StringRef) { return llvm::Error::success(); });
    error = llvm::joinErrors(std::move(error), store.getActions().takeError());
    error = llvm::joinErrors(std::move(error),
                             store.visitTrajectories("", [](TrajectoryRow) {
                               return llvm::Error::success();
                             }));
    return llvm::toString(std::move(error));
  }
};

TEST_F(DamageTest, Chunk) {
  EXPECT_THAT(readDamaged("UPDATE chunk SET data=zeroblob(40)"),
              HasSubstr("is corrupt: chunk 1: not valid Zstandard data"));
}
TEST_F(DamageTest, ChunkOfAnotherSize) {
  EXPECT_THAT(readDamaged("UPDATE chunk SET size=5"),
              HasSubstr("is corrupt: chunk 1 has another size"));
}
TEST_F(DamageTest, ChunkIsGone) {
  EXPECT_THAT(readDamaged("DELETE FROM chunk"),
              HasSubstr("is corrupt: chunk 1 is missing"));
}
TEST_F(DamageTest, StateOutside) {
  EXPECT_THAT(readDamaged("UPDATE state SET start=9223372036854775807 "
                          "WHERE id=2"),
              HasSubstr("is corrupt: state 2 lies outside of its chunk"));
}
TEST_F(DamageTest, ActionIsGone) {
  EXPECT_THAT(readDamaged("DELETE FROM action WHERE id=1"),
              HasSubstr("is corrupt: action 1 is missing"));
}
TEST_F(DamageTest, StepIsGone) {
  EXPECT_THAT(readDamaged("DELETE FROM step WHERE place=1"),
              HasSubstr("is corrupt: step 1 of trajectory 1 is missing"));
}
TEST_F(DamageTest, UnknownStatus) {
  EXPECT_THAT(readDamaged("UPDATE trajectory SET status='good'"),
              HasSubstr("trajectory 1 has the unknown status 'good'"));
}

} // namespace
