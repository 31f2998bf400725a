//===- Database.cpp - The record store --------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Database/Database.h"

#include "Impl.h"
#include "Schema.h"

#include "cwm/Database/RecordJSON.h"
#include "cwm/Database/Version.inc"
#include "cwm/Support/Nesting.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include <ctime>
#include <sqlite3.h>

using namespace llvm;

namespace cwm {

#define CWM_RECORD_COLUMNS                                                     \
  "id, workload, target, toolchain, candidate, provenance, round, predicted, " \
  "created_at, actions, features, hardware, result"

std::string getToolchainVersion() {
  return "cwm " CWM_VERSION_STRING " / LLVM " LLVM_VERSION_STRING;
}

Database::Database() = default;
Database::~Database() = default;

/// SQLite only notices a damaged page when it reads it, which may be after
/// hours of measuring. A record takes about 2 KB, a check of 64 MB about 0.1 s.
static Error checkIntegrity(Connection &connection) {
  uint64_t size = 0;
  if (sys::fs::file_size(connection.getPath(), size) || size > (64 << 20))
    return Error::success();
  Expected<std::string> verdict = connection.queryText("PRAGMA quick_check(1)");
  if (!verdict)
    return verdict.takeError();
  if (*verdict != "ok")
    return connection.makeError(SQLITE_CORRUPT, "read");
  return Error::success();
}

Error Database::checkFile(StringRef path) {
  sys::fs::file_status status;
  std::error_code code = sys::fs::status(path, status);
  if (code == std::errc::no_such_file_or_directory)
    return Error::success();
  if (!code && sys::fs::is_directory(status))
    return createStringError("cannot open '" + path + "': it is a directory");
  // Reading a pipe would wait for a writer.
  if (!code && !sys::fs::is_regular_file(status))
    return createStringError("cannot open '" + path +
                             "': it is not a regular file");
  // Layout: https://www.sqlite.org/fileformat.html#the_database_header
  constexpr StringLiteral magic =
      StringLiteral::withInnerNUL("SQLite format 3\0");
  constexpr size_t headerSize = 100, applicationIdOffset = 68;
  SmallVector<char, 0> header;
  if (!code) {
    Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
    if (!file)
      return createStringError("cannot open '" + path +
                               "': " + toString(file.takeError()));
    header.resize(headerSize);
    Expected<size_t> length = sys::fs::readNativeFile(*file, header);
    (void)sys::fs::closeFile(*file);
    code = errorToErrorCode(length.takeError());
    header.resize(code ? 0 : *length);
  }
  if (code)
    return createStringError(code,
                             "cannot open '" + path + "': " + code.message());
  // What a killed run left, SQLite repairs when it opens the file.
  if (FileLock::isBeside(path))
    return Error::success();
  if (header.empty())
    return createStringError("'" + path +
                             "' is empty and not a cwm database: remove it, or "
                             "give another --database");
  if (!StringRef(header.data(), header.size()).starts_with(magic))
    return createStringError("'" + path + "' is not a cwm database");
  if (header.size() == headerSize &&
      support::endian::read32be(&header[applicationIdOffset]) != applicationId)
    return createStringError("'" + path + "' is a database of another program");
  return Error::success();
}

Expected<std::unique_ptr<Database>> Database::open(StringRef path) {
  if (Error error = checkFile(path))
    return std::move(error);
  Expected<FileLock> lock = FileLock::acquire(path);
  if (!lock)
    return lock.takeError();
  std::unique_ptr<Database> database(new Database());
  database->impl = std::make_unique<Impl>(std::move(*lock));
  Connection &connection = database->impl->connection;
  if (Error error = connection.open(path))
    return error;
  // Whose file is it? Asked before anything is written to it.
  if (Error error = prepareSchema(connection))
    return error;
  // A commit in WAL mode is one append. synchronous=NORMAL skips the fsync of
  // each commit (5-20 ms on a disk, against 300 ms for a trial): a kill -9
  // loses nothing since the kernel has the data, and after a power cut the
  // file is consistent but may lack the last commits, which a rerun measures
  // again. Without WAL (some network file systems) NORMAL is not safe.
  Expected<std::string> mode = connection.queryText("PRAGMA journal_mode=WAL");
  if (!mode)
    return mode.takeError();
  if (Error error =
          connection.execute(*mode == "wal" ? "PRAGMA synchronous=NORMAL"
                                            : "PRAGMA synchronous=FULL"))
    return error;
  if (Error error = checkIntegrity(connection))
    return error;
  if (std::error_code code =
          sys::fs::getUniqueID(path, database->impl->identity))
    return createStringError(code,
                             "cannot open '" + path + "': " + code.message());

  Expected<Statement> insert = Statement::prepare(
      connection,
      "INSERT INTO record(workload, target, toolchain, candidate, status, "
      "score, time_ns, provenance, round, predicted, created_at, actions, "
      "features, hardware, result) "
      "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING");
  if (!insert)
    return insert.takeError();
  database->impl->insertStatement.emplace(std::move(*insert));
  return database;
}

Expected<std::unique_ptr<Database>> Database::openToRead(StringRef path) {
  // Opening one that is not there would make it.
  if (!sys::fs::exists(path))
    return createStringError("there is no database '" + path + "'");
  if (Error error = checkFile(path))
    return std::move(error);
  std::unique_ptr<Database> database(new Database());
  database->impl = std::make_unique<Impl>(std::nullopt);
  Connection &connection = database->impl->connection;
  if (Error error = connection.open(path))
    return error;
  if (Error error = prepareSchema(connection))
    return error;
  if (std::error_code code =
          sys::fs::getUniqueID(path, database->impl->identity))
    return createStringError(code,
                             "cannot open '" + path + "': " + code.message());
  return database;
}

StringRef Database::getPath() const { return impl->connection.getPath(); }

Error Database::checkInPlace() const {
  StringRef path = impl->connection.getPath();
  sys::fs::UniqueID now;
  std::error_code code = sys::fs::getUniqueID(path, now);
  if (!code && now == impl->identity)
    return Error::success();
  return createStringError(
      "'" + path + "' was removed, moved or replaced during the run" +
      (code ? " (" + code.message() + ")" : std::string()) +
      ": what this run stored is not in it");
}

static std::string getCurrentTime() {
  std::time_t now = std::time(nullptr);
  std::tm utc = {};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

static std::string printJSON(json::Value value) {
  return formatv("{0}", value);
}

Expected<bool> Database::Impl::insert(Record &record) {
  normalize(record);
  if (record.createdAt.empty())
    record.createdAt = getCurrentTime();
  assert(insertStatement && "opened to be read only");
  Statement &statement = *insertStatement;
  statement.reset();
  statement.bind(0, StringRef(record.workload));
  statement.bind(1, StringRef(record.target));
  statement.bind(2, StringRef(record.toolchain));
  statement.bind(3, StringRef(record.candidate));
  statement.bind(4, stringifyTrialStatus(record.result.status));
  statement.bind(5, record.result.score);
  statement.bind(6, record.result.timeNs);
  statement.bind(7, StringRef(record.provenance));
  statement.bind(8, record.round);
  statement.bind(9, record.predicted);
  statement.bind(10, StringRef(record.createdAt));
  statement.bind(11, StringRef(printJSON(json::Array(record.actions))));
  statement.bind(12, ArrayRef<float>(record.features));
  statement.bind(13, ArrayRef<float>(record.hardware));
  statement.bind(14, StringRef(printJSON(toJSON(record.result))));
  Expected<bool> row = statement.step();
  statement.reset();
  if (!row)
    return row.takeError();
  if (sqlite3_changes(connection.get()) == 0)
    return false;
  record.id = sqlite3_last_insert_rowid(connection.get());
  return true;
}

Error Database::insert(Record &record) {
  if (record.toolchain.empty())
    record.toolchain = getToolchainVersion();
  Expected<bool> inserted = impl->insert(record);
  if (!inserted)
    return inserted.takeError();
  if (!*inserted)
    return createStringError("candidate '" + record.candidate +
                             "' is already in '" + impl->connection.getPath() +
                             "'");
  return Error::success();
}

/// Reads the row that `statement` stands on.
static Expected<Record> readRecord(const Statement &statement,
                                   StringRef databasePath) {
  Record record;
  record.id = statement.getInteger(0);
  record.workload = statement.getText(1);
  record.target = statement.getText(2);
  record.toolchain = statement.getText(3);
  record.candidate = statement.getText(4);
  record.provenance = statement.getText(5);
  record.round = statement.getInteger(6);
  record.predicted = statement.getDouble(7);
  record.createdAt = statement.getText(8);
  record.features = statement.getFloats(10);
  record.hardware = statement.getFloats(11);
  auto parse = [&](int column, StringRef name, auto &into) -> Error {
    json::Path::Root root(name);
    Expected<json::Value> value = parseJSON(statement.getText(column));
    Error error = value ? Error::success() : value.takeError();
    if (!error && !fromJSON(*value, into, root))
      error = root.getError();
    if (!error)
      return Error::success();
    return createStringError("'" + databasePath + "': record " +
                             Twine(record.id) + ": " +
                             toString(std::move(error)));
  };
  if (Error error = parse(9, "actions", record.actions))
    return error;
  if (Error error = parse(12, "result", record.result))
    return error;
  return record;
}

static Expected<std::vector<Record>> readAll(Statement &statement,
                                             StringRef databasePath) {
  std::vector<Record> records;
  while (true) {
    Expected<bool> row = statement.step();
    if (!row)
      return row.takeError();
    if (!*row)
      return records;
    Expected<Record> record = readRecord(statement, databasePath);
    if (!record)
      return record.takeError();
    records.push_back(std::move(*record));
  }
}

Expected<std::vector<Record>> Database::getRecords(StringRef workload,
                                                   StringRef target) {
  Expected<Statement> statement = Statement::prepare(
      impl->connection, "SELECT " CWM_RECORD_COLUMNS
                        " FROM record WHERE workload=? AND target=? AND "
                        "toolchain=? ORDER BY id");
  if (!statement)
    return statement.takeError();
  statement->bind(0, workload);
  statement->bind(1, target);
  statement->bind(2, StringRef(getToolchainVersion()));
  return readAll(*statement, impl->connection.getPath());
}

Expected<std::vector<Record>>
Database::getOtherRecords(StringRef workload, StringRef target, int64_t maxId) {
  Expected<Statement> statement = Statement::prepare(
      impl->connection, "SELECT " CWM_RECORD_COLUMNS
                        " FROM record WHERE workload<>? AND target=? AND "
                        "toolchain=? AND id<=? ORDER BY id");
  if (!statement)
    return statement.takeError();
  statement->bind(0, workload);
  statement->bind(1, target);
  statement->bind(2, StringRef(getToolchainVersion()));
  statement->bind(3, maxId);
  return readAll(*statement, impl->connection.getPath());
}

Expected<std::vector<Record>> Database::getAllRecords() {
  Expected<Statement> statement =
      Statement::prepare(impl->connection, "SELECT " CWM_RECORD_COLUMNS
                                           " FROM record ORDER BY id");
  if (!statement)
    return statement.takeError();
  return readAll(*statement, impl->connection.getPath());
}

Expected<int64_t> Database::getMaxId() {
  return impl->connection.queryInteger(
      "SELECT coalesce(max(id), 0) FROM record");
}

Expected<int64_t> Database::countForeign(StringRef workload, StringRef target) {
  Expected<Statement> statement = Statement::prepare(
      impl->connection, "SELECT count(*) FROM record WHERE workload=? AND "
                        "(target<>? OR toolchain<>?)");
  if (!statement)
    return statement.takeError();
  statement->bind(0, workload);
  statement->bind(1, target);
  statement->bind(2, StringRef(getToolchainVersion()));
  Expected<bool> row = statement->step();
  if (!row)
    return row.takeError();
  return statement->getInteger(0);
}

Error Database::setValue(StringRef key, StringRef value) {
  Expected<Statement> statement = Statement::prepare(
      impl->connection, "INSERT INTO value(key, value) VALUES(?, ?) ON "
                        "CONFLICT(key) DO UPDATE SET value=excluded.value");
  if (!statement)
    return statement.takeError();
  statement->bind(0, key);
  statement->bind(1, value);
  return statement->step().takeError();
}

Expected<std::string> Database::getValue(StringRef key) {
  Expected<Statement> statement = Statement::prepare(
      impl->connection, "SELECT value FROM value WHERE key=?");
  if (!statement)
    return statement.takeError();
  statement->bind(0, key);
  Expected<bool> row = statement->step();
  if (!row)
    return row.takeError();
  return *row ? statement->getText(0) : std::string();
}

} // namespace cwm
