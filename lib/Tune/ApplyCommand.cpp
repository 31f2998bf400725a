//===- ApplyCommand.cpp - How to apply a result with stock tools *- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Tune/ApplyCommand.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace llvm;

/// `text` between single quotes, in which a shell changes nothing; a quote in
/// it is written outside of them.
static std::string quoteSingle(StringRef text) {
  std::string quoted = "'";
  for (char c : text)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string cwm::quoteForShell(StringRef text) {
  auto isSafe = [](char c) {
    return isAlnum(c) || StringRef("_-./,:+@%=").contains(c);
  };
  if (!text.empty() && all_of(text, isSafe))
    return text.str();
  bool isText = json::isUTF8(text) && none_of(text, [](unsigned char c) {
                  return c < 0x20 || c == 0x7f;
                });
  if (isText)
    return quoteSingle(text);
  std::string quoted = "$'";
  for (char c : text) {
    if (isSafe(c) || c == ' ')
      quoted += c;
    else
      quoted += "\\x" + toHex(StringRef(&c, 1), /*LowerCase=*/true);
  }
  return quoted + "'";
}

std::string cwm::quoteForPipeline(StringRef resultFile) {
  // MLIR 22.1 splits such values at commas even in quotes, counts braces, trims
  // spaces, and takes what is in quotes up to the next quote of the kind.
  bool isImpossible =
      resultFile.empty() || resultFile == "-" || !json::isUTF8(resultFile) ||
      resultFile.trim() != resultFile ||
      any_of(resultFile, [](unsigned char c) {
        return c < 0x20 || c == 0x7f || StringRef(",{}").contains(char(c));
      });
  bool hasSingle = resultFile.contains('\''),
       hasDouble = resultFile.contains('"');
  if (isImpossible || (hasSingle && hasDouble))
    return resultPlaceholder.str();
  if (!hasSingle && !hasDouble && !resultFile.contains(' '))
    return resultFile.str();
  char quote = hasDouble ? '\'' : '"';
  return quote + resultFile.str() + quote;
}

StringRef cwm::getMlirOptName() { return CWM_MLIR_OPT; }

std::string cwm::findPlugin() {
  StringRef name = "CwmPlugin.so";
  std::string executable = sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&cwm::findPlugin));
  SmallString<256> path(
      sys::path::parent_path(sys::path::parent_path(executable)));
  sys::path::append(path, "lib", name);
  return sys::fs::exists(path) ? path.str().str() : name.str();
}

std::string cwm::getApplyCommand(StringRef payloadFile, StringRef resultFile,
                                 StringRef plugin) {
  // A name that looks like a flag.
  std::string payload = payloadFile.str();
  if (payloadFile.starts_with("-") && payloadFile != "-")
    payload.insert(0, "./");
  std::string pipeline =
      formatv("builtin.module(transform-preload-library{{"
              "transform-library-paths={0}},transform-interpreter)",
              quoteForPipeline(resultFile));
  std::string load;
  if (!plugin.empty()) {
    std::string quoted = quoteForShell(plugin);
    load = "--load-dialect-plugin=" + quoted + " --load-pass-plugin=" + quoted +
           " ";
  }
  return (getMlirOptName() + " " + load).str() + quoteForShell(payload) +
         " --pass-pipeline=" + quoteSingle(pipeline);
}
