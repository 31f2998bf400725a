//===- DatabaseTest.cpp - Tests of the record store -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include "cwm/Database/RecordJSON.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <sys/stat.h>

using namespace llvm;
using namespace cwm;
using namespace cwm::test;

namespace {
using DatabaseTest = cwm::test::DatabaseTest;

/// Everything but the id, as text.
std::string print(const Record &record) {
  return formatv("{0}", toJSON(record));
}

TEST_F(DatabaseTest, ReadersNeedNoLock) {
  EXPECT_EQ(llvm::toString(Database::openToRead(at("a.db")).takeError()),
            "there is no database '" + at("a.db") + "'");
  EXPECT_FALSE(llvm::sys::fs::exists(at("a.db")));
  std::unique_ptr<Database> writer = openOrDie(at("a.db"));
  Record record = makeRecord("w", "c");
  llvm::cantFail(writer->insert(record));
  std::unique_ptr<Database> first =
      llvm::cantFail(Database::openToRead(at("a.db")));
  std::unique_ptr<Database> second =
      llvm::cantFail(Database::openToRead(at("a.db")));
  record = makeRecord("w", "d");
  llvm::cantFail(writer->insert(record));
  for (Database *reader : {first.get(), second.get()})
    EXPECT_EQ(llvm::cantFail(reader->getRecords("w", "cpu:test")).size(), 2U);
  writer.reset();
  EXPECT_EQ(llvm::cantFail(second->getRecords("w", "cpu:test")).size(), 2U);
  put("notes", "my notes");
  EXPECT_EQ(llvm::toString(Database::openToRead(at("notes")).takeError()),
            "'" + at("notes") + "' is not a cwm database");
}

TEST_F(DatabaseTest, RecordsWithDeepJSONAreErrors) {
  for (const char *column : {"actions", "result"}) {
    std::string path = at(std::string(column) + ".db");
    Record record = makeRecord("w", "c");
    ASSERT_FALSE(bool(openOrDie(path)->insert(record)));
    runSQL(path, (std::string("UPDATE record SET ") + column + "='" +
                  std::string(1000000, '[') + "'")
                     .c_str());
    std::string message =
        toString(openOrDie(path)->getAllRecords().takeError());
    EXPECT_NE(message.find("record 1: [1:257, byte=256]: nested deeper than"),
              std::string::npos)
        << message;
  }
}

TEST_F(DatabaseTest, KnowsThatItsFileIsGone) {
  std::string path = at("records.db"), moved = at("moved.db");
  std::unique_ptr<Database> database = openOrDie(path);
  EXPECT_FALSE(bool(database->checkInPlace()));
  ASSERT_EQ(::rename(path.c_str(), moved.c_str()), 0);
  std::string words = "'" + path + "' was removed, moved or replaced";
  EXPECT_TRUE(StringRef(toString(database->checkInPlace())).starts_with(words));
  write(path, "");
  EXPECT_TRUE(StringRef(toString(database->checkInPlace())).starts_with(words));
  // Stored and moved back: all is there.
  Record record = makeRecord("w", "c");
  EXPECT_FALSE(bool(database->insert(record)));
  ASSERT_EQ(::rename(moved.c_str(), path.c_str()), 0);
  EXPECT_FALSE(bool(database->checkInPlace()));
}

TEST_F(DatabaseTest, NamesOfAnyLengthOpenOrSayWhyNot) {
  // Around the longest that SQLite takes, and far beyond.
  std::string parent = at("x");
  ASSERT_FALSE(sys::fs::create_directory(parent));
  while (parent.size() < 470) {
    parent +=
        "/" + std::string(std::min<size_t>(200, 470 - parent.size()), 'x');
    ASSERT_FALSE(sys::fs::create_directory(parent));
  }
  unsigned numOpened = 0, numRefused = 0;
  for (size_t length = 1; length < 100; length += 7) {
    Expected<std::unique_ptr<Database>> database =
        Database::open(parent + "/" + std::string(length, 'y'));
    std::string message = toString(database.takeError());
    ++(message.empty() ? numOpened : numRefused);
    EXPECT_TRUE(message.empty() ||
                StringRef(message).contains(" that SQLite takes"))
        << message;
  }
  EXPECT_GT(numOpened, 0u);
  EXPECT_GT(numRefused, 0u);
}

TEST_F(DatabaseTest, RecordsSurviveReopening) {
  std::string path = at("records.db");
  Record first = makeRecord("w", "a"), second = makeRecord("w", "b");
  second.result = TrialResult();
  second.result.status = TrialStatus::Crash;
  second.result.reason = "worker died: SIGSEGV";
  second.result.reproducer = "cwm-runner --once x.mlir";
  {
    std::unique_ptr<Database> database = openOrDie(path);
    ASSERT_FALSE(database->insert(first));
    ASSERT_FALSE(database->insert(second));
  }
  EXPECT_LT(first.id, second.id);
  EXPECT_EQ(first.toolchain, getToolchainVersion());
  EXPECT_FALSE(first.createdAt.empty());

  std::unique_ptr<Database> database = openOrDie(path);
  std::vector<Record> records = cantFail(database->getRecords("w", "cpu:test"));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].id, first.id);
  EXPECT_EQ(print(records[0]), print(first));
  EXPECT_EQ(print(records[1]), print(second));
  EXPECT_EQ(records[0].result.score, 1.0 / 3);
  EXPECT_EQ(records[0].features, first.features);
  EXPECT_EQ(cantFail(database->getMaxId()), second.id);
}

