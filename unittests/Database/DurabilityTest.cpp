//===- DurabilityTest.cpp - Kills, locks and full disks ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include <csignal>
#include <random>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace cwm;
using namespace cwm::test;

namespace {
using DatabaseTest = cwm::test::DatabaseTest;

/// Runs `body` in a child that writes to the returned pipe.
template <typename Body> std::pair<pid_t, int> spawn(Body body) {
  int ends[2];
  if (::pipe(ends) != 0)
    return {-1, -1};
  pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    body(ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  return {child, ends[0]};
}

/// Blocks until the child has written `count` bytes; returns how many came.
size_t readBytes(int fd, size_t count) {
  size_t total = 0;
  char byte;
  while (total < count && ::read(fd, &byte, 1) == 1)
    ++total;
  return total;
}

TEST_F(DatabaseTest, HeldByALiveRun) {
  std::string path = at("records.db");
  auto [child, fd] = spawn([&](int out) {
    std::unique_ptr<Database> database = openOrDie(path);
    (void)!::write(out, "r", 1);
    ::pause();
  });
  ASSERT_EQ(readBytes(fd, 1), 1u);
  EXPECT_EQ(getOpenError(path), "'" + path +
                                    "' is held by a live run (process " +
                                    std::to_string(child) + ")");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(fd);
  // The file that the killed run left does not block.
  EXPECT_EQ(getOpenError(path), "no error");
}

TEST_F(DatabaseTest, AWorkerThatOutlivesTheDriverDoesNotHoldTheLock) {
  std::string path = at("records.db");
  auto [child, fd] = spawn([&](int out) {
    std::unique_ptr<Database> database = openOrDie(path);
    pid_t worker = ::fork();
    if (worker == 0) {
      ::execlp("sleep", "sleep", "1000", static_cast<char *>(nullptr));
      ::_exit(1);
    }
    // Until the exec happened, the child has a copy of the lock.
    std::string executable = "/proc/" + std::to_string(worker) + "/exe";
    char target[4096];
    ssize_t length;
    do
      length = ::readlink(executable.c_str(), target, sizeof(target));
    while (length < 0 ||
           StringRef(target, length).contains("CWMDatabaseTests"));
    (void)!::write(out, &worker, sizeof(worker));
    ::kill(::getpid(), SIGKILL);
  });
  pid_t worker = 0;
  ASSERT_EQ(::read(fd, &worker, sizeof(worker)), ssize_t(sizeof(worker)));
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(getOpenError(path), "no error");
  ::kill(worker, SIGKILL);
  ::close(fd);
}

TEST_F(DatabaseTest, KillingAWriterLosesNothing) {
  std::mt19937 engine(1);
  for (int round = 0; round < 12; ++round) {
    std::string path = at("records" + std::to_string(round) + ".db");
    auto [child, fd] = spawn([&](int out) {
      std::unique_ptr<Database> database = openOrDie(path);
      for (int i = 0;; ++i) {
        Record record = makeRecord("w", "c" + std::to_string(i));
        record.features.assign(256, 0.5f);
        if (database->insert(record))
          ::_exit(1);
        // Acknowledged only after the commit.
        (void)!::write(out, "i", 1);
      }
    });
    size_t acknowledged = readBytes(fd, engine() % 400);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    acknowledged += readBytes(fd, 1 << 20);
    ::close(fd);

    // open() checks the integrity of small files.
    std::unique_ptr<Database> database = openOrDie(path);
    std::vector<Record> records =
        cantFail(database->getRecords("w", "cpu:test"));
    EXPECT_GE(records.size(), acknowledged);
    EXPECT_LE(records.size(), acknowledged + 1);
    for (size_t i = 0; i < records.size(); ++i)
      EXPECT_EQ(records[i].candidate, "c" + std::to_string(i));
  }
}

TEST_F(DatabaseTest, FullDisk) {
  std::string path = at("records.db");
  auto [child, fd] = spawn([&](int out) {
    // A limit on the size of files stands for a full disk: writes beyond it
    // fail with EFBIG.
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {200 << 10, 200 << 10}; // in the middle of the WAL
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::unique_ptr<Database> database = openOrDie(path);
    for (int i = 0; i < 1000; ++i) {
      Record record = makeRecord("w", "c" + std::to_string(i));
      record.features.assign(256, 0.5f);
      if (Error error = database->insert(record)) {
        std::string message = toString(std::move(error));
        bool clear = StringRef(message).contains("cannot write '") &&
                     StringRef(message).contains(
                         "': the disk is full; what was stored before is "
                         "safe") &&
                     !StringRef(message).contains('\n');
        // Still usable for reading, and a second try fails alike.
        bool readable =
            cantFail(database->getRecords("w", "cpu:test")).size() == size_t(i);
        bool again = errorToBool(database->insert(record));
        (void)!::write(out, clear && readable && again ? "g" : "b", 1);
        return;
      }
      (void)!::write(out, "i", 1);
    }
  });
  std::string log;
  char byte;
  while (::read(fd, &byte, 1) == 1)
    log.push_back(byte);
  ::close(fd);
  ::waitpid(child, nullptr, 0);
  ASSERT_FALSE(log.empty());
  EXPECT_EQ(log.back(), 'g');
  size_t acknowledged = log.size() - 1;
  EXPECT_GT(acknowledged, 10u);
  std::unique_ptr<Database> database = openOrDie(path);
  EXPECT_EQ(cantFail(database->getRecords("w", "cpu:test")).size(),
            acknowledged);
  Record record = makeRecord("w", "later");
  EXPECT_FALSE(database->insert(record));
}

// Wherever it meets the limit: making the file, the tables, the log, its index.
TEST_F(DatabaseTest, EveryFullDiskIsCalledSo) {
  for (rlim_t limit = 0; limit <= 48 << 10; limit += 1 << 10) {
    std::string path = at("r" + std::to_string(limit) + ".db");
    auto [child, fd] = spawn([&](int out) {
      ::signal(SIGXFSZ, SIG_IGN);
      rlimit both = {limit, limit};
      ::setrlimit(RLIMIT_FSIZE, &both);
      std::string message = "no error";
      Expected<std::unique_ptr<Database>> database = Database::open(path);
      Error error = database.takeError();
      for (int i = 0; i < 100 && !error; ++i) {
        Record record = makeRecord("w", "c" + std::to_string(i));
        error = (*database)->insert(record);
      }
      message = toString(std::move(error));
      (void)!::write(out, message.data(), message.size());
    });
    std::string message;
    char byte;
    while (::read(fd, &byte, 1) == 1)
      message.push_back(byte);
    ::close(fd);
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(message, "cannot write '" + path +
                           "': the disk is full; what was stored before is "
                           "safe")
        << "limit " << limit;
  }
}

} // namespace
