//===- FilesTest.cpp - Output files and work directories ------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ErrorText.h"
#include "TestPayload.h"

#include "cwm/Support/WriteFile.h"
#include "cwm/Tune/OutputFile.h"
#include "cwm/Tune/WorkDirectory.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <sys/stat.h>

using namespace cwm;
using namespace llvm;
using ::testing::HasSubstr;

namespace {
class Files : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("cwm-tune", folder));
  }
  void TearDown() override { sys::fs::remove_directories(folder); }

  std::string at(StringRef name) const {
    SmallString<128> path(folder);
    sys::path::append(path, name);
    return std::string(path);
  }
  void put(StringRef name, StringRef text) {
    std::error_code code;
    raw_fd_ostream(at(name), code) << text;
    ASSERT_FALSE(code);
  }
  std::string get(StringRef name) {
    auto buffer = MemoryBuffer::getFile(at(name));
    return buffer ? (*buffer)->getBuffer().str() : "<missing>";
  }
  int countEntries() {
    int count = 0;
    std::error_code code;
    for (sys::fs::directory_iterator i(folder, code), end; i != end;
         i.increment(code))
      ++count;
    return count;
  }

  SmallString<128> folder;
};
} // namespace

using cwm::test::errorOf;

TEST_F(Files, WritesAndReplaces) {
  EXPECT_THAT(errorOf(writeFile(at("a"), "one")), ::testing::IsEmpty());
  EXPECT_THAT(errorOf(writeFile(at("a"), "two")), ::testing::IsEmpty());
  EXPECT_EQ(get("a"), "two");
  EXPECT_EQ(countEntries(), 1) << "temporary files are left";
}

TEST_F(Files, NamesTheFileItCannotWrite) {
  EXPECT_THAT(errorOf(writeFile(at("no/such/a"), "x")),
              HasSubstr("cannot write '" + at("no/such/a") +
                        "': No such file or directory"));
}

TEST_F(Files, OutputCheckLeavesNothing) {
  EXPECT_THAT(errorOf(checkOutput(at("a"), "w", false)), ::testing::IsEmpty());
  EXPECT_EQ(countEntries(), 0);
  EXPECT_THAT(errorOf(checkOutput("-", "w", false)), ::testing::IsEmpty());
}

TEST_F(Files, OutputCheckRefusesForeignFiles) {
  put("notes.txt", "important");
  EXPECT_THAT(errorOf(checkOutput(at("notes.txt"), "w", false)),
              HasSubstr("exists and is not a result of cwm-tune"));
  EXPECT_THAT(errorOf(checkOutput(at("notes.txt"), "w", true)),
              ::testing::IsEmpty());
  EXPECT_EQ(get("notes.txt"), "important");
}

TEST_F(Files, OutputCheckKnowsItsOwnResults) {
  put("best.mlir", "// cwm-tune result: x\n// payload:   p.mlir, @f\n"
                   "// workload:  abc\n");
  EXPECT_THAT(errorOf(checkOutput(at("best.mlir"), "abc", false)),
              ::testing::IsEmpty());
  EXPECT_THAT(
      errorOf(checkOutput(at("best.mlir"), "def", false)),
      HasSubstr("is the result of p.mlir, @f (workload abc), not of this "
                "payload (workload def)"));
}

TEST_F(Files, OutputCheckRefusesFoldersAndDevices) {
  EXPECT_THAT(errorOf(checkOutput(folder, "w", true)),
              HasSubstr("is a directory"));
  EXPECT_THAT(errorOf(checkOutput("/dev/null", "w", true)),
              HasSubstr("not a regular file"));
  EXPECT_THAT(errorOf(checkOutput("", "w", true)), HasSubstr("empty name"));
}

TEST_F(Files, WorkDirectoryIsMadeAndFoundAgain) {
  mlir::MLIRContext context;
  Payload payload = test::makePayload(context, 4);
  for (int run = 0; run < 2; ++run) {
    Expected<WorkDirectory> directory =
        WorkDirectory::open(at("w.cwm"), payload, "p.mlir");
    ASSERT_TRUE(static_cast<bool>(directory));
    EXPECT_EQ(directory->getFile("records.db"), at("w.cwm/records.db"));
  }
  EXPECT_THAT(get("w.cwm/payload.mlir"), HasSubstr("func.func @exp2"));
  EXPECT_THAT(get("w.cwm/run.json"),
              HasSubstr(payload.getWorkloadHash().str()));
}

TEST_F(Files, WorkDirectoryWithAPipeIsNotWaitedFor) {
  mlir::MLIRContext context;
  Payload payload = test::makePayload(context, 4);
  ASSERT_FALSE(sys::fs::create_directory(at("w")));
  ASSERT_EQ(::mkfifo(at("w/run.json").c_str(), 0600), 0);
  EXPECT_THAT(errorOf(WorkDirectory::open(at("w"), payload, "p.mlir")),
              HasSubstr("cannot read '" + at("w/run.json") +
                        "': it is not a regular file"));
}

