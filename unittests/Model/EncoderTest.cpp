//===- EncoderTest.cpp - E against transformers, and its files - -*- C++-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/Encoder.h"

#include "cwm/Model/RobertaImport.h"
#include "cwm/Model/TorchConfig.inc"
#include "cwm/Model/TorchEncoder.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace llvm;
using namespace cwm;
using testing::HasSubstr;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

TEST(TokenWindows, ShortTextsAreOneWindow) {
  for (int64_t length : {0, 1, 6}) {
    std::vector<TokenWindow> windows = cutWindows(length, 8, 4);
    ASSERT_EQ(windows.size(), 1U);
    EXPECT_EQ(windows[0].begin, 0);
    EXPECT_EQ(windows[0].length, length);
    EXPECT_EQ(windows[0].weight, 1);
  }
}

TEST(TokenWindows, EachTokenCountsOnce) {
  for (int64_t window : {3, 4, 8, 9, 64})
    for (int64_t stride : {1, 3, 4, 100})
      for (int64_t length : {7, 8, 9, 10, 63, 64, 200}) {
        std::vector<TokenWindow> windows = cutWindows(length, window, stride);
        std::vector<int> cover(length, 0);
        for (const TokenWindow &each : windows) {
          ASSERT_LE(each.length, window - 2);
          ASSERT_LE(each.begin + each.length, length);
          for (int64_t i = 0; i < each.length; ++i)
            ++cover[each.begin + i];
        }
        double sum = 0;
        for (const TokenWindow &each : windows) {
          double share = 0;
          for (int64_t i = 0; i < each.length; ++i) {
            ASSERT_GT(cover[each.begin + i], 0);
            share += 1.0 / cover[each.begin + i];
          }
          EXPECT_NEAR(each.weight, share / static_cast<double>(length), 1e-6);
          sum += each.weight;
        }
        EXPECT_NEAR(sum, 1, 1e-5);
        EXPECT_EQ(llvm::count(cover, 0), 0);
      }
}

TEST(TokenWindows, HalfOfAWindowIsShared) {
  std::vector<TokenWindow> windows = cutWindows(20, 10, 4);
  ASSERT_EQ(windows.size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(windows[i].begin, static_cast<int64_t>(4 * i));
    EXPECT_EQ(windows[i].length, 8);
  }
  // Four tokens alone and four of two windows; four times two of two.
  EXPECT_FLOAT_EQ(windows[0].weight, 6.0F / 20);
  EXPECT_FLOAT_EQ(windows[1].weight, 4.0F / 20);
}

TEST(TokenWindows, BatchesHaveSpecialTokens) {
  TokenBatch batch;
  batch.add({10, 11, 12}, {1, 2, 0.5F}, 0, 7);
  batch.add({}, {0, 0, 1}, 1, 8);
  CwmTokenBatch view = batch.get();
  ASSERT_EQ(view.rows, 2);
  ASSERT_EQ(view.columns, 4);
  EXPECT_EQ(view.texts, 2);
  EXPECT_EQ(std::vector<int32_t>(view.ids, view.ids + 4),
            (std::vector<int32_t>{0, 11, 12, 2}));
  EXPECT_EQ(view.ids[4], 0);
  EXPECT_EQ(view.ids[5], 2);
  EXPECT_EQ(view.lengths[0], 4);
  EXPECT_EQ(view.lengths[1], 2);
  EXPECT_EQ(view.weights[0], 0.5F);
  EXPECT_EQ(view.rowSeeds[1], 8U);
}

//===----------------------------------------------------------------------===//
// The network
//===----------------------------------------------------------------------===//

static std::string input(StringRef name) {
  SmallString<256> path(CWM_TEST_INPUTS);
  sys::path::append(path, "roberta", name);
  return path.str().str();
}

namespace {
class EncoderTest : public testing::Test {
protected:
  void SetUp() override {
    if (!CWM_ENABLE_TORCH)
      GTEST_SKIP() << "built without libtorch";
  }
  static TorchEncoder makeImported() {
    EncoderConfig config = cantFail(readRobertaConfig(input("config.json")));
    TorchEncoder encoder = cantFail(TorchEncoder::create(config, 8, 3));
    SafeTensors file = cantFail(SafeTensors::open(input("model.safetensors")));
    cantFail(encoder.loadWeights(file, /*isImport=*/true));
    return encoder;
  }
  /// The file's tensors in a file of their own, as `change` leaves them.
  static std::string
  rewrite(function_ref<void(std::map<std::string, TensorView> &)> change) {
    SafeTensors file = cantFail(SafeTensors::open(input("model.safetensors")));
    TensorsToWrite changed;
    for (const auto &[name, tensor] : file.getTensors())
      changed.tensors[name] = tensor;
    change(changed.tensors);
    SmallString<128> path;
    EXPECT_FALSE(sys::fs::createTemporaryFile("cwm", "safetensors", path));
    cantFail(writeSafeTensors(path, changed));
    return path.str().str();
  }
  static std::string loadError(const std::string &path) {
    TorchEncoder encoder = makeImported();
    SafeTensors file = cantFail(SafeTensors::open(path));
    Error error = encoder.loadWeights(file, /*isImport=*/true);
    sys::fs::remove(path);
    return error ? toString(std::move(error)) : "";
  }
};
} // namespace

