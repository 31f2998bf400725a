//===- WorkloadsTest.cpp - Which workloads training may see -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include "llvm/Support/FormatVariadic.h"
#include "gmock/gmock.h"

using namespace cwm;
using namespace cwm::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

WorkloadInfo makeInfo(char digit, llvm::StringRef family = "matmul",
                      llvm::StringRef shape = "1x1") {
  WorkloadInfo info;
  info.hash = hash(digit);
  info.family = family.str();
  info.shape = shape.str();
  return info;
}

TEST(Workloads, Lookup) {
  WorkloadTable table = makeTable();
  ASSERT_NE(table.find(hash('b')), nullptr);
  EXPECT_EQ(table.find(hash('b'))->networks.at("free"), 3);
  EXPECT_EQ(table.find(hash('e')), nullptr);
  EXPECT_THAT(table.getNetworks(), ElementsAre("free", "held"));
}

TEST(Workloads, HeldOutByHashWhereverItOccurs) {
  Split split = makeSplit();
  EXPECT_TRUE(split.isHeldOut(makeInfo('a')));
  // In a network that is not held out as well.
  EXPECT_TRUE(split.isHeldOut(makeInfo('b')));
  EXPECT_FALSE(split.isHeldOut(makeInfo('c')));
  // Generated ones.
  EXPECT_FALSE(split.isHeldOut(makeInfo('e')));
}

TEST(Workloads, FurtherNetworks) {
  SplitOptions options;
  options.networks = {"free"};
  Split split = makeSplit(options);
  EXPECT_TRUE(split.isHeldOut(makeInfo('a')));
  EXPECT_TRUE(split.isHeldOut(makeInfo('c')));
  EXPECT_FALSE(split.isInHeldOutNetwork(hash('c')));
  EXPECT_FALSE(split.isHeldOut(makeInfo('e')));
}

TEST(Workloads, FamiliesAndShapesComeOnTop) {
  SplitOptions options;
  options.families = {"depthwise"};
  options.shapesOneIn = 3;
  Split split = makeSplit(options);
  EXPECT_TRUE(split.isHeldOut(makeInfo('a')));
  EXPECT_TRUE(split.isHeldOut(makeInfo('e', "depthwise")));
  int held = 0;
  for (int extent = 0; extent < 300; ++extent) {
    WorkloadInfo one = makeInfo('e', "matmul", std::to_string(extent) + "x8");
    WorkloadInfo same = makeInfo('f', "batch_matmul", one.shape);
    EXPECT_EQ(split.isHeldOut(one), split.isHeldOut(same));
    held += split.isHeldOut(one);
  }
  EXPECT_GT(held, 60);
  EXPECT_LT(held, 140);
}

TEST(Workloads, UnknownNames) {
  SplitOptions options;
  options.networks = {"resnet"};
  EXPECT_EQ(getMessage(Split::create(makeTable(), options).takeError()),
            "no network 'resnet'; known are: free, held");
  options.networks.clear();
  options.families = {"convolution"};
  EXPECT_THAT(getMessage(Split::create(makeTable(), options).takeError()),
              HasSubstr("no operator family 'convolution'; known are: matmul"));
}

std::string getParseError(llvm::StringRef text) {
  return getMessage(WorkloadTable::parse(text, "t.json").takeError());
}

TEST(Workloads, MalformedTables) {
  constexpr llvm::StringLiteral prefix = "workload table 't.json': ";
  auto makeText = [](llvm::StringRef held, llvm::StringRef workloads) {
    return llvm::formatv(
               R"({{"version": 1, "held_out": {0}, "workloads": {1}})", held,
               workloads)
        .str();
  };
  std::string good = llvm::formatv(
      R"({{"hash": "{0}", "family": "f", "shape": "s", "networks": {{"n": 1},
          "files": []})",
      hash('a'));
  EXPECT_EQ(getParseError(makeText(R"(["n"])", "[" + good + "]")), "no error");
  EXPECT_THAT(getParseError("{"), HasSubstr(prefix));
  EXPECT_EQ(getParseError("[]"), (prefix + "expected version 1").str());
  EXPECT_EQ(getParseError(R"({"version": 2})"),
            (prefix + "expected version 1").str());
  EXPECT_EQ(getParseError(R"({"version": 1})"),
            (prefix + "expected the names of the networks that are 'held_out'")
                .str());
  EXPECT_EQ(getParseError(makeText("[]", "[]")),
            (prefix + "no network is held out").str());
  EXPECT_EQ(getParseError(makeText(R"(["m"])", "[" + good + "]")),
            (prefix + "network 'm' is held out and has no workload").str());
  EXPECT_EQ(getParseError(makeText(R"(["n"])", "[" + good + "," + good + "]")),
            (prefix + "workload " + hash('a') + " is listed twice").str());
  EXPECT_THAT(getParseError(makeText(R"(["n"])", R"([{"hash": 5}])")),
              HasSubstr("expected string"));
  std::string shortHash = good;
  shortHash.replace(shortHash.find("aa"), 1, "");
  EXPECT_THAT(getParseError(makeText(R"(["n"])", "[" + shortHash + "]")),
              HasSubstr("is not the hash of a workload"));
}

TEST(Workloads, TheTableThatComesWithCwm) {
  llvm::Expected<WorkloadTable> table =
      WorkloadTable::load(WorkloadTable::getDefaultPath());
  ASSERT_TRUE(bool(table)) << llvm::toString(table.takeError());
  EXPECT_THAT(std::vector<std::string>(table->getHeldOutNetworks()),
              ElementsAre("resnet50", "bert_base", "mobilenet_v2"));
  llvm::Expected<Split> split = Split::create(*table, {});
  ASSERT_TRUE(bool(split));
  size_t held = 0;
  for (const KnownWorkload &workload : table->getWorkloads())
    held += split->isInHeldOutNetwork(workload.hash);
  EXPECT_GT(held, 60U);
  EXPECT_LT(held, table->getWorkloads().size());
}

} // namespace
