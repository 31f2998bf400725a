//===- Sqlite.cpp - SQLite statements behind llvm::Error --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sqlite.h"

#include "cwm/Support/WriteFile.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"

#include <cerrno>
#include <sqlite3.h>

using namespace llvm;

namespace cwm {

Connection::~Connection() {
  // The _v2 form also copes with statements that are still alive.
  sqlite3_close_v2(handle);
}

Error Connection::open(StringRef filename) {
  path = filename.str();
  // ":memory:" is a file here like any other.
  std::string file = (filename.starts_with(":") ? "./" : "") + path;
  errno = 0; // an old one is no reason
  int code = sqlite3_open_v2(file.c_str(), &handle,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                                 SQLITE_OPEN_EXRESCODE,
                             nullptr);
  if (code != SQLITE_OK)
    return makeError(code, "open");
  // Another program (the sqlite3 shell) may be reading.
  sqlite3_busy_timeout(handle, 5000);
  return Error::success();
}

/// What the system said to the last call that failed; 0: nothing that is known.
/// `lastErrno` is the thread's.
static std::error_code getSystemError(sqlite3 *handle, int lastErrno) {
  int error = handle ? sqlite3_system_errno(handle) : 0;
  // A failing commit is not noted there, but in the file that it wrote to: the
  // database, or the journal or log beside it.
  if (handle && !error)
    sqlite3_file_control(handle, nullptr, SQLITE_FCNTL_LAST_ERRNO, &error);
  sqlite3_file *journal = nullptr;
  if (handle && !error &&
      sqlite3_file_control(handle, nullptr, SQLITE_FCNTL_JOURNAL_POINTER,
                           static_cast<void *>(&journal)) == SQLITE_OK &&
      journal && journal->pMethods)
    journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &error);
  return {error ? error : lastErrno, std::generic_category()};
}

/// The system's reason for an I/O error, ": permission denied" style, or "".
static std::string getReason(std::error_code error) {
  return error ? ": " + error.message() : std::string();
}

/// SQLite's own reason not to open a file: the names of it and of its journal
/// must fit. It says nothing but that it cannot.
static std::string describeLongPath(StringRef path) {
  SmallString<512> absolute;
  if (sys::fs::real_path(path, absolute)) {
    absolute = path;
    if (sys::fs::make_absolute(absolute))
      return "";
  }
  const sqlite3_vfs *system = sqlite3_vfs_find(nullptr);
  constexpr size_t journalBytes = 8; // "-journal"
  if (!system || absolute.size() + journalBytes <= size_t(system->mxPathname))
    return "";
  return ": its path has " + std::to_string(absolute.size()) +
         " bytes from the root, more than the " +
         std::to_string(system->mxPathname - journalBytes) +
         " that SQLite takes; give another --work-dir or --database";
}

Error Connection::makeError(int code, StringRef what) const {
  std::error_code reason = getSystemError(handle, errno);
  std::string quoted = "'" + path + "'";
  // Not each call that met a full disk is reported as SQLITE_FULL, and where it
  // was a limit on file sizes or a quota none is.
  int kind = code & 0xff;
  if ((kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN) && isDiskFull(reason))
    kind = SQLITE_FULL;
  switch (kind) {
  case SQLITE_NOTADB:
    return createStringError(quoted + " is not a cwm database");
  case SQLITE_CORRUPT:
    return createStringError(
        quoted + " is corrupt; move it away, or export what is readable with "
                 "sqlite3's .recover");
  case SQLITE_FULL:
    return createStringError("cannot write " + quoted +
                             ": the disk is full; what was stored before is "
                             "safe");
  case SQLITE_READONLY:
    return createStringError("cannot write " + quoted + ": it is read-only");
  case SQLITE_CANTOPEN: {
    // First: what the system said then belongs to something else.
    std::string tooLong = describeLongPath(path);
    return createStringError("cannot open " + quoted +
                             (tooLong.empty() ? getReason(reason) : tooLong));
  }
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return createStringError(quoted + " is locked by another program");
  case SQLITE_IOERR:
    return createStringError("cannot " + what + " " + quoted +
                             ": input/output error" + getReason(reason) +
                             "; what was stored before is safe");
  default:
    return createStringError(
        "cannot " + what + " " + quoted + ": " +
        (handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code)));
  }
}

