//===- Impl.h - What the parts of Database share ----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_DATABASE_IMPL_H
#define CWM_LIB_DATABASE_IMPL_H

#include "Lock.h"
#include "Sqlite.h"

#include "cwm/Database/Database.h"

#include "llvm/Support/FileSystem.h"

#include <optional>

namespace cwm {

struct Database::Impl {
  explicit Impl(std::optional<FileLock> lock) : lock(std::move(lock)) {}

  // Destroyed last: the connection is closed under the lock. None where the
  // database is only read.
  std::optional<FileLock> lock;
  Connection connection;
  /// Of the file when it was opened.
  llvm::sys::fs::UniqueID identity;
  std::optional<Statement> insertStatement;

  /// Inserts `record`; false when its key is present. Commits unless inside of
  /// a transaction.
  llvm::Expected<bool> insert(Record &record);
};

} // namespace cwm

#endif // CWM_LIB_DATABASE_IMPL_H
