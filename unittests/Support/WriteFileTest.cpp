//===- WriteFileTest.cpp - Tests of writing through links ------- -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Support/WriteFile.h"

#include "SupportTestUtils.h"

#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace cwm;

namespace {
class WriteThroughLinks : public cwm::test::FolderTest {
protected:
  void SetUp() override {
    FolderTest::SetUp();
    ASSERT_FALSE(sys::fs::create_directory(at("sub")));
  }
  void link(StringRef target, StringRef name) const {
    ASSERT_EQ(::symlink(target.str().c_str(), at(name).c_str()), 0);
  }
  bool isLink(StringRef name) const {
    return sys::fs::is_symlink_file(Twine(at(name)));
  }
  std::string write(StringRef name) const {
    return toString(writeFile(at(name), "new"));
  }
};
} // namespace

TEST_F(WriteThroughLinks, LinksStay) {
  put("sub/file", "old");
  link("sub/file", "relative");
  link(at("sub/file"), "absolute");
  link("../relative", "sub/chain");
  for (StringRef name : {"relative", "absolute", "sub/chain"}) {
    put("sub/file", "old");
    EXPECT_EQ(write(name), "");
    EXPECT_TRUE(isLink(name)) << name.str();
    EXPECT_EQ(get("sub/file"), "new") << name.str();
  }
}

TEST_F(WriteThroughLinks, WhatALinkLeadsToIsMade) {
  link("sub/made", "dangling");
  link("dangling", "chain");
  EXPECT_EQ(cantFail(followLinks(at("chain"))), at("sub/made"));
  EXPECT_EQ(write("chain"), "");
  EXPECT_TRUE(isLink("chain") && isLink("dangling"));
  EXPECT_EQ(get("sub/made"), "new");
  int descriptor = -1;
  SmallString<128> name;
  ASSERT_FALSE(bool(createBeside(at("chain"), descriptor, name)));
  ::close(descriptor);
  EXPECT_EQ(sys::path::parent_path(name), at("sub"));
  EXPECT_FALSE(removeTemporary(name));
}

TEST_F(WriteThroughLinks, ErrorsNameTheLink) {
  link("nowhere/file", "broken");
  EXPECT_EQ(write("broken"),
            "cannot write '" + at("broken") + "': No such file or directory");
  link("loop", "loop");
  EXPECT_EQ(write("loop"), "cannot write '" + at("loop") +
                               "': Too many levels of symbolic links");
  EXPECT_TRUE(isLink("broken") && isLink("loop"));
}

TEST_F(WriteThroughLinks, PipesAreNotReplaced) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  link("pipe", "link");
  EXPECT_EQ(write("link"),
            "cannot write '" + at("link") + "': it is not a regular file");
  struct stat status = {};
  ASSERT_EQ(::stat(at("pipe").c_str(), &status), 0);
  EXPECT_TRUE(S_ISFIFO(status.st_mode));
}
