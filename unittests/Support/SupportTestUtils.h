//===- SupportTestUtils.h - A folder for each test -------------- -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_UNITTESTS_SUPPORT_SUPPORTTESTUTILS_H
#define CWM_UNITTESTS_SUPPORT_SUPPORTTESTUTILS_H

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <sys/wait.h>

namespace cwm::test {

class FolderTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("cwm-test", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string at(llvm::StringRef name) const {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    return path.str().str();
  }
  static void write(llvm::StringRef path, llvm::StringRef text) {
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << text;
    ASSERT_FALSE(code);
  }
  void put(llvm::StringRef name, llvm::StringRef text) const {
    write(at(name), text);
  }
  std::string get(llvm::StringRef name) const {
    auto buffer = llvm::MemoryBuffer::getFile(at(name));
    return buffer ? (*buffer)->getBuffer().str() : "<missing>";
  }

  llvm::SmallString<128> folder;
};

} // namespace cwm::test

#endif // CWM_UNITTESTS_SUPPORT_SUPPORTTESTUTILS_H
