//===- TokenizerTest.cpp - Tests of byte-level BPE --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Equality with Hugging Face's tokenizers is tested in
// python/tests/test_tokenizer.py.
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/Tokenizer.h"

#include "../../lib/Model/ByteAlphabet.h"
#include "../../lib/Model/TextSplit.h"
#include "../Support/SupportTestUtils.h"

#include "llvm/Support/FormatVariadic.h"
#include "gmock/gmock.h"

using namespace llvm;
using namespace cwm;
using ::testing::HasSubstr;

static json::Value makePhraseSplit() {
  return json::Object{
      {"type", "Sequence"},
      {"pretokenizers",
       json::Array{json::Object{
                       {"type", "Split"},
                       {"pattern", json::Object{{"Regex", getPhrasePattern()}}},
                       {"behavior", "Isolated"},
                       {"invert", false}},
                   json::Object{{"type", "ByteLevel"},
                                {"add_prefix_space", false},
                                {"use_regex", false}}}}};
}

static json::Value makeWordSplit() {
  return json::Object{{"type", "ByteLevel"}, {"add_prefix_space", false}};
}

static json::Object makeAddedToken(StringRef content, int64_t id) {
  return json::Object{{"id", id}, {"content", content}, {"special", true}};
}

/// A file whose vocabulary is five special tokens, the bytes from id 5 on, and
/// the results of `merges` from 261 on.
static json::Object makeFile(ArrayRef<std::pair<StringRef, StringRef>> merges,
                             json::Value split = makePhraseSplit()) {
  json::Object vocabulary;
  json::Array addedTokens, pairs;
  int64_t id = 0;
  for (StringRef token : {"<s>", "<pad>", "</s>", "<unk>", "<mask>"}) {
    addedTokens.push_back(makeAddedToken(token, id));
    vocabulary[token] = id++;
  }
  for (unsigned byte = 0; byte < 256; ++byte)
    vocabulary[encodeByte(static_cast<unsigned char>(byte))] = id++;
  for (auto [left, right] : merges) {
    vocabulary.try_emplace((left + right).str(), id++);
    pairs.push_back(json::Array{left, right});
  }
  return json::Object{{"added_tokens", std::move(addedTokens)},
                      {"pre_tokenizer", std::move(split)},
                      {"model", json::Object{{"type", "BPE"},
                                             {"vocab", std::move(vocabulary)},
                                             {"merges", std::move(pairs)}}}};
}

static std::string print(json::Object file) {
  return formatv("{0}", json::Value(std::move(file))).str();
}

static Tokenizer make(json::Object file) {
  Expected<Tokenizer> tokenizer = Tokenizer::parse(print(std::move(file)));
  if (!tokenizer) {
    ADD_FAILURE() << toString(tokenizer.takeError());
    abort();
  }
  return std::move(*tokenizer);
}

static std::string getError(json::Object file) {
  Expected<Tokenizer> tokenizer = Tokenizer::parse(print(std::move(file)));
  return tokenizer ? "" : toString(tokenizer.takeError());
}

/// The bytes of each token, divided by bars.
static std::string show(const Tokenizer &tokenizer, StringRef text) {
  std::string shown;
  for (int32_t id : tokenizer.encode(text))
    shown += (shown.empty() ? "" : "|") + tokenizer.decode(id);
  return shown;
}

static std::string splitBy(StringRef (*take)(StringRef), StringRef text) {
  std::string shown;
  while (!text.empty()) {
    StringRef piece = take(text);
    if (piece.empty())
      return shown + "|endless";
    shown += (shown.empty() ? "" : "|") + piece.str();
    text = text.drop_front(piece.size());
  }
  return shown;
}

//===----------------------------------------------------------------------===//
// Where texts are cut
//===----------------------------------------------------------------------===//

