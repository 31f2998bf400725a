//===- Lock.cpp - One live writer a file ------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lock.h"

#include "cwm/Support/WriteFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errno.h"

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace cwm {

/// What a lock of ours holds at most: the number of a process and a newline.
static constexpr size_t maxLength = 31;

/// Reads the process in the lock file `fd`, "" when it does not say; nullopt
/// when the file is not one of ours.
static std::optional<std::string> readHolder(int fd) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;
  char text[maxLength + 1];
  ssize_t length = sys::RetryAfterSignal(
      -1, ::pread, fd, static_cast<void *>(text), sizeof(text), 0);
  if (length < 0 || size_t(length) > maxLength)
    return std::nullopt;
  StringRef holder = StringRef(text, length).rtrim('\n');
  return all_of(holder, isDigit) ? std::optional(holder.str()) : std::nullopt;
}

bool FileLock::isBeside(StringRef path) {
  int fd = sys::RetryAfterSignal(-1, ::open, (path + ".lock").str().c_str(),
                                 O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return false;
  bool isOurs = readHolder(fd).has_value();
  ::close(fd);
  return isOurs;
}

Expected<FileLock> FileLock::acquire(StringRef path) {
  std::string lockPath = (path + ".lock").str();
  // Close-on-exec: a worker process that outlives a killed driver must not
  // keep the lock.
  int fd =
      sys::RetryAfterSignal(-1, ::open, lockPath.c_str(),
                            O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
  if (fd < 0) {
    std::error_code code(errno, std::generic_category());
    return createStringError(code, "cannot write '" + lockPath +
                                       "': " + describeWriteError(code));
  }
  std::optional<std::string> holder = readHolder(fd);
  if (!holder) {
    ::close(fd);
    return createStringError("'" + lockPath +
                             "' exists and is not a lock of cwm: give another "
                             "--database");
  }
  if (sys::RetryAfterSignal(-1, ::flock, fd, LOCK_EX | LOCK_NB) != 0) {
    int error = errno;
    ::close(fd);
    if (error != EWOULDBLOCK)
      return createStringError(std::error_code(error, std::generic_category()),
                               "cannot lock '" + lockPath +
                                   "': " + sys::StrError(error));
    return createStringError("'" + path + "' is held by a live run (process " +
                             (holder->empty() ? "unknown" : *holder) + ")");
  }
  // For the message only: a full disk must not refuse the lock.
  std::string process = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd, 0) != 0 ||
      ::pwrite(fd, process.data(), process.size(), 0) < 0)
    errno = 0;
  return FileLock(fd);
}

FileLock::~FileLock() {
  if (fd >= 0)
    ::close(fd);
}

} // namespace cwm
