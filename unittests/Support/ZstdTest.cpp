//===- ZstdTest.cpp - Compressed files ------------------------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Support/Zstd.h"

#include "SupportTestUtils.h"

#include "gtest/gtest.h"

using namespace cwm;

static std::string makeText(size_t bytes) {
  std::string text;
  for (size_t i = 0; text.size() < bytes; ++i)
    text += std::to_string(i * 2654435761U) + "\n";
  return text;
}

TEST(Zstd, RoundTrip) {
  for (size_t bytes : {0, 1, 1000, 3000000}) {
    std::string text = makeText(bytes), frame = compressZstd(text);
    EXPECT_TRUE(isZstd(frame));
    EXPECT_EQ(llvm::cantFail(decompressZstd(frame)), text);
  }
}

TEST(Zstd, SeveralFramesAreOneText) {
  EXPECT_EQ(llvm::cantFail(
                decompressZstd(compressZstd("one\n") + compressZstd("two\n"))),
            "one\ntwo\n");
}

TEST(Zstd, DamageIsAnError) {
  std::string frame = compressZstd(makeText(100000));
  auto reason = [](llvm::StringRef data, uint64_t limit = maxInputBytes) {
    llvm::Expected<std::string> text = decompressZstd(data, limit);
    return text ? std::string("no error") : toString(text.takeError());
  };
  EXPECT_EQ(reason(llvm::StringRef(frame).drop_back(5)),
            "truncated Zstandard data");
  EXPECT_EQ(reason(llvm::StringRef(frame).take_front(4)),
            "truncated Zstandard data");
  std::string damaged = frame;
  damaged[damaged.size() / 2] ^= 0x10;
  EXPECT_TRUE(
      llvm::StringRef(reason(damaged)).starts_with("not valid Zstandard data"));
  EXPECT_EQ(reason(frame, 1000),
            "it has more than 1000 bytes when decompressed");
  EXPECT_FALSE(isZstd("{\"text\": 1}"));
}
