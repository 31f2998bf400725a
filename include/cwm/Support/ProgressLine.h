//===- ProgressLine.h - One line that says how far it is -------- -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SUPPORT_PROGRESSLINE_H
#define CWM_SUPPORT_PROGRESSLINE_H

#include "llvm/Support/raw_ostream.h"

namespace cwm {

/// On a terminal one line that overwrites itself, cut to its width; elsewhere a
/// plain line for what is news.
class ProgressLine {
public:
  /// `columns` is the terminal's width, 0 when `os` is no terminal.
  ProgressLine(llvm::raw_ostream &os, unsigned columns)
      : os(os), columns(columns) {}

  void show(llvm::StringRef text, bool isNews);
  /// Ends the line, so that other messages start on one of their own.
  void finish();
  bool isTerminal() const { return columns > 0; }
  /// Width of the terminal behind stderr, 0 if there is none.
  static unsigned getTerminalColumns();

private:
  llvm::raw_ostream &os;
  unsigned columns;
  bool lineOpen = false;
};

} // namespace cwm

#endif // CWM_SUPPORT_PROGRESSLINE_H