TEST_F(DatabaseTest, RefusesASecondRecordOfOneKey) {
  std::unique_ptr<Database> database = openOrDie(at("records.db"));
  Record record = makeRecord("w", "a"), again = makeRecord("w", "a");
  again.result.score = 7;
  ASSERT_FALSE(database->insert(record));
  std::string message = toString(database->insert(again));
  EXPECT_NE(message.find("candidate 'a' is already in"), std::string::npos)
      << message;
  std::vector<Record> records = cantFail(database->getRecords("w", "cpu:test"));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].result.score, 1.0 / 3);
  // The same candidate elsewhere is another record.
  Record elsewhere = makeRecord("w2", "a");
  EXPECT_FALSE(database->insert(elsewhere));
}

TEST_F(DatabaseTest, KeepsWorkloadsTargetsAndToolchainsApart) {
  std::unique_ptr<Database> database = openOrDie(at("records.db"));
  Record own = makeRecord("w", "a"), other = makeRecord("v", "a"),
         machine = makeRecord("w", "a"), version = makeRecord("w", "a"),
         late = makeRecord("v", "b");
  machine.target = "cpu:other";
  version.toolchain = "cwm 0.0.0 / LLVM 1";
  for (Record *record : {&own, &other, &machine, &version, &late})
    ASSERT_FALSE(database->insert(*record));

  std::vector<Record> records = cantFail(database->getRecords("w", "cpu:test"));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].id, own.id);
  std::vector<Record> others =
      cantFail(database->getOtherRecords("w", "cpu:test", other.id));
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others[0].id, other.id);
  EXPECT_EQ(
      cantFail(database->getOtherRecords("w", "cpu:test", late.id)).size(), 2u);
  EXPECT_EQ(cantFail(database->countForeign("w", "cpu:test")), 2);
  EXPECT_EQ(cantFail(database->countForeign("v", "cpu:test")), 0);
}

TEST_F(DatabaseTest, KeyValueStore) {
  std::string path = at("records.db");
  {
    std::unique_ptr<Database> database = openOrDie(path);
    EXPECT_EQ(cantFail(database->getValue("k")), "");
    ASSERT_FALSE(database->setValue("k", "1"));
    ASSERT_FALSE(database->setValue("k", "two\nlines"));
  }
  EXPECT_EQ(cantFail(openOrDie(path)->getValue("k")), "two\nlines");
}

TEST_F(DatabaseTest, OddContentIsNormalised) {
  std::unique_ptr<Database> database = openOrDie(at("records.db"));
  Record record = makeRecord("w", StringRef("nul\0byte", 8));
  record.result.reason = "broken \xff utf-8";
  record.result.maxError = std::nan("");
  record.result.scoreSpread = HUGE_VAL;
  record.features = {-0.0f, std::nanf("")};
  ASSERT_FALSE(database->insert(record));
  std::vector<Record> records = cantFail(database->getRecords("w", "cpu:test"));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(print(records[0]), print(record));
  EXPECT_EQ(records[0].candidate, StringRef("nul\0byte", 8));
  EXPECT_GT(records[0].result.maxError, 1e300);
  EXPECT_FALSE(std::signbit(records[0].features[0]));
}

TEST_F(DatabaseTest, NotADatabase) {
  std::string path = at("records.db");
  write(path, std::string(5000, 'x'));
  EXPECT_EQ(getOpenError(path), "'" + path + "' is not a cwm database");
}

