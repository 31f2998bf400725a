//===- OutputFile.cpp - What may be written where ------------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Tune/OutputFile.h"

#include "cwm/Support/Nesting.h"
#include "cwm/Support/ReadFile.h"
#include "cwm/Support/WriteFile.h"
#include "cwm/Tune/ResultFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <unistd.h>

using namespace llvm;

static Error makeError(const Twine &message, std::error_code code = {}) {
  if (code)
    return createStringError(code,
                             message + ": " + cwm::describeWriteError(code));
  return createStringError(std::make_error_code(std::errc::invalid_argument),
                           message);
}

Error cwm::checkOutput(StringRef path, StringRef workload, bool force) {
  if (path == "-")
    return Error::success();
  if (path.empty())
    return makeError("the output has an empty name; give a file or '-' for "
                     "stdout");
  sys::fs::file_status status;
  std::error_code code = sys::fs::status(path, status);
  if (code && code != std::errc::no_such_file_or_directory)
    return makeError("cannot write '" + path + "'", code);
  if (sys::fs::is_directory(status))
    return makeError("cannot write '" + path + "': it is a directory");
  if (sys::fs::exists(status) && !sys::fs::is_regular_file(status))
    return makeError("cannot write '" + path +
                     "': it is not a regular file; '-' is stdout");
  if (sys::fs::exists(status) && !force) {
    Expected<std::unique_ptr<MemoryBuffer>> buffer = cwm::readOwnFile(path);
    if (!buffer)
      return buffer.takeError();
    std::optional<ResultOwner> owner = getResultOwner((*buffer)->getBuffer());
    if (!owner)
      return makeError("'" + path +
                       "' exists and is not a result of cwm-tune: choose "
                       "another -o, or replace it with --force");
    if (owner->workload != workload)
      return makeError("'" + path + "' exists and is the result of " +
                       owner->payload + " (workload " + owner->workload +
                       "), not of this payload (workload " + workload +
                       "): choose another -o, or replace it with --force");
  }
  int descriptor = -1;
  SmallString<128> name;
  if (Error error = createBeside(path, descriptor, name))
    return error;
  ::close(descriptor);
  if (std::error_code removed = removeTemporary(name))
    return makeError("cannot remove '" + name + "'", removed);
  return Error::success();
}

/// True for what --summary and --export-records write: JSON objects with the
/// keys that all of them have.
static bool isExtraOutput(StringRef text) {
  if (text.trim().empty())
    return true;
  auto hasKey = [](StringRef json) {
    Expected<json::Value> value = cwm::parseJSON(json);
    if (!value) {
      consumeError(value.takeError());
      return false;
    }
    const json::Object *object = value->getAsObject();
    return object && object->get("toolchain") && object->get("candidate");
  };
  return hasKey(text) || hasKey(text.split('\n').first);
}

Error cwm::checkExtraOutput(StringRef path, StringRef flag, bool force) {
  if (Error error = checkOutput(path, /*workload=*/"", /*force=*/true))
    return error;
  if (force || path == "-" || !sys::fs::exists(path))
    return Error::success();
  Expected<std::unique_ptr<MemoryBuffer>> buffer = cwm::readOwnFile(path);
  if (!buffer)
    return buffer.takeError();
  if (isExtraOutput((*buffer)->getBuffer()))
    return Error::success();
  return makeError("'" + path + "' exists and was not written by " + flag +
                   ": choose another file, or replace it with --force");
}

/// The file that `path` names: links and `..` resolved, also where the last
/// part does not exist yet.
static std::string getIdentity(StringRef path) {
  SmallString<128> real;
  if (!sys::fs::real_path(path, real))
    return real.str().str();
  Expected<std::string> target = cwm::followLinks(path);
  if (!target) {
    consumeError(target.takeError());
    return path.str();
  }
  SmallString<128> parent = sys::path::parent_path(*target);
  if (sys::fs::real_path(parent.empty() ? StringRef(".") : parent.str(), real))
    return *target;
  sys::path::append(real, sys::path::filename(*target));
  return real.str().str();
}

Error cwm::checkDistinct(ArrayRef<NamedFile> outputs,
                         ArrayRef<NamedFile> inputs, StringRef workDirectory) {
  auto isFile = [](const NamedFile &file) {
    return !file.path.empty() && file.path != "-";
  };
  std::string inside = getIdentity(workDirectory) + "/";
  for (const auto &[index, output] : enumerate(outputs)) {
    if (!isFile(output))
      continue;
    std::string identity = getIdentity(output.path);
    auto isSame = [&](const NamedFile &other) {
      return isFile(other) && getIdentity(other.path) == identity;
    };
    const auto *input = find_if(inputs, isSame);
    if (input != inputs.end())
      return makeError("'" + output.path + "' is both " + output.words +
                       " and " + input->words + ": choose another file");
    const auto *other = find_if(outputs.take_front(index), isSame);
    if (other != outputs.begin() + index)
      return makeError("'" + output.path + "' is both " + output.words +
                       " and " + other->words + ": choose another file");
    if (StringRef(identity).starts_with(inside))
      return makeError("'" + output.path + "' (" + output.words +
                       ") lies in the work directory '" + workDirectory +
                       "': choose another file");
  }
  return Error::success();
}
