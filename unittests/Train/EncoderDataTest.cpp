//===- EncoderDataTest.cpp - Texts, batches and views --------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/EncoderData.h"

#include "TrainTestUtils.h"

#include "cwm/Train/ContrastiveBatches.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <map>
#include <set>

using namespace llvm;
using namespace cwm;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

TEST(EncoderData, GroupsLinesByFile) {
  EncoderData data = cantFail(EncoderData::parse(
      R"({"workload": "w", "text": "a"}
{"workload": "w", "file": "f", "text": "b", "variants": ["c", "d"], "x": 1}

{"workload": "w", "text": "e"}
{"workload": "w", "text": "a"}
{"workload": "w", "file": "f", "text": "a"})",
      "in"));
  ASSERT_THAT(data.files, SizeIs(2));
  EXPECT_EQ(data.files[0].name, "w");
  ASSERT_THAT(data.files[0].texts, SizeIs(2)); // "a" came twice
  EXPECT_EQ(data.files[0].texts[1].text, "e");
  EXPECT_EQ(data.files[1].name, "f");
  EXPECT_EQ(data.files[1].workload, "w");
  EXPECT_THAT(data.files[1].texts[0].variants, ElementsAre("c", "d"));
  EXPECT_EQ(data.getNumTexts(), 4U);
}

static std::string errorOf(StringRef text) {
  Expected<EncoderData> data = EncoderData::parse(text, "in");
  return data ? "" : toString(data.takeError());
}

TEST(EncoderData, EachKindOfBadLineHasItsMessage) {
  EXPECT_EQ(errorOf(""), "");
  EXPECT_EQ(errorOf("\n \n"), "");
  EXPECT_EQ(errorOf("[1]"), "cannot read 'in': line 1: not a JSON object");
  EXPECT_EQ(errorOf("\n{\"text\": \"a\"}"),
            "cannot read 'in': line 2: key 'workload' is missing");
  EXPECT_EQ(errorOf("{\"workload\": \"w\"}"),
            "cannot read 'in': line 1: key 'text' is missing");
  EXPECT_EQ(errorOf("{\"workload\": \"w\", \"text\": 3}"),
            "cannot read 'in': line 1: key 'text' is not a string");
  EXPECT_EQ(errorOf("{\"workload\": \"w\", \"text\": \"\"}"),
            "cannot read 'in': line 1: key 'text' is empty");
  EXPECT_EQ(errorOf("{\"workload\": \"w\", \"text\": \"a\", \"variants\": 1}"),
            "cannot read 'in': line 1: key 'variants' is not a list");
  EXPECT_EQ(
      errorOf("{\"workload\": \"w\", \"text\": \"a\", \"variants\": [1]}"),
      "cannot read 'in': line 1: key 'variants' has an entry that is no text");
  EXPECT_EQ(errorOf("{\"workload\": \"w\", \"file\": \"f\", \"text\": \"a\"}\n"
                    "{\"workload\": \"v\", \"file\": \"f\", \"text\": \"b\"}"),
            "cannot read 'in': line 2: file 'f' is of workload 'w' in a line "
            "before, and of 'v' here");
  EXPECT_TRUE(StringRef(errorOf("{\"workload\": "))
                  .starts_with("cannot read 'in': line 1: "));
}

TEST(EncoderData, TheDigestSeesEverything) {
  EncoderData data = makeData(2, 2), other = data;
  EXPECT_EQ(data.getDigest(), other.getDigest());
  other.files[1].texts[1].variants.push_back("x");
  EXPECT_NE(data.getDigest(), other.getDigest());
}

TEST(EncoderData, ValidationTakesWholeWorkloads) {
  for (auto [share, expected] : {std::pair(0.0, 1), std::pair(0.3, 3),
                                 std::pair(0.9, 9), std::pair(1.0, 9)}) {
    EncoderData training = makeData(10, 3);
    training.files.push_back({"more", "w4", {{"a", {}}}});
    EncoderData validation = cantFail(training.splitValidation(share, 1));
    std::set<std::string> left, right;
    for (const EncoderFile &file : training.files)
      left.insert(file.workload);
    for (const EncoderFile &file : validation.files)
      right.insert(file.workload);
    EXPECT_THAT(right, SizeIs(expected));
    EXPECT_THAT(left, SizeIs(10 - expected));
    for (const std::string &name : left)
      EXPECT_FALSE(right.count(name)) << name;
    EXPECT_EQ(training.getNumTexts() + validation.getNumTexts(), 31U);
  }
  EncoderData single = makeData(1, 5);
  EXPECT_EQ(toString(single.splitValidation(0.5, 1).takeError()),
            "all texts are of one workload, 'w0': at least two are needed, "
            "since one is kept for validation");
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

TEST(BatchSampler, AnEpochHasEachTextOnce) {
  EncoderData data = makeData(5, 7);
  BatchSampler sampler(data, {/*files=*/3, /*textsPerFile=*/2, /*seed=*/9});
  ASSERT_EQ(sampler.getNumBatches(), 7); // 5 x 4 chunks in threes
  std::vector<std::vector<DataPlace>> epochs[2];
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::map<std::pair<size_t, size_t>, int> seen;
    for (int64_t i = 0; i < 7; ++i) {
      std::vector<DataPlace> batch = sampler.getBatch(epoch * 7 + i);
      EXPECT_GE(batch.size(), 2U);
      EXPECT_LE(batch.size(), 6U);
      for (const DataPlace &place : batch)
        ++seen[{place.file, place.text}];
      epochs[epoch].push_back(batch);
    }
    EXPECT_THAT(seen, SizeIs(35));
    for (const auto &[place, count] : seen)
      EXPECT_EQ(count, 1);
  }
  EXPECT_FALSE(epochs[0] == epochs[1]);
  // Whatever was asked before.
  BatchSampler again(data, {3, 2, 9});
  EXPECT_TRUE(again.getBatch(8) == epochs[1][1]);
  EXPECT_TRUE(again.getBatch(1) == epochs[0][1]);
}

