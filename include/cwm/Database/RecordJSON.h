//===- RecordJSON.h - Records as JSON objects -------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_DATABASE_RECORDJSON_H
#define CWM_DATABASE_RECORDJSON_H

#include "cwm/Database/Database.h"

#include "llvm/Support/JSON.h"

namespace cwm {

/// Lossless but for the id, which belongs to one database.
llvm::json::Value toJSON(const Record &record);

/// Fails (with the place in `path`) on a missing key field, a wrong type, a
/// number that is not finite. Fields that are absent keep their defaults.
bool fromJSON(const llvm::json::Value &value, Record &record,
              llvm::json::Path path);

/// Makes `record` representable in JSON: text becomes valid UTF-8, numbers
/// become finite (an error of NaN is stored as the largest double) and lose
/// the sign of zero. Done on every insert, so that what is stored survives an
/// export and import bit for bit.
void normalize(Record &record);

} // namespace cwm

#endif // CWM_DATABASE_RECORDJSON_H
