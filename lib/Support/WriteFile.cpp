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
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
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

Error cwm::createBeside(StringRef path, int &descriptor,
                        SmallVectorImpl<char> &name) {
  SmallString<128> model(path);
  model += ".tmp-%%%%%%%%";
  if (std::error_code code =
          sys::fs::createUniqueFile(model, descriptor, name, sys::fs::OF_None,
                                    sys::fs::all_read | sys::fs::owner_write))
    return makeError(("'" + path + "'").str(), code);
  sys::RemoveFileOnSignal(StringRef(name.data(), name.size()));
  return Error::success();
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
  if (!code) {
    sys::DontRemoveFileOnSignal(name);
    return Error::success();
  }
  (void)removeTemporary(name);
  return makeError(("'" + path + "'").str(), code);
}
