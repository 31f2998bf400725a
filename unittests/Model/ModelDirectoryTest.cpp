//===- ModelDirectoryTest.cpp - Tests of model directories ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/ModelDirectory.h"

#include "../../lib/Model/ByteAlphabet.h"
#include "../Support/SupportTestUtils.h"

#include "llvm/Support/FormatVariadic.h"
#include "gmock/gmock.h"

using namespace llvm;
using namespace cwm;
using ::testing::HasSubstr;

namespace {
class ModelDirectoryTest : public cwm::test::FolderTest {
protected:
  void SetUp() override {
    FolderTest::SetUp();
    putTokenizer(256);
    put("encoder.safetensors", "the encoder");
    put("ranker.ubj", "the ranker");
    config.target = "x86-64";
    config.toolchain = "cwm 0.1.0 / LLVM 22.1.8";
    config.featureVersion = 1;
    config.dim = 64;
    config.encoder.vocabSize = 256;
    config.ranker.emplace().hardware = 10;
    config.training["encoder"] = json::Object{{"seed", 5}};
  }

  /// A tokenizer of the bytes and `count` - 256 pairs.
  void putTokenizer(int64_t count) {
    json::Object vocabulary;
    json::Array merges;
    for (unsigned byte = 0; byte < 256; ++byte)
      vocabulary[encodeByte(static_cast<unsigned char>(byte))] = byte;
    for (int64_t id = 256; id < count; ++id) {
      std::string second(1, static_cast<char>('a' + (id - 256)));
      vocabulary["a" + second] = id;
      merges.push_back(json::Array{"a", second});
    }
    json::Value root = json::Object{
        {"pre_tokenizer",
         json::Object{{"type", "ByteLevel"}, {"add_prefix_space", false}}},
        {"model", json::Object{{"vocab", std::move(vocabulary)},
                               {"merges", std::move(merges)}}}};
    put("tokenizer.json", formatv("{0}", root).str());
  }

  std::string write() {
    Error error = ModelDirectory::write(folder, config);
    return error ? toString(std::move(error)) : "";
  }
  /// What load() says, without the prefix.
  std::string load() { return load(folder); }
  std::string load(StringRef path) {
    Expected<ModelDirectory> model = ModelDirectory::load(path);
    if (model)
      return "";
    std::string message = toString(model.takeError());
    std::string prefix = "cannot use model '" + path.str() + "': ";
    EXPECT_TRUE(StringRef(message).starts_with(prefix)) << message;
    return message.substr(prefix.size());
  }
  /// load() after a change of config.json.
  std::string loadChanged(function_ref<void(json::Object &)> change) {
    EXPECT_EQ(write(), "");
    Expected<json::Value> value = json::parse(get("config.json"));
    if (!value)
      return toString(value.takeError());
    change(*value->getAsObject());
    put("config.json", formatv("{0}", *value).str());
    return load();
  }

  ModelConfig config;
};
} // namespace

TEST(SHA256Test, KnownSums) {
  // FIPS 180-4, examples.
  EXPECT_EQ(computeSHA256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a39617"
                                  "7a9cb410ff61f20015ad");
  EXPECT_EQ(computeSHA256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934"
                               "ca495991b7852b855");
}

