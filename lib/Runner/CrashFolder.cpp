//===- CrashFolder.cpp - What reproduces a crash ----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CrashFolder.h"

#include "cwm/Support/WriteFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace cwm {

CrashFolder::CrashFolder(StringRef workDir, std::string payload,
                         std::string workload, std::string runner,
                         std::string flags)
    : payload(std::move(payload)), workload(std::move(workload)),
      runner(std::move(runner)), flags(std::move(flags)) {
  SmallString<256> path(workDir);
  sys::path::append(path, "crashes");
  (void)sys::fs::make_absolute(path); // stays relative if it has to
  folder = path.str().str();
}

/// Writes `text` unless the file exists: names are made of content.
static Error writeOnce(StringRef path, StringRef text) {
  return sys::fs::exists(path) ? Error::success() : writeFile(path, text);
}

Expected<std::string> CrashFolder::add(StringRef script) {
  if (std::error_code code = sys::fs::create_directories(folder))
    return createStringError(code, "cannot create '" + folder +
                                       "': " + describeWriteError(code));
  std::string payloadPath = folder + "/payload-" + workload + ".mlir";
  std::string scriptPath = folder + "/script-" +
                           utohexstr(xxh3_64bits(script), /*LowerCase=*/true) +
                           ".mlir";
  if (Error error = writeOnce(payloadPath, payload))
    return std::move(error);
  if (Error error = writeOnce(scriptPath, script))
    return std::move(error);
  std::string command;
  raw_string_ostream out(command);
  sys::printArg(out, runner, /*Quote=*/false);
  out << ' ';
  sys::printArg(out, "--payload=" + payloadPath, /*Quote=*/false);
  out << ' ';
  sys::printArg(out, "--script=" + scriptPath, /*Quote=*/false);
  out << ' ' << flags;
  return command;
}

} // namespace cwm
