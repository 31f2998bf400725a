//===- MetricsLog.cpp - Metrics of training, a JSON line each - -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/MetricsLog.h"

#include "cwm/Support/Nesting.h"
#include "cwm/Support/ReadFile.h"
#include "cwm/Support/WriteFile.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace cwm {

/// The lines of `text` up to `step`.
static std::string keepUntil(StringRef text, int64_t step) {
  std::string kept;
  while (text.contains('\n')) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    Expected<json::Value> value = parseJSON(line);
    if (!value) {
      consumeError(value.takeError());
      break;
    }
    const json::Object *object = value->getAsObject();
    std::optional<int64_t> number =
        object ? object->getInteger("step") : std::nullopt;
    if (!number || *number > step)
      break;
    kept += line.str() + "\n";
  }
  return kept;
}

Expected<MetricsLog> MetricsLog::open(StringRef path, int64_t step) {
  MetricsLog log;
  log.path = path.str();
  if (path.empty())
    return log;
  std::string kept;
  if (step > 0 && sys::fs::exists(path)) {
    Expected<std::unique_ptr<MemoryBuffer>> old = readOwnFile(path);
    if (!old)
      return old.takeError();
    kept = keepUntil((*old)->getBuffer(), step);
  }
  if (Error error = writeFile(path, kept))
    return error;
  std::error_code code;
  log.os =
      std::make_unique<raw_fd_ostream>(path, code, sys::fs::CD_OpenExisting,
                                       sys::fs::FA_Write, sys::fs::OF_Append);
  if (code)
    return createStringError("cannot write '" + path +
                             "': " + describeWriteError(code));
  return log;
}

Error MetricsLog::add(json::Object line) {
  if (!os)
    return Error::success();
  *os << json::Value(std::move(line)) << "\n";
  os->flush();
  if (!os->has_error())
    return Error::success();
  std::error_code code = os->error();
  os->clear_error();
  return createStringError("cannot write '" + path +
                           "': " + describeWriteError(code));
}

} // namespace cwm
