//===- Lock.cpp - One live writer a file ------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lock.h"

#include "llvm/Support/Errno.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace llvm;

namespace cwm {

Expected<FileLock> FileLock::acquire(StringRef path) {
  std::string lockPath = (path + ".lock").str();
  // Close-on-exec: a worker process that outlives a killed driver must not
  // keep the lock.
  int fd = sys::RetryAfterSignal(-1, ::open, lockPath.c_str(),
                                 O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0)
    return createStringError(std::error_code(errno, std::generic_category()),
                             "cannot write '" + lockPath +
                                 "': " + sys::StrError());
  if (sys::RetryAfterSignal(-1, ::flock, fd, LOCK_EX | LOCK_NB) != 0) {
    int error = errno;
    char holder[32] = {};
    ssize_t length = ::pread(fd, holder, sizeof(holder) - 1, 0);
    ::close(fd);
    if (error != EWOULDBLOCK)
      return createStringError(std::error_code(error, std::generic_category()),
                               "cannot lock '" + lockPath +
                                   "': " + sys::StrError(error));
    StringRef process = StringRef(holder, std::max<ssize_t>(length, 0)).trim();
    return createStringError("'" + path + "' is held by a live run (process " +
                             (process.empty() ? "unknown" : process) + ")");
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