TEST_F(ModelDirectoryTest, WriteAndLoad) {
  config.encoder.hiddenSize = 96;
  config.encoder.layerNormEps = 1e-12;
  ASSERT_EQ(write(), "");
  Expected<ModelDirectory> model = ModelDirectory::load(folder);
  ASSERT_TRUE(bool(model)) << toString(model.takeError());
  const ModelConfig &loaded = model->getConfig();
  EXPECT_EQ(loaded.target, config.target);
  EXPECT_EQ(loaded.toolchain, config.toolchain);
  EXPECT_EQ(loaded.featureVersion, 1);
  EXPECT_EQ(loaded.dim, 64);
  EXPECT_EQ(loaded.encoder.vocabSize, 256);
  EXPECT_EQ(loaded.encoder.hiddenSize, 96);
  EXPECT_EQ(loaded.encoder.layerNormEps, 1e-12);
  EXPECT_EQ(loaded.training, config.training);
  EXPECT_TRUE(model->has(ModelDirectory::encoderFile));
  EXPECT_FALSE(model->has(ModelDirectory::transitionFile));
  Expected<std::string> file = model->getFile(ModelDirectory::rankerFile);
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  EXPECT_EQ(*file, at("ranker.ubj"));
  Expected<Tokenizer> tokenizer = model->loadTokenizer();
  ASSERT_TRUE(bool(tokenizer)) << toString(tokenizer.takeError());
  EXPECT_EQ(tokenizer->getVocabularySize(), 256u);

  Expected<std::string> missing =
      model->getFile(ModelDirectory::transitionFile);
  ASSERT_FALSE(bool(missing));
  EXPECT_EQ(toString(missing.takeError()),
            "cannot use model '" + folder.str().str() +
                "': it has no transition.safetensors yet, which 'cwm-train "
                "transition' makes");
  Expected<SafeTensors> tensors =
      model->loadTensors(ModelDirectory::encoderFile);
  ASSERT_FALSE(bool(tensors));
  EXPECT_THAT(toString(tensors.takeError()),
              HasSubstr("encoder.safetensors': its header"));
}

TEST_F(ModelDirectoryTest, OnlyATokenizer) {
  for (StringRef name : {"encoder.safetensors", "ranker.ubj"})
    sys::fs::remove(at(name));
  config.encoder.vocabSize = 0;
  config.dim = 0;
  EXPECT_EQ(write(), "");
  EXPECT_EQ(load(), "");
  EXPECT_EQ(get("config.json").find("hidden_size"), std::string::npos);
}

TEST_F(ModelDirectoryTest, MissingFolders) {
  EXPECT_EQ(load(at("none")), "there is no such folder");
  EXPECT_EQ(load(at("ranker.ubj")), "it is no folder");
  EXPECT_EQ(load(), "it has no config.json");
  EXPECT_EQ(load(""), "there is no such folder");
}

TEST_F(ModelDirectoryTest, DamagedFiles) {
  ASSERT_EQ(write(), "");
  put("ranker.ubj", "the rank");
  EXPECT_EQ(load(), "ranker.ubj has 8 bytes, config.json expects 10");
  put("ranker.ubj", "the runker");
  EXPECT_EQ(load(),
            "ranker.ubj is not the file of this model: its SHA-256 is " +
                computeSHA256("the runker") + ", config.json expects " +
                computeSHA256("the ranker"));
  sys::fs::remove(at("ranker.ubj"));
  EXPECT_EQ(load(), "config.json names ranker.ubj, which is missing");
  sys::fs::create_directory(at("ranker.ubj"));
  EXPECT_THAT(load(), HasSubstr("cannot read '" + at("ranker.ubj") + "': "));
}