TEST(BatchSampler, NoBatchHasOneText) {
  // Chunks of 2, 2 and 1 in twos: the last would be alone half of the time.
  EncoderData data = makeData(1, 5);
  BatchSampler sampler(data, {2, 2, 0});
  for (int64_t step = 0; step < 40; ++step)
    EXPECT_GE(sampler.getBatch(step).size(), 2U);
  EXPECT_EQ(BatchSampler(makeData(1, 1), {2, 2, 0}).getNumBatches(), 0);
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

namespace {
class ViewsTest : public testing::Test {
protected:
  ViewsTest() : data(makeData(3, 4)), tokenizer(makeByteTokenizer()) {
    config.windowTokens = 12;
    config.windowStride = 5;
    data.files[0].texts[0].variants = {"variant"};
  }
  ContrastiveViews make(ViewMaker::Options options, int64_t step = 1) {
    return ViewMaker(data, tokenizer, config, options).make(places, step);
  }
  /// The tokens of each view, windows one after the other.
  std::vector<std::vector<int32_t>> tokensOf(ContrastiveViews &views) {
    CwmTokenBatch batch = views.tokens.get();
    std::vector<std::vector<int32_t>> tokens(batch.texts);
    for (int64_t row = 0; row < batch.rows; ++row)
      tokens[batch.owner[row]].insert(
          tokens[batch.owner[row]].end(), batch.ids + row * batch.columns,
          batch.ids + row * batch.columns + batch.lengths[row]);
    return tokens;
  }
  EncoderData data;
  Tokenizer tokenizer;
  EncoderConfig config;
  std::vector<DataPlace> places = {{0, 0}, {0, 1}, {2, 3}};
};
} // namespace

TEST_F(ViewsTest, PairsAndGroups) {
  ContrastiveViews views = make({/*rewriteShare=*/0, /*maxWindows=*/9});
  EXPECT_THAT(views.identity, ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(views.group, ElementsAre(0, 0, 2, 0, 0, 2));
  std::vector<std::vector<int32_t>> tokens = tokensOf(views);
  ASSERT_THAT(tokens, SizeIs(6));
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(tokens[i], tokens[i + 3]);
  // Each row drops out on its own.
  CwmTokenBatch batch = views.tokens.get();
  std::set<uint64_t> seeds(batch.rowSeeds, batch.rowSeeds + batch.rows);
  EXPECT_THAT(seeds, SizeIs(batch.rows));
}

TEST_F(ViewsTest, RewritesAreVariantsOrRenamings) {
  std::set<std::vector<int32_t>> plain, first, second;
  for (int64_t step = 0; step < 40; ++step) {
    ContrastiveViews views = make({1, 9}, step);
    std::vector<std::vector<int32_t>> tokens = tokensOf(views);
    EXPECT_EQ(tokens[1].size(), tokens[4].size());
    plain.insert(tokens[1]);
    first.insert(tokens[3]);
    second.insert(tokens[4]);
  }
  // As it is; renamed in one of two ways, or the variant; renamed only.
  EXPECT_THAT(plain, SizeIs(1));
  EXPECT_THAT(first, SizeIs(3));
  EXPECT_THAT(second, SizeIs(2));
}

TEST_F(ViewsTest, LongTextsTakePartWithTheSameWindows) {
  data.files[2].texts[3].text = std::string(60, 'x');
  for (char &character : data.files[2].texts[3].text)
    character = static_cast<char>(
        'a' + (&character - data.files[2].texts[3].text.data()) % 26);
  std::set<std::vector<int32_t>> choices;
  for (int64_t step = 0; step < 30; ++step) {
    ContrastiveViews views = make({0, 2}, step);
    std::vector<std::vector<int32_t>> tokens = tokensOf(views);
    EXPECT_EQ(tokens[2], tokens[5]);
    EXPECT_LE(tokens[2].size(), 24U);
    choices.insert(tokens[2]);
    CwmTokenBatch batch = views.tokens.get();
    std::vector<double> sums(batch.texts, 0);
    for (int64_t row = 0; row < batch.rows; ++row)
      sums[batch.owner[row]] += batch.weights[row];
    for (double sum : sums)
      EXPECT_NEAR(sum, 1, 1e-5);
  }
  EXPECT_GT(choices.size(), 5U);
}

TEST_F(ViewsTest, RanksMakeTheViewsBetweenThem) {
  ContrastiveViews whole = make({0.5, 2, 7});
  std::vector<std::vector<int32_t>> all = tokensOf(whole), parts;
  CwmTokenBatch wholeBatch = whole.tokens.get();
  std::vector<uint64_t> seeds;
  for (int64_t rank = 0; rank < 4; ++rank) {
    ViewMaker::Options options{0.5, 2, 7};
    options.rank = rank;
    options.ranks = 4;
    ContrastiveViews part = make(options);
    EXPECT_EQ(part.identity, whole.identity);
    EXPECT_EQ(part.firstView, static_cast<int64_t>(parts.size()));
    for (std::vector<int32_t> &tokens : tokensOf(part))
      parts.push_back(tokens);
    CwmTokenBatch batch = part.tokens.get();
    seeds.insert(seeds.end(), batch.rowSeeds, batch.rowSeeds + batch.rows);
  }
  EXPECT_EQ(parts, all);
  EXPECT_EQ(seeds,
            std::vector<uint64_t>(wholeBatch.rowSeeds,
                                  wholeBatch.rowSeeds + wholeBatch.rows));
}