TEST_F(DatabaseTest, DatabaseOfAnotherProgram) {
  std::string path = at("records.db");
  runSQL(path, "CREATE TABLE t(x)");
  EXPECT_EQ(getOpenError(path),
            "'" + path + "' is a database of another program");
}

TEST_F(DatabaseTest, NewerSchema) {
  std::string path = at("records.db");
  openOrDie(path);
  runSQL(path, "PRAGMA user_version=9");
  EXPECT_EQ(getOpenError(path),
            "'" + path +
                "' has schema version 9, newer than the version 2 that this "
                "build reads; use a newer cwm or another work directory");
}

TEST_F(DatabaseTest, CorruptFile) {
  std::string path = at("records.db");
  {
    std::unique_ptr<Database> database = openOrDie(path);
    for (int i = 0; i < 50; ++i) {
      Record record = makeRecord("w", "c" + std::to_string(i));
      ASSERT_FALSE(database->insert(record));
    }
  }
  // Pages in the middle; the header stays good.
  int fd = -1;
  ASSERT_FALSE(sys::fs::openFileForReadWrite(path, fd, sys::fs::CD_OpenExisting,
                                             sys::fs::OF_None));
  raw_fd_ostream out(fd, /*shouldClose=*/true);
  out.seek(8192);
  out << std::string(8192, '\x5a');
  out.close();
  EXPECT_NE(getOpenError(path).find("' is corrupt; move it away"),
            std::string::npos)
      << getOpenError(path);
}

TEST_F(DatabaseTest, PathsThatCannotBeOpened) {
  EXPECT_EQ(getOpenError(folder),
            ("cannot open '" + folder + "': it is a directory").str());
  std::string missing = at("missing/records.db");
  EXPECT_EQ(getOpenError(missing),
            "cannot write '" + missing + ".lock': No such file or directory");
  EXPECT_EQ(getOpenError("/dev/null"),
            "cannot open '/dev/null': it is not a regular file");
  std::string pipe = at("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(getOpenError(pipe),
            "cannot open '" + pipe + "': it is not a regular file");
}

TEST_F(DatabaseTest, NothingIsLeftBesideAForeignFile) {
  std::string text = at("notes"), other = at("other"), empty = at("empty");
  write(text, "my notes");
  runSQL(other, "CREATE TABLE t(x)");
  write(empty, "");
  EXPECT_EQ(getOpenError(text), "'" + text + "' is not a cwm database");
  EXPECT_EQ(getOpenError(other),
            "'" + other + "' is a database of another program");
  EXPECT_EQ(getOpenError(empty),
            "'" + empty +
                "' is empty and not a cwm database: remove it, or give another "
                "--database");
  for (const std::string &path : {text, other, empty})
    for (const char *suffix : {".lock", "-wal", "-shm", "-journal"})
      EXPECT_FALSE(sys::fs::exists(path + suffix)) << path << suffix;
}

// SQLite makes an empty file first; a run killed just then left its lock too.
TEST_F(DatabaseTest, EmptyFileOfAKilledRunIsTaken) {
  std::string path = at("records.db");
  write(path, "");
  write(path + ".lock", "12345\n");
  EXPECT_EQ(getOpenError(path), "no error");
}

TEST_F(DatabaseTest, ForeignLockFileIsKept) {
  // As of package managers.
  std::string path = at("Cargo");
  for (const char *content :
       {"[[package]]\n", "1.2.3\n", "123456789012345678901234567890123\n"}) {
    write(path + ".lock", content);
    EXPECT_EQ(getOpenError(path), "'" + path +
                                      ".lock' exists and is not a lock of cwm: "
                                      "give another --database");
    auto buffer = MemoryBuffer::getFile(path + ".lock");
    ASSERT_TRUE(static_cast<bool>(buffer));
    EXPECT_EQ((*buffer)->getBuffer(), content);
    EXPECT_FALSE(sys::fs::exists(path));
  }
}

TEST_F(DatabaseTest, NoNameIsSpecial) {
  SmallString<128> before;
  ASSERT_FALSE(sys::fs::current_path(before));
  ASSERT_FALSE(sys::fs::set_current_path(folder));
  EXPECT_EQ(getOpenError(":memory:"), "no error");
  EXPECT_TRUE(sys::fs::exists(":memory:"));
  ASSERT_FALSE(sys::fs::set_current_path(before));
}

} // namespace
