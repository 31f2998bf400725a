//===- RobertaImport.cpp - RoBERTa and CodeBERT from their files -*-C++-*--===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/RobertaImport.h"

#include "cwm/Support/Nesting.h"
#include "cwm/Support/ReadFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace cwm {

/// Longer windows cost more than they tell: attention is quadratic.
static constexpr int64_t maxWindow = 1024;
/// No size of a real encoder is near it.
static constexpr int64_t maxSize = 1 << 24;

namespace {
/// An integer field; what Hugging Face's files always have has no default.
struct Field {
  StringLiteral name;
  int64_t EncoderConfig::*member;
  int64_t low;
  bool required;
};
} // namespace

static constexpr Field fields[] = {
    {"vocab_size", &EncoderConfig::vocabSize, 5, true},
    {"hidden_size", &EncoderConfig::hiddenSize, 1, true},
    {"num_hidden_layers", &EncoderConfig::numLayers, 1, true},
    {"num_attention_heads", &EncoderConfig::numHeads, 1, true},
    {"intermediate_size", &EncoderConfig::intermediateSize, 1, true},
    {"max_position_embeddings", &EncoderConfig::maxPositions, 8, true},
    {"type_vocab_size", &EncoderConfig::typeVocabSize, 1, true},
    {"pad_token_id", &EncoderConfig::padTokenId, 0, false},
};

static Error readField(const json::Object &json, const Field &field,
                       EncoderConfig &config) {
  const json::Value *value = json.get(field.name);
  if (!value)
    return field.required
               ? createStringError("field '" + field.name + "' is missing")
               : Error::success();
  std::optional<int64_t> number = value->getAsInteger();
  if (!number || *number < field.low || *number > maxSize)
    return createStringError("field '" + field.name + "' is " +
                             formatv("{0}", *value).str() +
                             ", expected an integer from " + Twine(field.low) +
                             " to " + Twine(maxSize));
  config.*field.member = *number;
  return Error::success();
}

static Expected<EncoderConfig> parseConfig(const json::Object &json) {
  // Each has this value where it is absent.
  for (auto [name, expected] :
       {std::pair("model_type", "roberta"), std::pair("hidden_act", "gelu"),
        std::pair("position_embedding_type", "absolute")})
    if (const json::Value *value = json.get(name);
        value && value->getAsString() != expected)
      return createStringError(Twine("field '") + name + "' is " +
                               formatv("{0}", *value).str() + ", expected \"" +
                               expected + "\"");
  EncoderConfig config;
  for (const Field &field : fields)
    if (Error error = readField(json, field, config))
      return error;
  if (const json::Value *value = json.get("layer_norm_eps")) {
    std::optional<double> number = value->getAsNumber();
    if (!number || *number <= 0 || *number > 1)
      return createStringError("field 'layer_norm_eps' is " +
                               formatv("{0}", *value).str() +
                               ", expected a number above 0 and at most 1");
    config.layerNormEps = *number;
  }
  if (config.hiddenSize % config.numHeads != 0)
    return createStringError("field 'hidden_size' is " +
                             Twine(config.hiddenSize) +
                             ", expected a multiple of num_attention_heads, " +
                             Twine(config.numHeads));
  // RoBERTa's positions begin behind the padding token's.
  const int64_t positions = config.maxPositions - config.padTokenId - 1;
  if (positions < 4)
    return createStringError("field 'max_position_embeddings' is " +
                             Twine(config.maxPositions) +
                             ", expected at least pad_token_id + 5");
  config.windowTokens = std::min(maxWindow, positions);
  config.windowStride = config.windowTokens / 2;
  return config;
}

Expected<EncoderConfig> readRobertaConfig(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readInput(path);
  if (!buffer)
    return buffer.takeError();
  auto fail = [&](Error reason) {
    return createStringError("cannot import '" + path +
                             "': " + toString(std::move(reason)));
  };
  Expected<json::Value> value = parseJSON((*buffer)->getBuffer());
  if (!value)
    return fail(value.takeError());
  const json::Object *object = value->getAsObject();
  if (!object)
    return fail(createStringError("not a JSON object"));
  Expected<EncoderConfig> config = parseConfig(*object);
  if (!config)
    return fail(config.takeError());
  return config;
}

Expected<std::string> readRobertaTokenizer(StringRef folder) {
  auto path = [&](StringRef name) {
    SmallString<256> path(folder);
    sys::path::append(path, name);
    return path.str().str();
  };
  if (!sys::fs::exists(path("tokenizer.json")) &&
      sys::fs::exists(path("vocab.json")))
    return importTokenizer(path("vocab.json"), path("merges.txt"));
  Expected<std::unique_ptr<MemoryBuffer>> buffer =
      readInput(path("tokenizer.json"));
  if (!buffer)
    return buffer.takeError();
  return (*buffer)->getBuffer().str();
}

} // namespace cwm