TEST_F(ModelDirectoryTest, DamagedConfig) {
  ASSERT_EQ(write(), "");
  std::string text = get("config.json");
  for (size_t length = 0; length + 3 < text.size(); length += 7) {
    put("config.json", text.substr(0, length));
    EXPECT_THAT(load(), HasSubstr("config.json is no JSON: [")) << length;
  }
  put("config.json", "[]");
  EXPECT_EQ(load(), "config.json is no JSON object");
  // Hugging Face's file of the same name.
  put("config.json", "{\"model_type\": \"roberta\", \"hidden_size\": 768}");
  EXPECT_EQ(load(), "config.json does not say that it is of a model of cwm: "
                    "expected 'format' \"cwm-model\"");

  using O = json::Object &;
  EXPECT_EQ(loadChanged([](O root) { root["format_version"] = 2; }),
            "config.json has format_version 2, this build reads 1: train the "
            "model again, or use another release");
  EXPECT_EQ(loadChanged([](O root) { root.erase("format_version"); }),
            "config.json lacks the integer 'format_version'");
  EXPECT_EQ(loadChanged([](O root) { root["target"] = 1; }),
            "config.json lacks the text 'target'");
  EXPECT_EQ(loadChanged([](O root) { root["dim"] = -1; }),
            "config.json has dim -1, expected 0 to 16777216");
  EXPECT_EQ(loadChanged([](O root) { root["training"] = 1; }),
            "config.json has a 'training' that is no object");
  EXPECT_EQ(loadChanged([](O root) { root["encoder"] = 1; }),
            "config.json has an 'encoder' that is no object");
  EXPECT_EQ(loadChanged([](O root) { root.erase("encoder"); }),
            "it has encoder.safetensors, but config.json has no 'encoder'");
  EXPECT_EQ(loadChanged([](O root) { root.erase("files"); }),
            "config.json has no object 'files'");
  EXPECT_EQ(loadChanged([](O root) {
              (*root.getObject("files"))["../x"] = json::Object{};
            }),
            "config.json names the unknown file '../x'");
  EXPECT_EQ(loadChanged([](O root) {
              root.getObject("files")->getObject("ranker.ubj")->erase("bytes");
            }),
            "config.json lacks 'bytes' or 'sha256' of 'ranker.ubj'");
  EXPECT_EQ(loadChanged([](O root) {
              root.getObject("files")->erase("tokenizer.json");
            }),
            "it has encoder.safetensors without tokenizer.json");
}

TEST_F(ModelDirectoryTest, ImpossibleSizes) {
  auto withSize = [&](StringRef name, json::Value value) {
    return loadChanged([&](json::Object &root) {
      (*root.getObject("encoder"))[name] = std::move(value);
    });
  };
  StringRef prefix = "config.json has an 'encoder' that ";
  EXPECT_EQ(withSize("hidden_size", 0),
            prefix.str() + "has hidden_size 0, expected 1 to 16777216");
  EXPECT_EQ(withSize("hidden_size", "x"),
            prefix.str() + "lacks the integer 'hidden_size'");
  EXPECT_EQ(withSize("num_attention_heads", 3),
            prefix.str() + "has hidden_size 128, expected a multiple of "
                           "num_attention_heads 3");
  EXPECT_EQ(withSize("layer_norm_eps", 0),
            prefix.str() + "lacks a positive 'layer_norm_eps'");
  EXPECT_EQ(withSize("pad_token_id", 256),
            prefix.str() + "has pad_token_id 256, expected 0 to 255");
  EXPECT_EQ(withSize("window_tokens", 1025),
            prefix.str() + "has window_tokens 1025, expected 3 to 1024");
  EXPECT_EQ(withSize("window_stride", 1023),
            prefix.str() + "has window_stride 1023, expected 1 to 1022");
}

TEST_F(ModelDirectoryTest, TokenizerOfAnotherVocabulary) {
  ASSERT_EQ(write(), "");
  putTokenizer(258);
  EXPECT_THAT(load(), HasSubstr("tokenizer.json has "));
  // It cannot be made the model's either.
  StringRef mismatch =
      "tokenizer.json has 258 tokens, config.json expects the encoder's 256";
  EXPECT_EQ(write(),
            "cannot use model '" + folder.str().str() + "': " + mismatch.str());
  put("tokenizer.json", "{}");
  EXPECT_THAT(write(), HasSubstr("'model' is missing or no object"));
  // A config.json that somebody edited.
  putTokenizer(258);
  config.encoder.vocabSize = 258;
  EXPECT_EQ(loadChanged([](json::Object &root) {
              (*root.getObject("encoder"))["vocab_size"] = 256;
            }),
            mismatch);
}

TEST_F(ModelDirectoryTest, OnlyWhatCanBeReadIsWritten) {
  config.encoder.numHeads = 7;
  EXPECT_THAT(write(), HasSubstr("its configuration has an 'encoder' that has "
                                 "hidden_size 128, expected a multiple"));
  EXPECT_EQ(get("config.json"), "<missing>");
  config.encoder.numHeads = 4;
  config.dim = 0;
  put("transition.safetensors", "x");
  EXPECT_THAT(write(), HasSubstr("config.json has no 'dim'"));
}
