//===- WakePipe.h - Wakes a pool that waits for workers -------- -*- C++-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_RUNNER_WAKEPIPE_H
#define CWM_LIB_RUNNER_WAKEPIPE_H

#include "llvm/Support/Error.h"

#include <fcntl.h>
#include <unistd.h>

namespace cwm {

/// A pipe that a pool polls besides its workers.
class WakePipe {
public:
  WakePipe() = default;
  ~WakePipe() {
    for (int end : ends)
      if (end >= 0)
        close(end);
  }
  WakePipe(const WakePipe &) = delete;
  WakePipe &operator=(const WakePipe &) = delete;

  llvm::Error open() {
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
      return llvm::createStringError(
          std::error_code(errno, std::generic_category()),
          "cannot make a pipe");
    return llvm::Error::success();
  }
  /// Async-signal-safe.
  void wake() {
    char byte = 0;
    [[maybe_unused]] ssize_t written = ::write(ends[1], &byte, 1);
  }
  int getReadEnd() const { return ends[0]; }

private:
  int ends[2] = {-1, -1};
};

} // namespace cwm

#endif // CWM_LIB_RUNNER_WAKEPIPE_H
