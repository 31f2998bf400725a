//===- ModelDirectory.h - What belongs to one model -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_MODELDIRECTORY_H
#define CWM_MODEL_MODELDIRECTORY_H

#include "cwm/Model/RankerConfig.h"
#include "cwm/Model/SafeTensors.h"
#include "cwm/Model/Tokenizer.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <cstdint>
#include <map>
#include <string>

namespace cwm {

/// Sizes of the encoder. In config.json they have the names of Hugging Face's
/// RobertaConfig (`hidden_size`, `num_hidden_layers`, ...), given here where
/// they differ.
struct EncoderConfig {
  int64_t vocabSize = 0;          ///< vocab_size: rows of the embedding
  int64_t hiddenSize = 128;       ///< hidden_size
  int64_t numLayers = 2;          ///< num_hidden_layers
  int64_t numHeads = 4;           ///< num_attention_heads
  int64_t intermediateSize = 512; ///< intermediate_size
  int64_t maxPositions = 1026;    ///< max_position_embeddings
  int64_t typeVocabSize = 1;      ///< type_vocab_size
  int64_t padTokenId = 1;         ///< pad_token_id
  double layerNormEps = 1e-5;     ///< layer_norm_eps
  /// Tokens of a window, <s> and </s> included: at most maxPositions -
  /// padTokenId - 1, where RoBERTa's positions end.
  int64_t windowTokens = 1024; ///< window_tokens
  /// Tokens from one window's beginning to the next's.
  int64_t windowStride = 512; ///< window_stride
};

/// config.json.
struct ModelConfig {
  /// What this build reads and writes.
  static constexpr int64_t formatVersion = 1;

  /// For which machines: HardwareDescription::getTargetKey() or a family.
  std::string target;
  /// getToolchainVersion() of what made the training data.
  std::string toolchain;
  /// Layout of phi that the ranker was trained on; see Model/Features.h.
  int64_t featureVersion = 0;
  /// Length d of a latent state; 0 while there is no encoder.
  int64_t dim = 0;
  EncoderConfig encoder;
  /// What the ranker sees; absent while there is none.
  std::optional<RankerConfig> ranker;
  /// What a stage of training wants to remember, by stage ("encoder",
  /// "transition", "ranker"): seeds, splits, metrics. Kept, not interpreted.
  llvm::json::Object training;
};

/// A folder with config.json and some of the other files. config.json names
/// each of them with its size and SHA-256, so that files of two models are
/// never mixed.
class ModelDirectory {
public:
  static constexpr llvm::StringLiteral configFile = "config.json";
  static constexpr llvm::StringLiteral tokenizerFile = "tokenizer.json";
  static constexpr llvm::StringLiteral encoderFile = "encoder.safetensors";
  static constexpr llvm::StringLiteral transitionFile =
      "transition.safetensors";
  static constexpr llvm::StringLiteral rankerFile = "ranker.ubj";

  /// Reads config.json and checks every file that it names. Each kind of damage
  /// has one message, which names the file, what was found and what was
  /// expected: no folder, no config.json, not a config.json, another format
  /// version, a size that is missing or impossible, a file that is missing, of
  /// another length or of other contents, a tokenizer of another vocabulary
  /// than the encoder's.
  static llvm::Expected<ModelDirectory> load(llvm::StringRef path);

  llvm::StringRef getPath() const { return path; }
  const ModelConfig &getConfig() const { return config; }

  /// Whether config.json names this file. Training makes one after the other.
  bool has(llvm::StringRef name) const { return files.count(name.str()) != 0; }
  /// The path of a file that config.json names; an error that says which stage
  /// of training makes it if it names none.
  llvm::Expected<std::string> getFile(llvm::StringRef name) const;

  llvm::Expected<Tokenizer> loadTokenizer() const;
  /// `name`: encoderFile or transitionFile.
  llvm::Expected<SafeTensors> loadTensors(llvm::StringRef name) const;

  /// Writes config.json for the model files that are in the folder now, after
  /// checking that they fit each other as load() does. Write the files first:
  /// config.json is replaced last and in one step, and until then load() finds
  /// either the old model or says that a file was changed.
  static llvm::Error write(llvm::StringRef path, const ModelConfig &config);

private:
  struct File {
    uint64_t size = 0;
    std::string sha256;
  };
  class Reader;

  std::string path;
  ModelConfig config;
  std::map<std::string, File> files;
};

/// Lower-case hex of the SHA-256 of `data`.
std::string computeSHA256(llvm::StringRef data);

} // namespace cwm

#endif // CWM_MODEL_MODELDIRECTORY_H
