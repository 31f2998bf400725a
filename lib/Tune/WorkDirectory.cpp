//===- WorkDirectory.cpp - Where a run keeps what it must keep  -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Tune/WorkDirectory.h"

#include "cwm/Database/Database.h"
#include "cwm/Support/Nesting.h"
#include "cwm/Support/ReadFile.h"
#include "cwm/Support/WriteFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace llvm;

static constexpr StringLiteral runFile = "run.json";
static constexpr StringLiteral payloadCopy = "payload.mlir";

static Error makeError(const Twine &message, std::error_code code = {}) {
  if (code)
    return createStringError(code,
                             message + ": " + cwm::describeWriteError(code));
  return createStringError(std::make_error_code(std::errc::invalid_argument),
                           message);
}

std::string cwm::WorkDirectory::getFile(StringRef name) const {
  SmallString<128> file(path);
  sys::path::append(file, name);
  return std::string(file);
}

std::string cwm::WorkDirectory::getPayloadFile() const {
  return getFile(payloadCopy);
}

std::string cwm::WorkDirectory::getDefaultPath(StringRef payloadFile,
                                               StringRef function,
                                               StringRef output) {
  StringRef stem = payloadFile == "-" ? "stdin" : sys::path::stem(payloadFile);
  SmallString<128> path(output == "-" ? "" : sys::path::parent_path(output));
  // A symbol may have any name, a file not; see open() for the stem.
  std::string middle = function.empty() ? "" : "." + function.str();
  for (char &c : middle)
    if (!isAlnum(c) && !StringRef("._$-").contains(c))
      c = '_';
  sys::path::append(path, json::fixUTF8(stem) + middle + ".cwm");
  return std::string(path);
}

/// Whether `path` has nothing but what an interrupted creation leaves.
static bool isBlank(StringRef path, std::error_code &code) {
  for (sys::fs::directory_iterator entry(path, code), end;
       !code && entry != end; entry.increment(code)) {
    StringRef name = sys::path::filename(entry->path());
    if (name != payloadCopy && !name.contains(".tmp-"))
      return false;
  }
  return true;
}

/// Compares run.json, which exists, with the payload.
static Error checkOwner(StringRef path, StringRef file,
                        const cwm::Payload &payload, StringRef payloadFile) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = cwm::readOwnFile(file);
  if (!buffer)
    return buffer.takeError();
  Expected<json::Value> value = cwm::parseJSON((*buffer)->getBuffer());
  if (!value) {
    consumeError(value.takeError());
    return makeError("'" + file + "' is malformed: give another --work-dir");
  }
  const json::Object *object = value->getAsObject();
  std::optional<StringRef> workload =
      object ? object->getString("workload") : std::nullopt;
  if (!workload)
    return makeError("'" + file +
                     "' names no workload: give another --work-dir");
  if (*workload == payload.getWorkloadHash())
    return Error::success();
  StringRef other = object->getString("payload").value_or("another payload");
  StringRef function = object->getString("function").value_or("?");
  return makeError("work directory '" + path + "' belongs to '" + other +
                   "', @" + function + " (workload " + *workload +
                   "), not to '" + payloadFile + "', @" +
                   payload.getEntry().getName() + " (workload " +
                   payload.getWorkloadHash() + "): give another --work-dir");
}

Expected<cwm::WorkDirectory> cwm::WorkDirectory::open(StringRef path,
                                                      const Payload &payload,
                                                      StringRef payloadFile) {
  WorkDirectory directory(path.str());
  if (path.empty())
    return makeError("the work directory has an empty name");
  // Workers are told of files in it as JSON.
  if (!json::isUTF8(path))
    return makeError("the name of work directory '" + json::fixUTF8(path) +
                     "' is not UTF-8: give another --work-dir");
  std::string file = directory.getFile(runFile);
  sys::fs::file_status status;
  if (!sys::fs::status(path, status) && !sys::fs::is_directory(status))
    return makeError("work directory '" + path +
                     "' is a file: give another "
                     "--work-dir");
  if (sys::fs::exists(file)) {
    if (Error error = checkOwner(path, file, payload, payloadFile))
      return std::move(error);
  } else if (sys::fs::exists(path)) {
    std::error_code code;
    bool blank = isBlank(path, code);
    if (code)
      return makeError("cannot read work directory '" + path + "'", code);
    if (!blank)
      return makeError("'" + path +
                       "' exists and is not a work directory of cwm (it has "
                       "no run.json): give another --work-dir");
  }
  if (std::error_code code = sys::fs::create_directories(path))
    return makeError("cannot make work directory '" + path + "'", code);

  // run.json comes last: a folder without it was not finished.
  std::string module;
  raw_string_ostream(module) << payload.getModule() << "\n";
  if (Error error = writeFile(directory.getFile(payloadCopy), module))
    return std::move(error);
  // For people: file names may hold bytes that JSON cannot.
  json::Object run{{"payload", json::fixUTF8(payloadFile)},
                   {"function", json::fixUTF8(payload.getEntry().getName())},
                   {"workload", payload.getWorkloadHash().str()},
                   {"tool", getToolchainVersion()}};
  std::string text;
  raw_string_ostream(text) << formatv("{0:2}\n", json::Value(std::move(run)));
  if (!sys::fs::exists(file))
    if (Error error = writeFile(file, text))
      return std::move(error);
  return directory;
}
