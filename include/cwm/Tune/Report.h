//===- Report.h - Progress lines and the final table ---------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TUNE_REPORT_H
#define CWM_TUNE_REPORT_H

#include "cwm/Search/Search.h"
#include "cwm/Support/ProgressLine.h"
#include "cwm/Target/CPU/Hardware.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace cwm {

/// "1.23 ms" with three significant digits and a fitting unit.
std::string formatTime(double nanoseconds);

/// "[12/64] best 1.90 ms (141 GFLOP/s, 3.42x the baseline), 4 failed, 12 s".
std::string formatProgress(const SearchProgress &progress, double flops);

/// Shows progress: one line on a terminal; elsewhere a plain line when the best
/// improves and every 16 trials.
class ProgressPrinter {
public:
  /// `columns` is the terminal's width, 0 when `os` is no terminal.
  ProgressPrinter(llvm::raw_ostream &os, double flops, unsigned columns)
      : line(os, columns), flops(flops) {}

  void show(const SearchProgress &progress);
  /// Ends the line, so that other messages start on one of their own.
  void finish() { line.finish(); }

private:
  ProgressLine line;
  double flops;
  double lastBest = 0;
  int64_t lastTrials = -1;
};

/// What the final table and --summary tell.
struct RunReport {
  std::string payloadFile, target, outputFile, toolchain;
  /// The payload alone in a file, for the command that applies the result.
  std::string appliedFile;
  double flops = 0, peakGflops = 0;
  /// Wall seconds of the whole run, and of it spent waiting for workers.
  double wallSeconds = 0, busySeconds = 0;
  double noiseFloor = 0;
  /// Of the result with upstream's lowering passes, or why there is none.
  double stockTimeNs = 0;
  std::string stockFailure;
  /// Lines that say which actions moved the best candidate's score; empty: not
  /// asked for.
  std::string explanation;
  /// Scorer::getName() of the search; empty without one.
  std::string scorer;
  /// The plugin, where the result needs it.
  std::string pluginFile;
  /// False where the default candidate was taken without a search.
  bool searched = true;
  SearchSummary summary;

  /// best score / baseline score; 1 when there is no baseline result.
  double getSpeedup() const;
  /// Share of the wall time that is neither compiling nor running kernels.
  double getDriverOverhead() const;
  void print(llvm::raw_ostream &os) const;
  llvm::json::Value toJSON() const;
};

} // namespace cwm

#endif // CWM_TUNE_REPORT_H
