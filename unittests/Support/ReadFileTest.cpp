//===- ReadFileTest.cpp - Tests of reading inputs --------------- -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Support/ReadFile.h"

#include "SupportTestUtils.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace cwm;

namespace {
class ReadFile : public cwm::test::FolderTest {
protected:
  using Result = Expected<std::unique_ptr<MemoryBuffer>>;
  static std::string show(Result result) {
    return result ? (*result)->getBuffer().str() : toString(result.takeError());
  }
};
} // namespace

TEST_F(ReadFile, RegularFiles) {
  put("empty", "");
  put("a", "one");
  std::string large(3000000, 'x');
  put("large", large);
  for (auto read : {readInput, readOwnFile}) {
    EXPECT_EQ(show(read(at("empty"), maxInputBytes)), "");
    EXPECT_EQ(show(read(at("a"), maxInputBytes)), "one");
    EXPECT_EQ(show(read(at("large"), maxInputBytes)), large);
  }
  Result buffer = readInput(at("a"));
  ASSERT_TRUE(bool(buffer));
  EXPECT_EQ(*(*buffer)->getBufferEnd(), '\0');
  EXPECT_EQ((*buffer)->getBufferIdentifier(), at("a"));
  // Regular, but of no size that is known before.
  EXPECT_NE(show(readInput("/proc/self/status")).find("Pid:"),
            std::string::npos);
}

TEST_F(ReadFile, LimitIsExact) {
  put("a", "12345");
  for (auto read : {readInput, readOwnFile}) {
    EXPECT_EQ(show(read(at("a"), 5)), "12345");
    EXPECT_EQ(show(read(at("a"), 4)),
              "cannot read '" + at("a") +
                  "': it has more than 4 bytes, the most that is read");
  }
  // Nothing of a file is read whose size says enough.
  put("sparse", "");
  ASSERT_EQ(::truncate(at("sparse").c_str(), off_t(1) << 40), 0);
  EXPECT_EQ(show(readInput(at("sparse"))),
            "cannot read '" + at("sparse") +
                "': it has more than 1024 MiB, the most that is read");
}

TEST_F(ReadFile, EndlessDevicesAreRefused) {
  for (const char *device : {"/dev/zero", "/dev/urandom", "/dev/full"}) {
    EXPECT_EQ(show(readInput(device)),
              std::string("cannot read '") + device + "': it is a device");
    EXPECT_EQ(show(readOwnFile(device)), std::string("cannot read '") + device +
                                             "': it is not a regular file");
  }
  EXPECT_EQ(show(readInput("/dev/null")), "");
}

TEST_F(ReadFile, PipesAreReadUpToTheLimit) {
  std::string pipe = at("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // Nobody writes: our own files are not waited for.
  EXPECT_EQ(show(readOwnFile(pipe)),
            "cannot read '" + pipe + "': it is not a regular file");
  auto readWhatIsWritten = [&](StringRef text, uint64_t limit) {
    pid_t writer = ::fork();
    if (writer == 0) {
      int fd = ::open(pipe.c_str(), O_WRONLY);
      ssize_t written = ::write(fd, text.data(), text.size());
      ::_exit(written < 0);
    }
    std::string result = show(readInput(pipe, limit));
    ::waitpid(writer, nullptr, 0);
    return result;
  };
  EXPECT_EQ(readWhatIsWritten("through a pipe", 100), "through a pipe");
  EXPECT_EQ(readWhatIsWritten("through a pipe", 5),
            "cannot read '" + pipe +
                "': it has more than 5 bytes, the most that is read");
}

TEST_F(ReadFile, SaysWhyNot) {
  EXPECT_EQ(show(readInput(at("none"))),
            "cannot read '" + at("none") + "': No such file or directory");
  EXPECT_EQ(show(readInput(folder)),
            "cannot read '" + folder.str().str() + "': Is a directory");
}
