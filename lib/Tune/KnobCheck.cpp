//===- KnobCheck.cpp - cwm-tune --check-knobs ----------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KnobCheck.h"

#include "cwm/Support/WriteFile.h"
#include "cwm/Tune/ApplyCommand.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

static Error makeError(const Twine &message, std::error_code code) {
  return createStringError(code,
                           message + ": " + cwm::describeWriteError(code));
}

Expected<std::string> cwm::runKnobCheck(const Payload &payload,
                                        StringRef schedule, StringRef hardware,
                                        int64_t threads) {
  std::string self = sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&cwm::runKnobCheck));
  SmallString<128> program(sys::path::parent_path(self));
  sys::path::append(program, "cwm-opt");
  SmallString<128> file, output;
  int descriptor = -1;
  std::error_code code =
      sys::fs::createTemporaryFile("cwm-payload", "mlir", descriptor, file);
  if (!code)
    code = sys::fs::createTemporaryFile("cwm-check", "txt", output);
  FileRemover removeFile(file), removeOutput(output);
  if (code)
    return makeError("cannot write a temporary file", code);
  {
    raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << payload.getModule();
    stream.close();
    code = stream.error();
    stream.clear_error();
    if (code)
      return makeError("cannot write '" + file + "'", code);
  }
  std::string pass = "--cwm-check-knobs";
  const char *separator = "=";
  for (const auto &[name, value] :
       {std::pair("schedule=", schedule.str()),
        std::pair("hardware=", hardware.str()),
        std::pair("threads=", threads > 1 ? std::to_string(threads) : "")}) {
    if (value.empty())
      continue;
    pass += separator;
    pass += name + quoteForPipeline(value);
    separator = " ";
  }
  std::string message;
  // What it prints passes through us: its words for a full disk are LLVM's.
  int status = sys::ExecuteAndWait(
      program, {program, file, pass, "-o", "/dev/null"}, std::nullopt,
      {std::nullopt, StringRef(output), std::nullopt}, 0, 0, &message);
  if (status != 0)
    return createStringError(
        "cwm-opt " + pass +
        (status < 0 ? " crashed: " + message
                    : " failed with status " + std::to_string(status)));
  auto printed = MemoryBuffer::getFile(output);
  if (!printed)
    return makeError("cannot read '" + output + "'", printed.getError());
  return (*printed)->getBuffer().str();
}