TEST(TextSplitTest, PhrasesOfStates) {
  EXPECT_EQ(splitBy(takePhrase, "%12 = arith.mulf %4, %1 : f32\n"),
            "%12| = arith.mulf |%4|, |%1| : f32|\n");
  EXPECT_EQ(splitBy(takePhrase, "%0: tensor<8x1024xbf16>, !3, #0, @1, ^2"),
            "%0|: tensor<|8|x|1024|xbf16>, |!3|, |#0|, |@1|, |^2");
  EXPECT_EQ(splitBy(takePhrase, "affine_map<(d0, d1)[s0] -> (d1 + 2)>"),
            "affine_map<(d0, d1)[s0] -> (d1 + |2|)>");
  EXPECT_EQ(splitBy(takePhrase, "linalg.conv_2d_nhwc on loop 0"),
            "linalg.conv_2d_nhwc on loop |0");
  // Sigils that number nothing, and names that are not ours.
  EXPECT_EQ(splitBy(takePhrase, "%a @main % 5 !"), "%a @main % |5| !");
}

TEST(TextSplitTest, PhrasesAreOfLimitedLength) {
  EXPECT_EQ(splitBy(takePhrase, "123456789"), "1234|5678|9");
  EXPECT_EQ(splitBy(takePhrase, "%12345678"), "%123456|78");
  EXPECT_EQ(splitBy(takePhrase, "f123456"), "f1234|56");
  std::string a(48, 'a');
  EXPECT_EQ(splitBy(takePhrase, a + "a"), a + "|a");
  std::string line(16, '\n');
  EXPECT_EQ(splitBy(takePhrase, line + "\r\nx"), line + "|\r\n|x");
  // Sixteen code points, whatever their bytes, and none of them cut.
  std::string sixteen;
  for (int i = 0; i < 8; ++i)
    sixteen += "é日";
  EXPECT_EQ(splitBy(takePhrase, "x" + sixteen + "🙂 y"),
            "x|" + sixteen + "|🙂| y");
  // No UTF-8: byte by byte, and all of it.
  EXPECT_EQ(splitBy(takePhrase, StringRef("a\xff\x80\0b", 5)),
            std::string("a|\xff\x80|\0b", 7));
}

TEST(TextSplitTest, Words) {
  EXPECT_EQ(splitBy(takeWord, "Hello world, it's 42!  ok\n"),
            "Hello| world|,| it|'s| 42|!| | ok|\n");
  EXPECT_EQ(splitBy(takeWord, "we'll they've 'S x''t"),
            "we|'ll| they|'ve| '|S| x|''|t");
  EXPECT_EQ(splitBy(takeWord, "a \n\n b   "), "a| \n\n| b|   ");
  EXPECT_EQ(splitBy(takeWord, " \tx"), " |\t|x");
  EXPECT_EQ(splitBy(takeWord, "naïve x²³ ½ 日本語。🙂 \u00a0y"),
            "naïve| x|²³| ½| 日本語|。🙂| |\u00a0|y");
}

TEST(TextSplitTest, SpaceOfUnicode) {
  EXPECT_EQ(countSpaceAtEnd("a \u00a0\u3000\n"), 7u);
  EXPECT_EQ(countSpaceAtEnd("é"), 0u);
  EXPECT_EQ(countSpaceAtEnd("\x80\x80\x80\x80\x80"), 0u);
  EXPECT_EQ(countSpaceAtEnd(" \t"), 2u);
  EXPECT_EQ(countSpaceAtStart("\u2028 a "), 4u);
}

TEST(ByteAlphabetTest, AllBytesAndBack) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    auto value = static_cast<unsigned char>(byte);
    EXPECT_EQ(decodeByteAlphabet(encodeByte(value)),
              std::string(1, static_cast<char>(value)));
  }
  EXPECT_EQ(encodeByte(' '), "Ġ");
  EXPECT_EQ(encodeByte('\n'), "Ċ");
  EXPECT_EQ(encodeByte(0xAD), "Ń");
  EXPECT_EQ(decodeByteAlphabet("aĠ"), "a ");
  for (StringRef bad : {" ", "日", "ń\xC4", "\u0144"})
    EXPECT_EQ(decodeByteAlphabet(bad), std::nullopt) << bad.str();
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

