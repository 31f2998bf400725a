//===- TokenizerImport.cpp - Tokenizers of older models ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/Tokenizer.h"

#include "cwm/Support/Nesting.h"
#include "cwm/Support/ReadFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

static Error makeError(StringRef path, const Twine &reason) {
  return createStringError("cannot read '" + path + "': " + reason);
}

/// The lines of merges.txt: two tokens each, behind a line that says which
/// version the file has.
static Expected<json::Array> readMerges(StringRef path) {
  auto buffer = cwm::readOwnFile(path);
  if (!buffer)
    return buffer.takeError();
  SmallVector<StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  json::Array merges;
  for (const auto &[index, line] : enumerate(lines)) {
    line = line.rtrim('\r');
    if (line.empty() || (index == 0 && line.starts_with("#version")))
      continue;
    auto [left, right] = line.split(' ');
    if (left.empty() || right.empty() || right.contains(' ') ||
        !json::isUTF8(line))
      return makeError(path,
                       "line " + Twine(index + 1) + " is not a pair of tokens");
    merges.push_back(json::Array{left.str(), right.str()}); // the buffer ends
  }
  return std::move(merges);
}

/// Tokens that stand for no text, in all vocabularies of this kind that are in
/// use. `<mask>` takes the space before it: it stands for a word with its
/// space.
static json::Array makeAddedTokens(const json::Object &vocabulary) {
  json::Array tokens;
  for (StringRef token :
       {"<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>"})
    if (std::optional<int64_t> id = vocabulary.getInteger(token))
      tokens.push_back(json::Object{{"id", *id},
                                    {"content", token},
                                    {"single_word", false},
                                    {"lstrip", token == "<mask>"},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", true}});
  return tokens;
}

Expected<std::string> cwm::importTokenizer(StringRef vocabularyPath,
                                           StringRef mergesPath) {
  auto buffer = readOwnFile(vocabularyPath);
  if (!buffer)
    return buffer.takeError();
  Expected<json::Value> vocabulary = parseJSON((*buffer)->getBuffer());
  if (!vocabulary)
    return makeError(vocabularyPath, toString(vocabulary.takeError()));
  if (!vocabulary->getAsObject())
    return makeError(vocabularyPath, "it is no JSON object");
  Expected<json::Array> merges = readMerges(mergesPath);
  if (!merges)
    return merges.takeError();

  json::Array addedTokens = makeAddedTokens(*vocabulary->getAsObject());
  json::Object byteLevel{{"type", "ByteLevel"},
                         {"add_prefix_space", false},
                         {"trim_offsets", true},
                         {"use_regex", true}};
  json::Value root = json::Object{
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", std::move(addedTokens)},
      {"normalizer", nullptr},
      {"pre_tokenizer", json::Object(byteLevel)},
      {"post_processor", nullptr},
      {"decoder", std::move(byteLevel)},
      {"model", json::Object{{"type", "BPE"},
                             {"dropout", nullptr},
                             {"unk_token", nullptr},
                             {"continuing_subword_prefix", nullptr},
                             {"end_of_word_suffix", nullptr},
                             {"fuse_unk", false},
                             {"byte_fallback", false},
                             {"ignore_merges", false},
                             {"vocab", std::move(*vocabulary)},
                             {"merges", std::move(*merges)}}}};
  std::string text = formatv("{0}", root).str();
  // What is wrong with the vocabulary or the merges is better said now.
  Expected<Tokenizer> tokenizer = Tokenizer::parse(text);
  if (!tokenizer)
    return createStringError(
        "'" + vocabularyPath + "' and '" + mergesPath +
        "' are no tokenizer: " + toString(tokenizer.takeError()));
  return text;
}
