//===- OutputFile.cpp - A file that appears whole or not at all -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Tune/OutputFile.h"

#include "cwm/Tune/ResultFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

static Error makeError(const Twine &message, std::error_code code = {}) {
  if (code)
    return createStringError(code, message + ": " + code.message());
  return createStringError(std::make_error_code(std::errc::invalid_argument),
                           message);
}

/// Creates a temporary file beside `path`.
static Error createBeside(StringRef path, int &descriptor,
                          SmallVectorImpl<char> &name) {
  SmallString<128> model(path);
  model += ".tmp-%%%%%%%%";
  if (std::error_code code =
          sys::fs::createUniqueFile(model, descriptor, name, sys::fs::OF_None,
                                    sys::fs::all_read | sys::fs::owner_write))
    return makeError("cannot write '" + path + "'", code);
  return Error::success();
}

static Error removeTemporary(StringRef name) {
  std::error_code code = sys::fs::remove(name);
  return code ? makeError("cannot remove '" + name + "'", code)
              : Error::success();
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
    auto buffer = MemoryBuffer::getFile(path);
    if (!buffer)
      return makeError("cannot read '" + path + "', which is to be replaced",
                       buffer.getError());
    std::optional<std::string> owner =
        getResultWorkload((*buffer)->getBuffer());
    if (!owner)
      return makeError("'" + path +
                       "' exists and is not a result of cwm-tune: choose "
                       "another -o, or replace it with --force");
    if (*owner != workload)
      return makeError("'" + path + "' exists and is the result of workload " +
                       *owner + ", not of this one (" + workload +
                       "): choose another -o, or replace it with --force");
  }
  int descriptor = -1;
  SmallString<128> name;
  if (Error error = createBeside(path, descriptor, name))
    return error;
  ::close(descriptor);
  return removeTemporary(name);
}

Error cwm::writeFile(StringRef path, StringRef text) {
  if (path == "-") {
    outs() << text;
    outs().flush();
    if (std::error_code code = outs().error()) {
      outs().clear_error();
      return makeError("cannot write to stdout", code);
    }
    return Error::success();
  }
  int descriptor = -1;
  SmallString<128> name;
  if (Error error = createBeside(path, descriptor, name))
    return error;
  std::error_code code;
  {
    raw_fd_ostream stream(descriptor, /*shouldClose=*/false);
    stream << text;
    stream.flush();
    code = stream.error();
    stream.clear_error();
  }
  // On disk before the name changes: a power cut leaves the old or the new.
  if (!code && ::fsync(descriptor) != 0)
    code = std::error_code(errno, std::generic_category());
  if (::close(descriptor) != 0 && !code)
    code = std::error_code(errno, std::generic_category());
  if (!code)
    code = sys::fs::rename(name, path);
  if (!code)
    return Error::success();
  consumeError(removeTemporary(name));
  return makeError("cannot write '" + path + "'", code);
}
