//===- Schema.h - Tables of a database and their versions -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_DATABASE_SCHEMA_H
#define CWM_LIB_DATABASE_SCHEMA_H

#include "Sqlite.h"

#include <cstdint>

namespace cwm {

/// "cwm1" in the file's header: tells our files from other programs'.
inline constexpr int64_t applicationId = 0x63776d31;

/// Writes the tables into an empty file, or checks whose file it is, and brings
/// one of an older version up to this.
llvm::Error prepareSchema(Connection &connection);

} // namespace cwm

#endif // CWM_LIB_DATABASE_SCHEMA_H