/// Tokens that were drawn, in a batch as the fixture has them.
static CwmTokenBatch makeBatch(const SafeTensors &file,
                               std::vector<int32_t> &owner,
                               std::vector<float> &weights) {
  const TensorView *ids = file.find("ids");
  CwmTokenBatch batch = {};
  batch.rows = batch.texts = ids->shape[0];
  batch.columns = ids->shape[1];
  batch.ids = reinterpret_cast<const int32_t *>(ids->data.data());
  batch.lengths =
      reinterpret_cast<const int32_t *>(file.find("lengths")->data.data());
  for (int32_t i = 0; i < batch.rows; ++i)
    owner.push_back(i);
  weights.assign(batch.rows, 1);
  batch.owner = owner.data();
  batch.weights = weights.data();
  return batch;
}

TEST_F(EncoderTest, EqualsTransformers) {
  TorchEncoder encoder = makeImported();
  SafeTensors file = cantFail(SafeTensors::open(input("expected.safetensors")));
  std::vector<int32_t> owner;
  std::vector<float> weights;
  CwmTokenBatch batch = makeBatch(file, owner, weights);
  std::vector<float> expected =
      cantFail(file.getFloats("hidden", {batch.rows, batch.columns, 16}));
  std::vector<float> hidden(expected.size(), NAN);
  const TorchLibrary &library = encoder.getLibrary();
  cantFail(library.check(
      library->computeHidden(encoder.getHandle(), &batch, hidden.data()), ""));
  double largest = 0;
  for (size_t i = 0; i < hidden.size(); ++i) {
    ASSERT_NEAR(hidden[i], expected[i], 1e-5) << "at " << i;
    largest = std::max(largest, std::abs(double(expected[i])));
  }
  EXPECT_GT(largest, 0.5);
}

TEST_F(EncoderTest, LatentsDoNotDependOnTheBatch) {
  TorchEncoder encoder = makeImported();
  std::vector<std::vector<int32_t>> texts = {{7, 8, 9, 30}, {}, {12}};
  TokenBatch all;
  for (auto [index, text] : enumerate(texts))
    for (const TokenWindow &window :
         cutWindows(static_cast<int64_t>(text.size()), 5, 2))
      all.add(text, window, static_cast<int32_t>(index));
  EXPECT_EQ(all.getNumRows(), 4);
  std::vector<float> together = cantFail(encoder.encode(all));
  ASSERT_EQ(together.size(), 3 * 8U);
  for (auto [index, text] : enumerate(texts)) {
    TokenBatch one;
    for (const TokenWindow &window :
         cutWindows(static_cast<int64_t>(text.size()), 5, 2))
      one.add(text, window, 0);
    std::vector<float> alone = cantFail(encoder.encode(one));
    double norm = 0;
    for (size_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(alone[i], together[index * 8 + i], 1e-6);
      norm += double(alone[i]) * alone[i];
    }
    EXPECT_NEAR(norm, 1, 1e-5);
  }
}

TEST_F(EncoderTest, ManyWindowsAreOneMean) {
  // More than are computed at a time, against their mean computed in parts.
  TorchEncoder encoder = makeImported();
  std::vector<int32_t> text;
  for (int32_t i = 0; i < 40000; ++i)
    text.push_back(5 + (i * 7919) % 35);
  std::vector<TokenWindow> windows =
      cutWindows(static_cast<int64_t>(text.size()), 18, 8);
  TokenBatch all;
  for (const TokenWindow &window : windows)
    all.add(text, window, 0);
  EXPECT_GT(all.getNumRows() * all.getNumColumns(), 16384 * 2);
  std::vector<float> latent = cantFail(encoder.encode(all));
  // The same windows in another order of rows.
  TokenBatch reversed;
  for (const TokenWindow &window : llvm::reverse(windows))
    reversed.add(text, window, 0);
  std::vector<float> other = cantFail(encoder.encode(reversed));
  for (size_t i = 0; i < latent.size(); ++i)
    EXPECT_NEAR(latent[i], other[i], 1e-5);
}

TEST_F(EncoderTest, SeedsDecideTheWeights) {
  EncoderConfig config = cantFail(readRobertaConfig(input("config.json")));
  auto weightsOf = [&](uint64_t seed) {
    TorchEncoder encoder = cantFail(TorchEncoder::create(config, 8, seed));
    TensorView weight = cantFail(encoder.getWeights())["projection.weight"];
    return std::vector<char>(weight.data.begin(), weight.data.end());
  };
  EXPECT_EQ(weightsOf(1), weightsOf(1));
  EXPECT_NE(weightsOf(1), weightsOf(2));
}

