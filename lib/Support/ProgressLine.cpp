//===- ProgressLine.cpp - One line that says how far it is ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Support/ProgressLine.h"

#include <sys/ioctl.h>
#include <unistd.h>

using namespace llvm;

unsigned cwm::ProgressLine::getTerminalColumns() {
  if (!::isatty(STDERR_FILENO))
    return 0;
  struct winsize size = {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 80;
}

void cwm::ProgressLine::show(StringRef text, bool isNews) {
  if (columns > 0) {
    // The last column stays free: some terminals wrap when it is written.
    os << "\r" << text.take_front(columns > 1 ? columns - 1 : 1) << "\x1b[K";
    lineOpen = true;
  } else if (isNews) {
    os << text << "\n";
  }
  os.flush();
}

void cwm::ProgressLine::finish() {
  if (lineOpen)
    os << "\n";
  os.flush();
  lineOpen = false;
}