TEST(TokenizerTest, MergesTheLowestRankFirst) {
  Tokenizer tokenizer =
      make(makeFile({{"b", "c"}, {"a", "b"}, {"ab", "c"}, {"a", "bc"}}));
  EXPECT_EQ(show(tokenizer, "abc"), "abc");
  EXPECT_EQ(show(tokenizer, "abab"), "ab|ab");
  EXPECT_EQ(show(tokenizer, "abbc"), "ab|bc");
  // Of equal pairs the leftmost.
  Tokenizer pairs = make(makeFile({{"a", "a"}}));
  EXPECT_EQ(show(pairs, "aaaaa"), "aa|aa|a");
}

TEST(TokenizerTest, NoMergeAcrossPieces) {
  Tokenizer tokenizer = make(makeFile({{"4", "5"}, {"1", "2"}, {"%", "1"}}));
  EXPECT_EQ(show(tokenizer, "12345"), "12|3|4|5");
  EXPECT_EQ(show(tokenizer, "%12"), "%|12");
}

TEST(TokenizerTest, SpecialTokensInText) {
  Tokenizer tokenizer = make(makeFile({{"s", ">"}}));
  EXPECT_EQ(tokenizer.encode("<s>").front(), Tokenizer::startId);
  EXPECT_EQ(show(tokenizer, "<<s>s>"), "<|<s>|s>");
  EXPECT_EQ(tokenizer.encode("<ma<mask>sk>").size(), 3u + 1 + 3);
  EXPECT_EQ(tokenizer.encode("<pad></s><unk><mask>"),
            (std::vector<int32_t>{Tokenizer::padId, Tokenizer::endId,
                                  Tokenizer::unknownId, Tokenizer::maskId}));
}

TEST(TokenizerTest, AddedTokensTakeSpaceAndTheLongestWins) {
  json::Object file = makeFile({}, makeWordSplit());
  json::Array &added = *file.getArray("added_tokens");
  (*added[4].getAsObject())["lstrip"] = true;
  json::Object longer = makeAddedToken("<mask>er", 261);
  longer["rstrip"] = true;
  added.push_back(std::move(longer));
  json::Object late = makeAddedToken("k>", 262);
  late["normalized"] = true;
  added.push_back(std::move(late));
  Tokenizer tokenizer = make(std::move(file));
  EXPECT_EQ(tokenizer.getVocabularySize(), 263u);
  EXPECT_EQ(show(tokenizer, "a \n<mask> b"), "a|<mask>| |b");
  EXPECT_EQ(show(tokenizer, "a <mask>er  b"), "a| |<mask>er|b");
  EXPECT_EQ(show(tokenizer, "  <mask>"), "<mask>");
  // Space that was taken already is not taken again.
  EXPECT_EQ(show(tokenizer, "<mask>er <mask>"), "<mask>er|<mask>");
  // Those that are looked for later do not cut those that come first.
  EXPECT_EQ(show(tokenizer, "xk><mask>k>"), "x|k>|<mask>|k>");
}

TEST(TokenizerTest, AnyBytesComeBack) {
  Tokenizer tokenizer = make(makeFile({{"a", "a"}, {"aa", "aa"}}));
  std::string all;
  for (int byte = 0; byte < 256; ++byte)
    all += static_cast<char>(byte);
  for (StringRef text :
       {StringRef(), StringRef(all), StringRef("aaaaaaa é日🙂")})
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  EXPECT_TRUE(tokenizer.encode("").empty());
  EXPECT_EQ(tokenizer.decode({-1, 1 << 30, 5 + 'a' - '!'}).size(), 1u);
  EXPECT_EQ(tokenizer.getId("aaaa"), 262);
  EXPECT_EQ(tokenizer.getId("aaaaa"), std::nullopt);
}

