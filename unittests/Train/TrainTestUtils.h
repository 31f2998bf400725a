//===- TrainTestUtils.h - Data and a tokenizer for tests ------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_UNITTESTS_TRAIN_TRAINTESTUTILS_H
#define CWM_UNITTESTS_TRAIN_TRAINTESTUTILS_H

#include "cwm/Model/Tokenizer.h"
#include "cwm/Train/EncoderData.h"

#include "llvm/Support/FormatVariadic.h"

namespace cwm {

/// The character of a byte in byte-level vocabularies: itself where it is
/// printable, else one from U+0100 on.
inline std::string spellByte(unsigned byte) {
  auto isPlain = [](unsigned value) {
    return (value >= '!' && value <= '~') || (value >= 0xa1 && value != 0xad);
  };
  unsigned code = byte;
  if (!isPlain(byte)) {
    code = 256;
    for (unsigned other = 0; other < byte; ++other)
      code += !isPlain(other);
  }
  if (code < 0x80)
    return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xc0 | code >> 6),
          static_cast<char>(0x80 | (code & 0x3f))};
}

/// One token a byte: byte b has the id b + 5.
inline Tokenizer makeByteTokenizer() {
  llvm::json::Object vocabulary;
  llvm::json::Array added;
  int64_t id = 0;
  for (llvm::StringRef token : {"<s>", "<pad>", "</s>", "<unk>", "<mask>"}) {
    added.push_back(
        llvm::json::Object{{"id", id}, {"content", token}, {"special", true}});
    vocabulary[token] = id++;
  }
  for (unsigned byte = 0; byte < 256; ++byte)
    vocabulary[spellByte(byte)] = id++;
  llvm::json::Object file{
      {"added_tokens", std::move(added)},
      {"pre_tokenizer",
       llvm::json::Object{{"type", "ByteLevel"}, {"add_prefix_space", false}}},
      {"model", llvm::json::Object{{"type", "BPE"},
                                   {"vocab", std::move(vocabulary)},
                                   {"merges", llvm::json::Array{}}}}};
  return llvm::cantFail(Tokenizer::parse(
      llvm::formatv("{0}", llvm::json::Value(std::move(file))).str()));
}

/// `workloads` workloads with a file of `texts` texts each.
inline EncoderData makeData(size_t workloads, size_t texts) {
  EncoderData data;
  for (size_t i = 0; i < workloads; ++i) {
    EncoderFile file{"f" + std::to_string(i), "w" + std::to_string(i), {}};
    for (size_t j = 0; j < texts; ++j)
      file.texts.push_back(
          {"%0 = op" + std::to_string(i) + " %1 : t" + std::to_string(j), {}});
    data.files.push_back(std::move(file));
  }
  return data;
}

} // namespace cwm

#endif // CWM_UNITTESTS_TRAIN_TRAINTESTUTILS_H
