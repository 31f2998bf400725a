//===- ModelConfig.cpp - config.json of a model -----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelConfig.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace llvm;

namespace cwm {

/// What every config.json of ours has, so that one of somebody else (Hugging
/// Face's have the same name) is told apart.
static constexpr StringLiteral formatName = "cwm-model";

/// A bound on all sizes: beyond it products of two overflow nothing, and no
/// machine has the memory.
static constexpr int64_t maxSize = 1 << 24;

namespace {
struct SizeField {
  StringLiteral name;
  int64_t EncoderConfig::*member;
  int64_t minimum;
};
} // namespace

static constexpr SizeField encoderFields[] = {
    {"vocab_size", &EncoderConfig::vocabSize, 1},
    {"hidden_size", &EncoderConfig::hiddenSize, 1},
    {"num_hidden_layers", &EncoderConfig::numLayers, 1},
    {"num_attention_heads", &EncoderConfig::numHeads, 1},
    {"intermediate_size", &EncoderConfig::intermediateSize, 1},
    {"max_position_embeddings", &EncoderConfig::maxPositions, 1},
    {"type_vocab_size", &EncoderConfig::typeVocabSize, 1},
    {"pad_token_id", &EncoderConfig::padTokenId, 0},
    {"window_tokens", &EncoderConfig::windowTokens, 3},
    {"window_stride", &EncoderConfig::windowStride, 1},
};

static Error makeRangeError(StringRef name, int64_t found, int64_t minimum,
                            int64_t maximum) {
  return createStringError("has " + name + " " + Twine(found) + ", expected " +
                           Twine(minimum) + " to " + Twine(maximum));
}

static Error readSize(const json::Object &object, StringRef name,
                      int64_t minimum, int64_t maximum, int64_t &value) {
  std::optional<int64_t> found = object.getInteger(name);
  if (!found)
    return createStringError("lacks the integer '" + name + "'");
  if (*found < minimum || *found > maximum)
    return makeRangeError(name, *found, minimum, maximum);
  value = *found;
  return Error::success();
}

static Error readText(const json::Object &object, StringRef name,
                      std::string &text) {
  std::optional<StringRef> found = object.getString(name);
  if (!found)
    return createStringError("lacks the text '" + name + "'");
  text = found->str();
  return Error::success();
}

static Error readEncoder(const json::Object &object, EncoderConfig &encoder) {
  for (const SizeField &field : encoderFields)
    if (Error error = readSize(object, field.name, field.minimum, maxSize,
                               encoder.*field.member))
      return error;
  std::optional<double> epsilon = object.getNumber("layer_norm_eps");
  if (!epsilon || !std::isfinite(*epsilon) || *epsilon <= 0)
    return createStringError("lacks a positive 'layer_norm_eps'");
  encoder.layerNormEps = *epsilon;
  if (encoder.hiddenSize % encoder.numHeads != 0)
    return createStringError("has hidden_size " + Twine(encoder.hiddenSize) +
                             ", expected a multiple of num_attention_heads " +
                             Twine(encoder.numHeads));
  if (encoder.padTokenId >= encoder.vocabSize)
    return makeRangeError("pad_token_id", encoder.padTokenId, 0,
                          encoder.vocabSize - 1);
  // RoBERTa's positions begin behind the padding's.
  int64_t positions = encoder.maxPositions - encoder.padTokenId - 1;
  if (encoder.windowTokens > positions)
    return makeRangeError("window_tokens", encoder.windowTokens, 3, positions);
  // Of a window, two tokens are <s> and </s>; a larger stride would skip text.
  if (encoder.windowStride > encoder.windowTokens - 2)
    return makeRangeError("window_stride", encoder.windowStride, 1,
                          encoder.windowTokens - 2);
  return Error::success();
}

static Error readRanker(const json::Object &object, RankerConfig &ranker) {
  std::string state;
  if (Error error = readText(object, "state", state))
    return error;
  std::optional<RankerState> known = symbolizeRankerState(state);
  if (!known)
    return createStringError("has the state '" + state + "', known are: " +
                             join(getRankerStateNames(), ", "));
  ranker.state = *known;
  std::optional<bool> actions = object.getBoolean("actions");
  if (!actions)
    return createStringError("lacks the boolean 'actions'");
  ranker.actions = *actions;
  if (Error error = readSize(object, "hardware", 0, maxSize, ranker.hardware))
    return error;
  return readText(object, "objective", ranker.objective);
}

Error readModelConfig(const json::Object &root, ModelConfig &config) {
  if (root.getString("format") != StringRef(formatName))
    return createStringError("does not say that it is of a model of cwm: "
                             "expected 'format' \"" +
                             formatName + "\"");
  int64_t version = 0;
  if (Error error = readSize(root, "format_version", 0, maxSize, version))
    return error;
  if (version != ModelConfig::formatVersion)
    return createStringError("has format_version " + Twine(version) +
                             ", this build reads " +
                             Twine(ModelConfig::formatVersion) +
                             ": train the model again, or use another release");
  if (Error error = readText(root, "target", config.target))
    return error;
  if (Error error = readText(root, "toolchain", config.toolchain))
    return error;
  if (Error error =
          readSize(root, "feature_version", 0, maxSize, config.featureVersion))
    return error;
  if (Error error = readSize(root, "dim", 0, maxSize, config.dim))
    return error;
  if (const json::Value *encoder = root.get("encoder")) {
    if (!encoder->getAsObject())
      return createStringError("has an 'encoder' that is no object");
    if (Error error = readEncoder(*encoder->getAsObject(), config.encoder))
      return createStringError("has an 'encoder' that " +
                               toString(std::move(error)));
  }
  if (const json::Value *ranker = root.get("ranker")) {
    if (!ranker->getAsObject())
      return createStringError("has a 'ranker' that is no object");
    if (Error error =
            readRanker(*ranker->getAsObject(), config.ranker.emplace()))
      return createStringError("has a 'ranker' that " +
                               toString(std::move(error)));
  }
  if (const json::Value *training = root.get("training")) {
    if (!training->getAsObject())
      return createStringError("has a 'training' that is no object");
    config.training = *training->getAsObject();
  }
  return Error::success();
}

json::Object writeModelConfig(const ModelConfig &config) {
  json::Object root{{"format", formatName},
                    {"format_version", ModelConfig::formatVersion},
                    {"target", json::fixUTF8(config.target)},
                    {"toolchain", json::fixUTF8(config.toolchain)},
                    {"feature_version", config.featureVersion},
                    {"dim", config.dim}};
  if (!config.training.empty())
    root["training"] = json::Object(config.training);
  if (config.ranker)
    root["ranker"] =
        json::Object{{"state", stringifyRankerState(config.ranker->state)},
                     {"actions", config.ranker->actions},
                     {"hardware", config.ranker->hardware},
                     {"objective", json::fixUTF8(config.ranker->objective)}};
  if (config.encoder.vocabSize != 0) {
    json::Object encoder{{"layer_norm_eps", config.encoder.layerNormEps}};
    for (const SizeField &field : encoderFields)
      encoder[field.name] = config.encoder.*field.member;
    root["encoder"] = std::move(encoder);
  }
  return root;
}

} // namespace cwm
