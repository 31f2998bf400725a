//===- cwm-model-test-tool.cpp - Model files, for Python tests --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/ModelDirectory.h"
#include "cwm/Support/ReadFile.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace cwm;

/// Reads JSON strings from stdin, one a line; writes their ids and what these
/// decode to.
static Error tokenize(StringRef path) {
  Expected<Tokenizer> tokenizer = Tokenizer::load(path);
  if (!tokenizer)
    return tokenizer.takeError();
  Expected<std::unique_ptr<MemoryBuffer>> input = readInput("-");
  if (!input)
    return input.takeError();
  SmallVector<StringRef> lines;
  (*input)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    Expected<json::Value> text = json::parse(line);
    if (!text)
      return text.takeError();
    std::vector<int32_t> ids = tokenizer->encode(*text->getAsString());
    outs() << json::Value(json::Object{{"ids", json::Array(ids)},
                                       {"text", tokenizer->decode(ids)}})
           << '\n';
  }
  return Error::success();
}

static Error import(StringRef vocabulary, StringRef merges) {
  Expected<std::string> text = importTokenizer(vocabulary, merges);
  if (!text)
    return text.takeError();
  outs() << *text;
  return Error::success();
}

static Error copyTensors(StringRef from, StringRef to) {
  Expected<SafeTensors> file = SafeTensors::open(from);
  if (!file)
    return file.takeError();
  TensorsToWrite copy;
  copy.tensors.insert(file->getTensors().begin(), file->getTensors().end());
  copy.metadata.insert(file->getMetadata().begin(), file->getMetadata().end());
  return writeSafeTensors(to, copy);
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  std::vector<StringRef> arguments(argv + 1, argv + argc);
  StringRef command = arguments.empty() ? "" : arguments[0];
  Error error = Error::success();
  cantFail(std::move(error));
  if (command == "tokenize" && arguments.size() == 2)
    error = tokenize(arguments[1]);
  else if (command == "import" && arguments.size() == 3)
    error = import(arguments[1], arguments[2]);
  else if (command == "copy-tensors" && arguments.size() == 3)
    error = copyTensors(arguments[1], arguments[2]);
  else
    error = createStringError("unknown command");
  if (!error)
    return 0;
  errs() << "error: " << toString(std::move(error)) << '\n';
  return 1;
}