TEST_F(EncoderTest, ImportTakesNamesWithPrefix) {
  std::string path = rewrite([](auto &tensors) {
    std::map<std::string, TensorView> renamed;
    for (const auto &[name, tensor] : tensors)
      renamed["roberta." + name] = tensor;
    tensors = renamed;
  });
  EncoderConfig config = cantFail(readRobertaConfig(input("config.json")));
  TorchEncoder encoder = cantFail(TorchEncoder::create(config, 8, 4));
  SafeTensors file = cantFail(SafeTensors::open(path));
  cantFail(encoder.loadWeights(file, /*isImport=*/true));
  EXPECT_EQ(
      cantFail(encoder.getWeights())["encoder.layer.1.output.dense.bias"].data,
      file.find("roberta.encoder.layer.1.output.dense.bias")->data);
  sys::fs::remove(path);
}

TEST_F(EncoderTest, FilesThatDoNotFit) {
  EXPECT_THAT(loadError(rewrite([](auto &tensors) {
                tensors.erase("encoder.layer.1.attention.self.key.bias");
              })),
              HasSubstr("encoder.layer.1.attention.self.key.bias"));
  EXPECT_THAT(loadError(rewrite([](auto &tensors) {
                tensors["embeddings.position_embeddings.weight"] =
                    tensors["embeddings.word_embeddings.weight"];
              })),
              HasSubstr("embeddings.position_embeddings.weight"));
  // Without the import's leniency a projection is needed.
  TorchEncoder encoder = makeImported();
  SafeTensors file = cantFail(SafeTensors::open(input("model.safetensors")));
  EXPECT_THAT(toString(encoder.loadWeights(file)),
              HasSubstr("projection.weight"));
}

TEST_F(EncoderTest, BatchesThatDoNotFit) {
  TorchEncoder encoder = makeImported();
  auto errorOf = [&](ArrayRef<int32_t> tokens) {
    TokenBatch batch;
    batch.add(tokens, {0, static_cast<int64_t>(tokens.size()), 1}, 0);
    Expected<std::vector<float>> latents = encoder.encode(batch);
    return latents ? "" : toString(latents.takeError());
  };
  EXPECT_EQ(errorOf({5}), "");
  EXPECT_EQ(errorOf({261}),
            "cannot encode: a token is not in the encoder's vocabulary");
  EXPECT_EQ(errorOf({-1}),
            "cannot encode: a token is not in the encoder's vocabulary");
  EXPECT_EQ(errorOf(std::vector<int32_t>(17, 6)),
            "cannot encode: a window is longer than the encoder has positions "
            "for");
}

//===----------------------------------------------------------------------===//
// config.json of others
//===----------------------------------------------------------------------===//

TEST(RobertaConfig, ReadsTheSizes) {
  EncoderConfig config = cantFail(readRobertaConfig(input("config.json")));
  EXPECT_EQ(config.vocabSize, 261);
  EXPECT_EQ(config.hiddenSize, 16);
  EXPECT_EQ(config.numLayers, 2);
  EXPECT_EQ(config.numHeads, 2);
  EXPECT_EQ(config.intermediateSize, 24);
  EXPECT_EQ(config.maxPositions, 20);
  EXPECT_EQ(config.typeVocabSize, 2);
  EXPECT_EQ(config.padTokenId, 1);
  EXPECT_EQ(config.layerNormEps, 1e-5);
  EXPECT_EQ(config.windowTokens, 18);
  EXPECT_EQ(config.windowStride, 9);
}

static std::string configError(StringRef from, StringRef to) {
  std::string text =
      cantFail(errorOrToExpected(MemoryBuffer::getFile(input("config.json"))))
          ->getBuffer()
          .str();
  size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from.str();
  text.replace(place, from.size(), to.str());
  SmallString<128> path;
  int descriptor = 0;
  EXPECT_FALSE(
      sys::fs::createTemporaryFile("config", "json", descriptor, path));
  raw_fd_ostream(descriptor, /*shouldClose=*/true) << text;
  Expected<EncoderConfig> config = readRobertaConfig(path);
  sys::fs::remove(path);
  std::string message = config ? "" : toString(config.takeError());
  StringRef reason = message;
  if (reason.consume_front("cannot import '" + path.str().str() + "': "))
    return reason.str();
  return "unexpected: " + message;
}

TEST(RobertaConfig, RefusesWhatItIsNot) {
  EXPECT_EQ(configError("\"roberta\"", "\"bert\""),
            "field 'model_type' is \"bert\", expected \"roberta\"");
  EXPECT_EQ(configError("\"gelu\"", "\"relu\""),
            "field 'hidden_act' is \"relu\", expected \"gelu\"");
  EXPECT_EQ(configError("\"hidden_size\"", "\"hidden_sizes\""),
            "field 'hidden_size' is missing");
  EXPECT_EQ(configError("\"hidden_size\": 16", "\"hidden_size\": 15"),
            "field 'hidden_size' is 15, expected a multiple of "
            "num_attention_heads, 2");
  EXPECT_EQ(configError("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 0"),
            "field 'num_hidden_layers' is 0, expected an integer from 1 to "
            "16777216");
  EXPECT_EQ(configError("\"vocab_size\": 261", "\"vocab_size\": \"261\""),
            "field 'vocab_size' is \"261\", expected an integer from 5 to "
            "16777216");
}
