//===- ReadFile.cpp - Inputs that may be anything --------------- -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Support/ReadFile.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

static Error makeError(StringRef path, std::error_code code,
                       const Twine &reason) {
  std::string name = path == "-" ? "stdin" : "'" + path.str() + "'";
  return createStringError(code, "cannot read " + name + ": " + reason);
}

static Error makeError(StringRef path, const Twine &reason) {
  return makeError(path, std::make_error_code(std::errc::invalid_argument),
                   reason);
}

static Error makeSystemError(StringRef path) {
  std::error_code code(errno, std::generic_category());
  return makeError(path, code, code.message());
}

static std::string describeBytes(uint64_t bytes) {
  return bytes >= (1 << 20) ? std::to_string(bytes >> 20) + " MiB"
                            : std::to_string(bytes) + " bytes";
}

static bool isNullDevice(const struct stat &status) {
  struct stat null = {};
  return ::stat("/dev/null", &null) == 0 && null.st_rdev == status.st_rdev;
}

namespace {
class Descriptor {
public:
  explicit Descriptor(int fd, bool owned) : fd(fd), owned(owned) {}
  ~Descriptor() {
    if (owned && fd >= 0)
      ::close(fd);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int get() const { return fd; }

private:
  int fd;
  bool owned;
};
} // namespace

/// Whether what `status` and `fd` stand for is read at all.
static Error checkKind(StringRef path, const struct stat &status, int fd,
                       bool regularOnly) {
  if (regularOnly && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
    return makeError(path, "it is not a regular file");
  bool isDevice = S_ISBLK(status.st_mode) ||
                  (S_ISCHR(status.st_mode) && !isNullDevice(status) &&
                   (fd < 0 || !::isatty(fd)));
  if (isDevice)
    return makeError(path, "it is a device");
  return Error::success();
}

static Expected<std::unique_ptr<MemoryBuffer>>
readFile(StringRef path, uint64_t maxBytes, bool regularOnly) {
  bool isStdin = path == "-" && !regularOnly;
  std::string file = path.str();
  struct stat status = {};
  if (!isStdin && ::stat(file.c_str(), &status) != 0)
    return makeSystemError(path);
  // Opening a device may do something and opening a pipe waits; only a pipe
  // that is asked for is worth that.
  bool isPipe = S_ISFIFO(status.st_mode) && !regularOnly;
  int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (isPipe ? 0 : O_NONBLOCK);
  Descriptor fd(isStdin
                    ? STDIN_FILENO
                    : sys::RetryAfterSignal(-1, ::open, file.c_str(), flags),
                /*owned=*/!isStdin);
  if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0)
    return makeSystemError(path);
  if (Error error = checkKind(path, status, fd.get(), regularOnly))
    return std::move(error);
  // A terminal is worth waiting for, too.
  if (!isStdin && ::fcntl(fd.get(), F_SETFL, O_RDONLY) != 0)
    return makeSystemError(path);
  auto tooLong = [&] {
    return makeError(path, "it has more than " + describeBytes(maxBytes) +
                               ", the most that is read");
  };
  uint64_t expected =
      S_ISREG(status.st_mode) ? static_cast<uint64_t>(status.st_size) : 0;
  if (expected > maxBytes)
    return tooLong();
  // Not mapped into memory: whoever truncated the file would end this process.
  constexpr size_t chunk = 1 << 16;
  SmallVector<char, 0> bytes;
  bytes.reserve(expected + chunk + 1);
  while (true) {
    size_t size = bytes.size();
    bytes.resize_for_overwrite(size + chunk);
    ssize_t count =
        sys::RetryAfterSignal(-1, ::read, fd.get(), &bytes[size], chunk);
    if (count < 0)
      return makeSystemError(path);
    bytes.truncate(size + count);
    if (bytes.size() > maxBytes)
      return tooLong();
    if (count == 0)
      break;
  }
  return std::make_unique<SmallVectorMemoryBuffer>(
      std::move(bytes), isStdin ? "<stdin>" : path,
      /*RequiresNullTerminator=*/true);
}

Expected<std::unique_ptr<MemoryBuffer>> cwm::readInput(StringRef path,
                                                       uint64_t maxBytes) {
  return readFile(path, maxBytes, /*regularOnly=*/false);
}

Expected<std::unique_ptr<MemoryBuffer>> cwm::readOwnFile(StringRef path,
                                                         uint64_t maxBytes) {
  return readFile(path, maxBytes, /*regularOnly=*/true);
}