Error Connection::execute(const char *sql) {
  errno = 0; // an old one is no reason
  int code = sqlite3_exec(handle, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Error::success() : makeError(code, "write");
}

Expected<std::string> Connection::queryText(const char *sql) {
  Expected<Statement> statement = Statement::prepare(*this, sql);
  if (!statement)
    return statement.takeError();
  Expected<bool> row = statement->step();
  if (!row)
    return row.takeError();
  return *row ? statement->getText(0) : std::string();
}

Expected<int64_t> Connection::queryInteger(const char *sql) {
  Expected<Statement> statement = Statement::prepare(*this, sql);
  if (!statement)
    return statement.takeError();
  Expected<bool> row = statement->step();
  if (!row)
    return row.takeError();
  return *row ? statement->getInteger(0) : 0;
}

void Connection::rollback() {
  // A full disk already rolled the transaction back.
  if (!sqlite3_get_autocommit(handle))
    sqlite3_exec(handle, "ROLLBACK", nullptr, nullptr, nullptr);
}

Expected<Statement> Statement::prepare(Connection &connection,
                                       const char *sql) {
  sqlite3_stmt *handle = nullptr;
  errno = 0; // an old one is no reason
  int code = sqlite3_prepare_v2(connection.get(), sql, -1, &handle, nullptr);
  if (code != SQLITE_OK)
    return connection.makeError(code, "read");
  return Statement(connection, handle);
}

Statement::~Statement() { sqlite3_finalize(handle); }

void Statement::note(int code) {
  if (status == SQLITE_OK)
    status = code;
}

void Statement::bind(int index, StringRef text) {
  // An empty reference may be null, which would bind NULL.
  note(sqlite3_bind_text64(handle, index + 1, text.empty() ? "" : text.data(),
                           text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind(int index, int64_t value) {
  note(sqlite3_bind_int64(handle, index + 1, value));
}

void Statement::bind(int index, double value) {
  note(sqlite3_bind_double(handle, index + 1, value));
}

void Statement::bind(int index, ArrayRef<float> values) {
  // Little-endian whatever the host is: files travel.
  std::string bytes(values.size() * 4, '\0');
  for (size_t i = 0; i < values.size(); ++i)
    support::endian::write<float, endianness::little>(&bytes[4 * i], values[i]);
  note(sqlite3_bind_blob64(handle, index + 1, bytes.data(), bytes.size(),
                           SQLITE_TRANSIENT));
}

void Statement::bindBytes(int index, StringRef bytes) {
  note(sqlite3_bind_blob64(handle, index + 1, bytes.empty() ? "" : bytes.data(),
                           bytes.size(), SQLITE_TRANSIENT));
}

Expected<bool> Statement::step() {
  errno = 0; // an old one is no reason
  int code = status == SQLITE_OK ? sqlite3_step(handle) : status;
  if (code == SQLITE_ROW)
    return true;
  if (code == SQLITE_DONE)
    return false;
  Error error = connection.makeError(
      code, sqlite3_stmt_readonly(handle) ? "read" : "write");
  connection.rollback();
  return error;
}

void Statement::reset() {
  sqlite3_reset(handle);
  sqlite3_clear_bindings(handle);
  status = SQLITE_OK;
}

std::string Statement::getText(int column) const {
  const unsigned char *text = sqlite3_column_text(handle, column);
  int length = sqlite3_column_bytes(handle, column);
  return text ? std::string(reinterpret_cast<const char *>(text), length)
              : std::string();
}

bool Statement::isNull(int column) const {
  return sqlite3_column_type(handle, column) == SQLITE_NULL;
}

int64_t Statement::getInteger(int column) const {
  return sqlite3_column_int64(handle, column);
}

double Statement::getDouble(int column) const {
  return sqlite3_column_double(handle, column);
}

StringRef Statement::getBytes(int column) const {
  const char *bytes =
      static_cast<const char *>(sqlite3_column_blob(handle, column));
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(handle, column))};
}

std::vector<float> Statement::getFloats(int column) const {
  const char *bytes =
      static_cast<const char *>(sqlite3_column_blob(handle, column));
  std::vector<float> values(sqlite3_column_bytes(handle, column) / 4);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = support::endian::read<float, endianness::little>(bytes + 4 * i);
  return values;
}

} // namespace cwm