TEST_F(Files, WorkDirectoryOfAnotherPayloadIsRefused) {
  mlir::MLIRContext context;
  Payload payload = test::makePayload(context, 4);
  Payload other = test::makePayload(context, 5);
  ASSERT_THAT(errorOf(WorkDirectory::open(at("w"), payload, "p.mlir")),
              ::testing::IsEmpty());
  std::string before = get("w/payload.mlir");
  EXPECT_THAT(errorOf(WorkDirectory::open(at("w"), other, "o.mlir")),
              HasSubstr("work directory '" + at("w") +
                        "' belongs to 'p.mlir', @exp2 (workload " +
                        payload.getWorkloadHash().str() +
                        "), not to 'o.mlir', @exp2 (workload " +
                        other.getWorkloadHash().str() + ")"));
  EXPECT_EQ(get("w/payload.mlir"), before);
}

TEST_F(Files, WorkDirectoryIsNoForeignFolder) {
  mlir::MLIRContext context;
  Payload payload = test::makePayload(context, 4);
  put("thesis.tex", "x");
  EXPECT_THAT(errorOf(WorkDirectory::open(folder, payload, "p.mlir")),
              HasSubstr("is not a work directory of cwm"));
  EXPECT_THAT(errorOf(WorkDirectory::open(at("thesis.tex"), payload, "p")),
              HasSubstr("is a file"));
}

TEST_F(Files, WorkDirectoryWithMalformedOwnerIsRefused) {
  mlir::MLIRContext context;
  Payload payload = test::makePayload(context, 4);
  put("run.json", "{\"workload\": ");
  EXPECT_THAT(errorOf(WorkDirectory::open(folder, payload, "p.mlir")),
              HasSubstr("is malformed"));
}

TEST_F(Files, WorkDirectoryOfAnInterruptedStartIsTaken) {
  mlir::MLIRContext context;
  Payload payload = test::makePayload(context, 4);
  put("payload.mlir", "half");
  EXPECT_THAT(errorOf(WorkDirectory::open(folder, payload, "p.mlir")),
              ::testing::IsEmpty());
  EXPECT_THAT(get("payload.mlir"), HasSubstr("func.func @exp2"));
}

TEST(WorkDirectoryTest, DefaultIsBesideTheOutput) {
  EXPECT_EQ(WorkDirectory::getDefaultPath("in/mm.mlir", "", "out/best.mlir"),
            "out/mm.cwm");
  EXPECT_EQ(WorkDirectory::getDefaultPath("in/mm.mlir", "", "-"), "mm.cwm");
  EXPECT_EQ(WorkDirectory::getDefaultPath("-", "", "best.mlir"), "stdin.cwm");
}

TEST(WorkDirectoryTest, DefaultHasTheFunctionThatWasNamed) {
  EXPECT_EQ(WorkDirectory::getDefaultPath("mm.mlir", "f", "out/best.mlir"),
            "out/mm.f.cwm");
  // A symbol may have any name, a file not.
  EXPECT_EQ(WorkDirectory::getDefaultPath("mm.mlir", "../a b", "-"),
            "mm..._a_b.cwm");
}

TEST_F(Files, WorkDirectoryIsNamedInUTF8) {
  mlir::MLIRContext context;
  Payload payload = test::makePayload(context, 4);
  EXPECT_THAT(errorOf(WorkDirectory::open(at("caf\xe9"), payload, "p.mlir")),
              HasSubstr("is not UTF-8: give another --work-dir"));
  EXPECT_EQ(countEntries(), 0);
  // The default follows from a name that the user may not have chosen.
  std::string path = WorkDirectory::getDefaultPath("caf\xe9.mlir", "", "-");
  EXPECT_THAT(errorOf(WorkDirectory::open(at(path), payload, "caf\xe9.mlir")),
              ::testing::IsEmpty());
}

TEST(WriteError, EveryFullDiskIsCalledSo) {
  for (int code : {ENOSPC, EDQUOT, EFBIG}) {
    std::error_code error(code, std::generic_category());
    EXPECT_TRUE(isDiskFull(error));
    EXPECT_EQ(describeWriteError(error), "the disk is full");
    EXPECT_EQ(nameFullDisk("cannot create 'x': " + error.message() + "!"),
              "cannot create 'x': the disk is full!");
  }
  std::error_code other(EACCES, std::generic_category());
  EXPECT_EQ(describeWriteError(other), "Permission denied");
  EXPECT_EQ(nameFullDisk("x: Permission denied"), "x: Permission denied");
}
