//===- ReplayMeasurer.cpp - A measurer that replays results -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/ReplayMeasurer.h"

#include "cwm/Support/Nesting.h"
#include "cwm/Support/ReadFile.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <thread>

using namespace llvm;

namespace cwm {

/// Reads one line into `results`.
static Error readLine(StringRef line, StringMap<TrialResult> &results) {
  Expected<json::Value> value = parseJSON(line);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  if (!object)
    return createStringError("expected an object");
  std::optional<StringRef> key = object->getString("candidate");
  if (!key)
    key = object->getString("key");
  if (!key)
    return createStringError("expected a string \"candidate\"");
  const json::Value *result = object->get("result");
  if (!result)
    return createStringError("expected an object \"result\"");
  TrialResult parsed;
  json::Path::Root root("result");
  if (!fromJSON(*result, parsed, root))
    return root.getError();
  results[*key] = std::move(parsed);
  return Error::success();
}

Expected<std::unique_ptr<ReplayMeasurer>>
ReplayMeasurer::fromFile(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readInput(path);
  if (!buffer)
    return buffer.takeError();
  auto results = std::make_shared<StringMap<TrialResult>>();
  for (line_iterator line(**buffer); !line.is_at_eof(); ++line)
    if (Error error = readLine(*line, *results))
      return createStringError(path + ":" + Twine(line.line_number()) + ": " +
                               toString(std::move(error)));
  return std::make_unique<ReplayMeasurer>(
      [results](StringRef key) -> std::optional<TrialResult> {
        auto it = results->find(key);
        if (it == results->end())
          return std::nullopt;
        return it->second;
      });
}

Error ReplayMeasurer::replay(ArrayRef<MeasureRequest> requests,
                             ResultFn onResult, bool keepJournal) {
  for (const auto &[index, request] : enumerate(requests)) {
    if (stopRequested)
      return Error::success();
    std::optional<TrialResult> result = lookup(request.key);
    if (!result)
      return createStringError("no recorded result for candidate '" +
                               request.key + "'");
    if (delayMs) {
      std::this_thread::sleep_for(std::chrono::milliseconds(delayMs));
      busySeconds += delayMs * 1e-3;
    }
    if (keepJournal && !journal.empty()) {
      std::error_code error;
      raw_fd_ostream out(journal, error, sys::fs::OF_Append);
      if (error)
        return createStringError(error, "cannot write '" + journal +
                                            "': " + error.message());
      // One write, so that a kill leaves no half line behind.
      std::string line = request.key + "\n";
      out.SetBuffered();
      out << line;
    }
    onResult(index, std::move(*result));
  }
  return Error::success();
}

Error ReplayMeasurer::measure(ArrayRef<MeasureRequest> requests,
                              ResultFn onResult) {
  return replay(requests, onResult, /*keepJournal=*/true);
}

Error ReplayMeasurer::measureTogether(ArrayRef<MeasureRequest> requests,
                                      ResultFn onResult) {
  return replay(requests, onResult, /*keepJournal=*/false);
}

} // namespace cwm
