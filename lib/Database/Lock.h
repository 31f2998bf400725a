//===- Lock.h - One live writer a file --------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_DATABASE_LOCK_H
#define CWM_LIB_DATABASE_LOCK_H

#include "llvm/Support/Error.h"

namespace cwm {

/// An advisory lock on `<path>.lock`. The kernel drops it when its holder
/// ends, however it ends, so the file that a killed run leaves behind does not
/// block the next one; the process id inside is only for the message.
class FileLock {
public:
  /// Fails at once when a live process holds the lock, and when a file of that
  /// name is not one of ours: what is in it would be lost.
  static llvm::Expected<FileLock> acquire(llvm::StringRef path);
  /// Whether a run of ours, live or killed, left a lock beside `path`.
  static bool isBeside(llvm::StringRef path);

  FileLock(FileLock &&other) : fd(other.fd) { other.fd = -1; }
  FileLock(const FileLock &) = delete;
  FileLock &operator=(const FileLock &) = delete;
  FileLock &operator=(FileLock &&) = delete;
  ~FileLock();

private:
  explicit FileLock(int fd) : fd(fd) {}
  int fd;
};

} // namespace cwm

#endif // CWM_LIB_DATABASE_LOCK_H
