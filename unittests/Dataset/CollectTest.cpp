//===- CollectTest.cpp - Options and files of collecting --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Dataset/Collect.h"

#include "TestUtils.h"

#include "gmock/gmock.h"

using namespace cwm;
using namespace cwm::test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

int64_t getCount(llvm::StringRef text, int64_t samples) {
  return llvm::cantFail(MeasureShare::parse(text)).getCount(samples);
}

TEST(MeasureShare, NumbersAndShares) {
  EXPECT_EQ(getCount("0", 100), 0);
  EXPECT_EQ(getCount("1", 100), 1);
  EXPECT_EQ(getCount("16", 100), 16);
  EXPECT_EQ(getCount("16", 10), 10);
  EXPECT_EQ(getCount("0.25", 100), 25);
  EXPECT_EQ(getCount("25%", 100), 25);
  EXPECT_EQ(getCount("1.0", 100), 100);
  EXPECT_EQ(getCount("100%", 100), 100);
  EXPECT_EQ(getCount("0.0", 100), 0);
}

TEST(MeasureShare, Malformed) {
  for (const char *text : {"", "x", "-1", "1.5", "101%", "nan", "1e9", "%"})
    EXPECT_THAT(getMessage(MeasureShare::parse(text).takeError()),
                HasSubstr("expected a number of candidates, or a share"))
        << text;
}

TEST(CollectProgress, Text) {
  CollectProgress progress;
  progress.payload = 3;
  progress.numPayloads = 600;
  progress.file = "folder/conv2d-003.mlir";
  progress.recorded = 64;
  progress.samples = 100;
  progress.seconds = 811.7;
  EXPECT_EQ(formatProgress(progress),
            "[3/600] conv2d-003.mlir: 64/100 recorded, 812 s");
  progress.measured = 12;
  progress.toMeasure = 25;
  progress.failures = 3;
  EXPECT_EQ(formatProgress(progress),
            "[3/600] conv2d-003.mlir: 64/100 recorded, 12/25 measured, 3 "
            "failed, 812 s");
}

class FilesTest : public FolderTest {};

TEST_F(FilesTest, FilesFoldersAndPatterns) {
  for (llvm::StringRef name : {"b.mlir", "a.mlir", "ab.mlir", "note.txt"})
    put(name, "");
  std::string base = folder.str().str();
  auto find = [&](std::vector<std::string> arguments) {
    std::vector<std::string> names;
    for (const std::string &file : llvm::cantFail(findPayloadFiles(arguments)))
      names.push_back(llvm::sys::path::filename(file).str());
    return names;
  };
  EXPECT_THAT(find({base}), ElementsAre("a.mlir", "ab.mlir", "b.mlir"));
  EXPECT_THAT(find({base + "/a*.mlir"}), ElementsAre("a.mlir", "ab.mlir"));
  // Each once.
  EXPECT_THAT(find({base + "/b.mlir", base + "/?.mlir"}),
              ElementsAre("b.mlir", "a.mlir"));
}

TEST_F(FilesTest, ArgumentsThatMeanNothing) {
  std::string base = folder.str().str();
  auto getFindError = [](const std::string &argument) {
    return getMessage(findPayloadFiles({argument}).takeError());
  };
  EXPECT_EQ(getFindError(base + "/none.mlir"),
            "no payload: '" + base + "/none.mlir' is no file and matches none");
  EXPECT_EQ(getFindError(base), "no payload: '" + base +
                                    "' is no file, but a folder without "
                                    "*.mlir");
}

} // namespace
