//===- JSONLines.cpp - Export and import of records -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Impl.h"

#include "cwm/Database/RecordJSON.h"
#include "cwm/Support/Nesting.h"
#include "cwm/Support/ReadFile.h"
#include "cwm/Support/WriteFile.h"

#include "llvm/Support/LineIterator.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cwm {

Error Database::exportJSONL(StringRef path) {
  Expected<std::vector<Record>> records = getAllRecords();
  if (!records)
    return records.takeError();
  std::string text;
  raw_string_ostream out(text);
  for (const Record &record : *records)
    out << toJSON(record) << '\n';
  return writeFile(path, text);
}

static Expected<std::vector<Record>> parseLines(MemoryBufferRef buffer,
                                                StringRef path) {
  std::vector<Record> records;
  for (line_iterator line(buffer); !line.is_at_eof(); ++line) {
    Record record;
    json::Path::Root root("record");
    Expected<json::Value> value = parseJSON(*line);
    Error error = value ? Error::success() : value.takeError();
    if (!error && !fromJSON(*value, record, root))
      error = root.getError();
    if (error)
      return createStringError(path + ":" + Twine(line.line_number()) + ": " +
                               toString(std::move(error)) +
                               "; nothing was imported");
    records.push_back(std::move(record));
  }
  return records;
}

Expected<int64_t> Database::importJSONL(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readInput(path);
  if (!buffer)
    return buffer.takeError();
  Expected<std::vector<Record>> records = parseLines(**buffer, path);
  if (!records)
    return records.takeError();

  Connection &connection = impl->connection;
  if (Error error = connection.execute("BEGIN IMMEDIATE"))
    return error;
  int64_t added = 0;
  for (Record &record : *records) {
    Expected<bool> inserted = impl->insert(record);
    if (!inserted) {
      connection.rollback();
      return inserted.takeError();
    }
    added += *inserted;
  }
  if (Error error = connection.execute("COMMIT")) {
    connection.rollback();
    return error;
  }
  return added;
}

} // namespace cwm
