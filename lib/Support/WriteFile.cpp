//===- WriteFile.cpp - A file that appears whole or not at all -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Support/WriteFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <climits>
#include <unistd.h>

using namespace llvm;

static constexpr std::errc fullDiskErrors[] = {
    std::errc::no_space_on_device, std::errc::file_too_large,
    // The standard has no name for an exceeded quota.
    static_cast<std::errc>(EDQUOT)};

bool cwm::isDiskFull(std::error_code code) {
  return is_contained(fullDiskErrors, code);
}

std::string cwm::describeWriteError(std::error_code code) {
  return isDiskFull(code) ? "the disk is full" : code.message();
}

std::string cwm::nameFullDisk(std::string message) {
  for (std::errc code : fullDiskErrors) {
    std::string words = std::make_error_code(code).message();
    for (size_t at = 0; (at = message.find(words, at)) != std::string::npos;)
      message.replace(at, words.size(), "the disk is full");
  }
  return message;
}

static Error makeError(StringRef path, std::error_code code) {
  return createStringError(code, "cannot write " + path + ": " +
                                     cwm::describeWriteError(code));
}

Expected<std::string> cwm::followLinks(StringRef path) {
  constexpr int maxLinks = 40; // as Linux does
  SmallString<128> file(path);
  for (int links = 0; links <= maxLinks; ++links) {
    char target[PATH_MAX];
    ssize_t length = ::readlink(file.c_str(), target, sizeof(target));
    // Not a link, or nothing: who writes there meets the reason.
    if (length < 0)
      return file.str().str();
    StringRef next(target, length);
    if (sys::path::is_relative(next))
      sys::path::remove_filename(file);
    else
      file.clear();
    sys::path::append(file, next);
  }
  return makeError(
      ("'" + path + "'").str(),
      std::make_error_code(std::errc::too_many_symbolic_link_levels));
}

/// Creates a temporary file beside `target`, which the user calls `path`.
static Error createTemporary(StringRef target, StringRef path, int &descriptor,
                             SmallVectorImpl<char> &name) {
  SmallString<128> model(target);
  model += ".tmp-%%%%%%%%";
  if (std::error_code code =
          sys::fs::createUniqueFile(model, descriptor, name, sys::fs::OF_None,
                                    sys::fs::all_read | sys::fs::owner_write))
    return makeError(("'" + path + "'").str(), code);
  sys::RemoveFileOnSignal(StringRef(name.data(), name.size()));
  return Error::success();
}

Error cwm::createBeside(StringRef path, int &descriptor,
                        SmallVectorImpl<char> &name) {
  Expected<std::string> target = followLinks(path);
  if (!target)
    return target.takeError();
  return createTemporary(*target, path, descriptor, name);
}

std::error_code cwm::removeTemporary(StringRef name) {
  std::error_code code = sys::fs::remove(name);
  sys::DontRemoveFileOnSignal(name);
  return code;
}

static Error writeToStdout(StringRef text) {
  outs() << text;
  outs().flush();
  std::error_code code = outs().error();
  if (!code)
    return Error::success();
  // Or LLVM ends the process with words of its own.
  outs().clear_error();
  return makeError("to stdout", code);
}

Error cwm::writeFile(StringRef path, StringRef text) {
  if (path == "-")
    return writeToStdout(text);
  Expected<std::string> target = followLinks(path);
  if (!target)
    return target.takeError();
  // The new file would take the place of a device or a pipe.
  sys::fs::file_status status;
  if (!sys::fs::status(*target, status) && !sys::fs::is_regular_file(status) &&
      !sys::fs::is_directory(status))
    return createStringError("cannot write '" + path +
                             "': it is not a regular file");
  int descriptor = -1;
  SmallString<128> name;
  if (Error error = createTemporary(*target, path, descriptor, name))
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
    code = sys::fs::rename(name, *target);
  if (!code) {
    sys::DontRemoveFileOnSignal(name);
    return Error::success();
  }
  (void)removeTemporary(name);
  return makeError(("'" + path + "'").str(), code);
}
