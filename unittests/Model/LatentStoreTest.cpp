//===- LatentStoreTest.cpp - Latent states in a file ----------- -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/LatentStore.h"

#include "../Support/SupportTestUtils.h"
#include "cwm/Trajectory/StateText.h"

#include "llvm/Support/FileSystem.h"
#include "gmock/gmock.h"

using namespace llvm;
using namespace cwm;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

class LatentStoreTest : public test::FolderTest {
protected:
  LatentStore open(StringRef identity = "encoder", size_t dim = 3) {
    return cantFail(
        LatentStore::open(at("l"), identity, dim, [&](const Twine &line) {
          notes.push_back(line.str());
        }));
  }
  std::string getError(StringRef identity = "encoder", size_t dim = 3) {
    Expected<LatentStore> store =
        LatentStore::open(at("l"), identity, dim, [](const Twine &) {});
    return store ? "no error" : toString(store.takeError());
  }
  uint64_t getSize() {
    uint64_t size = 0;
    EXPECT_FALSE(sys::fs::file_size(at("l"), size));
    return size;
  }
  void resize(uint64_t size) {
    sys::fs::file_t file = cantFail(sys::fs::openNativeFileForReadWrite(
        at("l"), sys::fs::CD_OpenExisting, sys::fs::OF_None));
    ASSERT_FALSE(sys::fs::resize_file(file, size));
    sys::fs::closeFile(file);
  }
  void write(StringRef text, sys::fs::OpenFlags flags = sys::fs::OF_None) {
    std::error_code code;
    raw_fd_ostream os(at("l"), code, flags);
    os << text;
  }

  std::string a = hashText("a"), b = hashText("b"), c = hashText("c");
  std::vector<std::string> notes;
};

/// The length of a text and how often it has been called.
class CountingEncoder : public Encoder {
public:
  size_t getDim() const override { return 2; }
  Expected<std::vector<float>> encode(ArrayRef<StringRef> texts) override {
    std::vector<float> latents;
    for (StringRef text : texts) {
      seen.push_back(text.str());
      latents.push_back(static_cast<float>(text.size()));
      latents.push_back(static_cast<float>(groups));
    }
    groups += texts.empty() ? 0 : 1;
    return latents;
  }
  std::vector<std::string> seen;
  int groups = 0;
};

} // namespace

TEST_F(LatentStoreTest, StaysInTheFile) {
  {
    LatentStore store = open();
    EXPECT_THAT(store.find(a), IsEmpty());
    cantFail(store.add({a, b}, {1, 2, 3, 4, 5, 6}));
    cantFail(store.add({}, {}));
    EXPECT_THAT(store.find(b), ElementsAre(4, 5, 6));
  }
  {
    LatentStore store = open();
    EXPECT_EQ(store.size(), 2U);
    EXPECT_THAT(store.find(a), ElementsAre(1, 2, 3));
    EXPECT_THAT(store.find(c), IsEmpty());
    cantFail(store.add({c}, {7, 8, 9}));
    EXPECT_THAT(store.find(a), ElementsAre(1, 2, 3));
  }
  LatentStore store = open();
  EXPECT_THAT(store.find(b), ElementsAre(4, 5, 6));
  EXPECT_THAT(store.find(c), ElementsAre(7, 8, 9));
  EXPECT_THAT(notes, IsEmpty());
}

TEST_F(LatentStoreTest, TornEndIsDropped) {
  cantFail(open().add({a}, {1, 2, 3}));
  const uint64_t whole = getSize();
  cantFail(open().add({b, c}, {4, 5, 6, 7, 8, 9}));
  const uint64_t end = getSize();
  for (uint64_t size : {whole + 1, whole + 16, whole + 60, end - 1}) {
    resize(size);
    EXPECT_EQ(open().size(), 1U);
    EXPECT_EQ(getSize(), whole);
    ASSERT_THAT(notes, SizeIs(1));
    EXPECT_EQ(notes[0],
              "'" + at("l") + "' ends with " + std::to_string(size - whole) +
                  " bytes that were not written to the end; dropped them");
    notes.clear();
    cantFail(open().add({b, c}, {4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(getSize(), end);
  }
  // Of the right length, but not what was meant.
  resize(end - 8);
  write(std::string(8, 'x'), sys::fs::OF_Append);
  EXPECT_EQ(open().size(), 1U);
  // A header that was cut.
  resize(20);
  EXPECT_EQ(open().size(), 0U);
  cantFail(open().add({a}, {1, 2, 3}));
  EXPECT_EQ(getSize(), whole);
}

TEST_F(LatentStoreTest, FilesOfOthers) {
  std::string start = "cannot use the latent states in '" + at("l") + "': ";
  cantFail(open().add({a}, {1, 2, 3}));
  EXPECT_EQ(getError("another"), start + "they are of another encoder; remove "
                                         "the file, or name another one");
  EXPECT_THAT(getError("encoder", 4), HasSubstr("of another encoder"));
  {
    LatentStore store = open();
    EXPECT_EQ(getError(), start + "another process has the file open");
  }
  EXPECT_EQ(getError(), "no error");
  write("my notes, which are longer than the header of a file of latent "
        "states");
  EXPECT_EQ(getError(), start + "it is a file of something else");
  write("my notes");
  EXPECT_EQ(getError(), start + "it is a file of something else");
  sys::fs::remove(at("l"));
  sys::fs::create_directory(at("l"));
  EXPECT_THAT(getError(), HasSubstr(start));
}

TEST_F(LatentStoreTest, InMemory) {
  LatentStore store =
      cantFail(LatentStore::open("", "encoder", 1, [](const Twine &) {}));
  cantFail(store.add({a}, {1}));
  LatentStore moved = std::move(store);
  EXPECT_THAT(moved.find(a), ElementsAre(1));
}

TEST_F(LatentStoreTest, FillerEncodesWhatIsMissing) {
  auto fill = [&](CountingEncoder &encoder, bool stops) {
    LatentStore store = open("encoder", 2);
    LatentFiller::Options options;
    options.groupBytes = 6;
    int groups = 0;
    auto goesOn = [&]() -> Expected<bool> { return !stops || ++groups < 2; };
    options.goesOn = goesOn;
    LatentFiller filler(encoder, store, options);
    for (StringRef text : {"aaa", "bbb", "cc", "ddddd", "e"})
      if (!cantFail(filler.add(hashText(text), text)))
        return false;
    return cantFail(filler.finish());
  };
  // Two groups, then an interrupt, as if in front of the third.
  CountingEncoder first, second, third;
  EXPECT_FALSE(fill(first, true));
  EXPECT_THAT(first.seen, ElementsAre("aaa", "bbb", "cc", "ddddd"));
  EXPECT_EQ(first.groups, 2);
  EXPECT_TRUE(fill(second, false));
  EXPECT_THAT(second.seen, ElementsAre("e"));
  EXPECT_TRUE(fill(third, false));
  EXPECT_THAT(third.seen, IsEmpty());
  LatentStore store = open("encoder", 2);
  EXPECT_THAT(store.find(hashText("ddddd")), ElementsAre(5, 1));
  LatentFiller filler(third, store, {});
  EXPECT_TRUE(cantFail(filler.hasAll({hashText("aaa"), hashText("e")})));
  EXPECT_FALSE(cantFail(filler.hasAll({hashText("aaa"), a})));
}
