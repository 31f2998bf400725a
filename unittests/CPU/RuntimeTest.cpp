//===- RuntimeTest.cpp - The allocator of generated code --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm_runtime.h"

#include "gtest/gtest.h"

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace {

uintptr_t getAddress(void *block) { return reinterpret_cast<uintptr_t>(block); }

TEST(Runtime, BlocksAreAlignedDisjointAndWritable) {
  std::vector<std::pair<char *, size_t>> blocks;
  for (size_t size :
       {size_t(0), size_t(1), size_t(63), size_t(64), size_t(65), size_t(255),
        size_t(257), size_t(321), size_t(1000), size_t(4096), size_t(5000),
        size_t(100000), size_t(3 << 20)}) {
    for (int copy = 0; copy < 3; ++copy) {
      auto *block = static_cast<char *>(cwm_alloc(size));
      EXPECT_EQ(getAddress(block) % 64, 0u) << size;
      memset(block, static_cast<int>(blocks.size()), size);
      blocks.emplace_back(block, size);
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    auto [block, size] = blocks[i];
    for (size_t j = 0; j < size; ++j)
      ASSERT_EQ(block[j], static_cast<char>(i)) << size << " at " << j;
    cwm_free(block);
  }
  cwm_free(nullptr);
}

TEST(Runtime, FreedBlocksAreUsedAgain) {
  void *first = cwm_alloc(123456);
  cwm_free(first);
  size_t pooled = cwm_pool_bytes();
  EXPECT_GE(pooled, 123456u);
  // Same class, so the same block; another class does not take it.
  void *other = cwm_alloc(12);
  EXPECT_NE(other, first);
  void *second = cwm_alloc(123400);
  EXPECT_EQ(second, first);
  EXPECT_LT(cwm_pool_bytes(), pooled);
  cwm_free(second);
  cwm_free(other);
  cwm_pool_trim();
  EXPECT_EQ(cwm_pool_bytes(), 0u);
}

TEST(Runtime, LargeBlocksDoNotStartAtTheSamePlaceOfAPage) {
  std::set<uintptr_t> offsets;
  std::vector<void *> blocks;
  for (int i = 0; i < 8; ++i) {
    blocks.push_back(cwm_alloc(2 << 20));
    EXPECT_LT(getAddress(blocks.back()) % (2 << 20), 4096u);
    offsets.insert(getAddress(blocks.back()) % 4096);
  }
  EXPECT_EQ(offsets.size(), 8u);
  for (void *block : blocks)
    cwm_free(block);
  cwm_pool_trim();
}

TEST(Runtime, ThreadsDoNotShareBlocks) {
  auto work = [](char id, bool &ok) {
    ok = true;
    for (int i = 0; i < 2000; ++i) {
      size_t size = 64 + static_cast<size_t>(i) % 7 * 512;
      auto *block = static_cast<char *>(cwm_alloc(size));
      memset(block, id, size);
      for (size_t j = 0; j < size; ++j)
        ok &= block[j] == id;
      cwm_free(block);
    }
  };
  bool first = false, second = false;
  std::thread thread([&] { work(1, first); });
  work(2, second);
  thread.join();
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

TEST(RuntimeChecking, IntactBlocksPass) {
  cwm_checking_begin();
  auto *block = static_cast<unsigned char *>(cwm_alloc(100));
  EXPECT_EQ(getAddress(block) % 64, 0u);
  EXPECT_EQ(block[0], 0xff); // NaN, for whatever is read before it is written
  memset(block, 1, 100);
  cwm_free(block);
  size_t leaked = 7;
  EXPECT_EQ(cwm_checking_end(&leaked), 0u);
  EXPECT_EQ(leaked, 0u);
}

TEST(RuntimeChecking, OverwrittenCanariesAreCounted) {
  cwm_checking_begin();
  auto *before = static_cast<char *>(cwm_alloc(64));
  auto *behind = static_cast<char *>(cwm_alloc(100));
  auto *intact = static_cast<char *>(cwm_alloc(100));
  before[-1] = 0;
  behind[100] = 0; // in the gap in front of the guard page
  cwm_free(before);
  size_t leaked = 0;
  EXPECT_EQ(cwm_checking_end(&leaked), 2u);
  EXPECT_EQ(leaked, 2u);
  // Blocks of the checking mode may be freed after it, and a new round starts
  // from nothing.
  cwm_free(behind);
  cwm_free(intact);
  cwm_checking_begin();
  EXPECT_EQ(cwm_checking_end(nullptr), 0u);
}

TEST(RuntimeChecking, BlocksOfTheOtherModeMayBeFreed) {
  void *pooled = cwm_alloc(128);
  cwm_checking_begin();
  cwm_free(pooled);
  EXPECT_EQ(cwm_checking_end(nullptr), 0u);
  EXPECT_EQ(cwm_alloc(128), pooled);
  cwm_free(pooled);
}

using RuntimeDeathTest = ::testing::Test;

TEST(RuntimeDeathTest, GuardPagesFault) {
  // Behind the last line, in front of the canaries' page, and after free.
  auto touch = [](ptrdiff_t offset, bool release) {
    cwm_checking_begin();
    auto *block = static_cast<volatile char *>(cwm_alloc(4096));
    if (release)
      cwm_free(const_cast<char *>(block));
    block[offset] = 1;
  };
  EXPECT_DEATH(touch(4096, false), "");
  EXPECT_DEATH(touch(-4097, false), "");
  EXPECT_DEATH(touch(0, true), "");
}

TEST(RuntimeDeathTest, AbsurdSizesAbortWithAMessage) {
  EXPECT_DEATH(cwm_alloc(~size_t(0)),
               "cwm_alloc: out of memory for 18446744073709551615 bytes");
}

} // namespace
