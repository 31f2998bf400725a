//===- Sqlite.h - SQLite statements behind llvm::Error ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_DATABASE_SQLITE_H
#define CWM_LIB_DATABASE_SQLITE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace cwm {

/// One connection. Every error is one line that names the file.
class Connection {
public:
  Connection() = default;
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;
  ~Connection();

  /// Opens or creates `path`; the first read of the file comes later.
  llvm::Error open(llvm::StringRef path);
  /// Runs statements that return nothing of interest.
  llvm::Error execute(const char *sql);
  /// First column of the first row, "" without a row.
  llvm::Expected<std::string> queryText(const char *sql);
  llvm::Expected<int64_t> queryInteger(const char *sql);
  /// What the library last complained about while doing `what`.
  llvm::Error makeError(int code, llvm::StringRef what) const;
  /// Ends a transaction that an error left open.
  void rollback();

  sqlite3 *get() const { return handle; }
  llvm::StringRef getPath() const { return path; }

private:
  sqlite3 *handle = nullptr;
  std::string path;
};

/// A prepared statement, bound and read by position (from 0).
class Statement {
public:
  static llvm::Expected<Statement> prepare(Connection &connection,
                                           const char *sql);
  Statement(Statement &&other)
      : connection(other.connection), handle(other.handle),
        status(other.status) {
    other.handle = nullptr;
  }
  Statement(const Statement &) = delete;
  Statement &operator=(const Statement &) = delete;
  Statement &operator=(Statement &&) = delete;
  ~Statement();

  void bind(int index, llvm::StringRef text);
  void bind(int index, int64_t value);
  void bind(int index, double value);
  void bind(int index, llvm::ArrayRef<float> values);
  void bindBytes(int index, llvm::StringRef bytes);

  /// True when there is a row.
  llvm::Expected<bool> step();
  /// Makes it ready to be bound and stepped again.
  void reset();

  std::string getText(int column) const;
  bool isNull(int column) const;
  int64_t getInteger(int column) const;
  double getDouble(int column) const;
  std::vector<float> getFloats(int column) const;
  /// Valid until the next step() or reset().
  llvm::StringRef getBytes(int column) const;

private:
  Statement(Connection &connection, sqlite3_stmt *handle)
      : connection(connection), handle(handle) {}
  void note(int code);

  Connection &connection;
  sqlite3_stmt *handle;
  /// First error of bind, reported by step.
  int status = 0;
};

} // namespace cwm

#endif // CWM_LIB_DATABASE_SQLITE_H