/// Long words, many special tokens, many equal words: each would take minutes
/// if it were quadratic.
TEST(TokenizerTest, LongTexts) {
  Tokenizer tokenizer =
      make(makeFile({{"a", "a"}, {"aa", "aa"}, {"a", "b"}}, makeWordSplit()));
  size_t length = 800000;
  EXPECT_EQ(tokenizer.encode(std::string(length, 'a')).size(), length / 4);
  std::string specials, words;
  for (size_t i = 0; i < length / 8; ++i) {
    specials += "<s>x";
    words += "ababa\n";
  }
  EXPECT_EQ(tokenizer.encode(specials).size(), length / 8 * 2);
  EXPECT_EQ(tokenizer.encode(words).size(), length / 8 * 4);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

TEST(TokenizerTest, MergesOfOlderFiles) {
  json::Object file = makeFile({{"a", "b"}});
  (*file.getObject("model"))["merges"] = json::Array{"a b"};
  EXPECT_EQ(show(make(std::move(file)), "abb"), "ab|b");
}

TEST(TokenizerTest, DamagedFiles) {
  auto broken = [](function_ref<void(json::Object &, json::Object &)> change) {
    json::Object file = makeFile({{"a", "b"}});
    change(file, *file.getObject("model"));
    return getError(std::move(file));
  };
  using O = json::Object &;
  EXPECT_EQ(broken([](O, O) {}), "");
  EXPECT_EQ(broken([](O file, O) { file.erase("model"); }),
            "'model' is missing or no object");
  EXPECT_EQ(broken([](O, O model) { model["type"] = "WordPiece"; }),
            "its model is '\"WordPiece\"', expected \"BPE\"");
  EXPECT_EQ(broken([](O, O model) { model["dropout"] = 0.1; }),
            "its model has the option 'dropout', which is not supported");
  EXPECT_EQ(broken([](O, O model) { model["end_of_word_suffix"] = ""; }), "");
  EXPECT_EQ(broken([](O, O model) { model["ignore_merges"] = true; }),
            "its model has the option 'ignore_merges', which is not supported");
  EXPECT_EQ(broken([](O file, O) {
              file["normalizer"] = json::Object{{"type", "NFC"}};
            }),
            "it has a normalizer, which is not supported");
  EXPECT_THAT(broken([](O file, O) { file.erase("pre_tokenizer"); }),
              HasSubstr("its pre_tokenizer is unknown: 'null', expected"));
  EXPECT_THAT(broken([](O file, O) {
                json::Value split = makePhraseSplit();
                json::Array &parts =
                    *split.getAsObject()->getArray("pretokenizers");
                (*parts[0].getAsObject())["behavior"] = "Removed";
                file["pre_tokenizer"] = std::move(split);
              }),
              HasSubstr("its pre_tokenizer is unknown"));
  EXPECT_THAT(broken([](O file, O) {
                file["pre_tokenizer"] = json::Object{{"type", "ByteLevel"}};
              }),
              HasSubstr("without add_prefix_space"));
  EXPECT_EQ(broken([](O, O model) { model["vocab"] = json::Array{}; }),
            "'model.vocab' is missing or no object");
  EXPECT_EQ(broken([](O, O model) { (*model.getObject("vocab"))["ab"] = "x"; }),
            "the id of token 'ab' is not an integer");
  EXPECT_EQ(broken([](O, O model) { (*model.getObject("vocab"))["ab"] = -1; }),
            "the id of token 'ab' is -1, expected 0 to 16777215");
  EXPECT_EQ(broken([](O, O model) { (*model.getObject("vocab"))["ab"] = 263; }),
            "no token has the id 261, expected ids 0 to 263 without gaps");
  EXPECT_THAT(
      broken([](O, O model) { (*model.getObject("vocab"))["ab"] = 260; }),
      HasSubstr("have the same id 260"));
  EXPECT_EQ(
      broken([](O file, O) {
        file.getArray("added_tokens")->push_back(makeAddedToken("ab", 262));
      }),
      "token 'ab' has two ids, 261 and 262");
  EXPECT_EQ(broken([](O file, O) {
              (*file.getArray("added_tokens"))[0].getAsObject()->try_emplace(
                  "single_word", true);
            }),
            "added token '<s>' is a 'single_word', which is not supported");
  EXPECT_EQ(broken([](O file, O) { file["added_tokens"] = 1; }),
            "'added_tokens' is no array");
  EXPECT_EQ(broken([](O file, O) { file["added_tokens"] = json::Array{1}; }),
            "an entry of 'added_tokens' is no object");
  EXPECT_EQ(broken([](O file, O) {
              file["added_tokens"] = json::Array{json::Object{{"id", 1}}};
            }),
            "an entry of 'added_tokens' lacks 'content' or 'id'");
  EXPECT_EQ(broken([](O, O model) {
              json::Object &vocabulary = *model.getObject("vocab");
              vocabulary["zz"] = *vocabulary.getInteger("z");
              vocabulary.erase("z");
            }),
            "no token stands for the byte 0x7a, expected all 256 of byte-level "
            "BPE");
  EXPECT_EQ(broken([](O, O model) { model.erase("merges"); }),
            "'model.merges' is missing or no array");
  auto withMerge = [&](json::Value merge) {
    return broken([&](O, O model) {
      model.getArray("merges")->push_back(std::move(merge));
    });
  };
  EXPECT_EQ(withMerge(json::Array{"a", "q"}),
            "merge 1 needs the token 'aq', which is not in the vocabulary");
  EXPECT_EQ(withMerge("a zz"),
            "merge 1 needs the token 'zz', which is not in the vocabulary");
  EXPECT_EQ(withMerge(json::Array{"a", "b"}), "merge 1 is there twice: 'ab'");
  for (json::Value bad : {json::Value(7), json::Value("ab"), json::Value("a "),
                          json::Value("a b c"), json::Value(json::Array{"a"}),
                          json::Value(json::Array{"a", 1})})
    EXPECT_EQ(withMerge(bad), "merge 1 is not a pair of tokens");
}

namespace {
class TokenizerFileTest : public cwm::test::FolderTest {
protected:
  std::string load(StringRef name) {
    Expected<Tokenizer> tokenizer = Tokenizer::load(at(name));
    return tokenizer ? "" : toString(tokenizer.takeError());
  }
  std::string import(StringRef vocabulary, StringRef merges) {
    put("vocab.json", vocabulary);
    put("merges.txt", merges);
    Expected<std::string> text =
        importTokenizer(at("vocab.json"), at("merges.txt"));
    return text ? *text : toString(text.takeError());
  }
};
} // namespace

TEST_F(TokenizerFileTest, Load) {
  std::string text = print(makeFile({{"a", "b"}}));
  put("whole", text);
  EXPECT_EQ(load("whole"), "");
  EXPECT_EQ(load("none"),
            "cannot read '" + at("none") + "': No such file or directory");
  put("list", "[]");
  EXPECT_EQ(load("list"),
            "cannot read tokenizer '" + at("list") + "': it is no JSON object");
  put("deep", std::string(100000, '['));
  EXPECT_THAT(load("deep"), HasSubstr("nested deeper than"));
  // Wherever it was cut, it is no tokenizer.
  for (size_t length = 0; length < text.size(); length += 101) {
    put("cut", text.substr(0, length));
    EXPECT_THAT(load("cut"),
                HasSubstr("cannot read tokenizer '" + at("cut") + "': ["));
  }
}

TEST_F(TokenizerFileTest, Import) {
  json::Object vocabulary =
      std::move(*makeFile({{"a", "b"}}).getObject("model")->getObject("vocab"));
  std::string names = print(json::Object(vocabulary));
  std::string text = import(names, "#version: 0.2\na b\n");
  Expected<Tokenizer> tokenizer = Tokenizer::parse(text);
  ASSERT_TRUE(bool(tokenizer)) << toString(tokenizer.takeError()) << text;
  EXPECT_EQ(show(*tokenizer, "abb <mask>12 ab"), "ab|b|<mask>|1|2| |ab");

  EXPECT_THAT(import("{", ""), HasSubstr("vocab.json': ["));
  EXPECT_THAT(import("[]", ""), HasSubstr("vocab.json': it is no JSON object"));
  EXPECT_THAT(import(names, "#version: 0.2\na b\nab\n"),
              HasSubstr("merges.txt': line 3 is not a pair of tokens"));
  EXPECT_THAT(import(names, "a c\n"),
              HasSubstr("merges.txt' are no tokenizer: merge 0 needs the token "
                        "'ac'"));
}
