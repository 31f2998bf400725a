//===- Options.h - What the user of cwm-tune asked for -------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TUNE_OPTIONS_H
#define CWM_TUNE_OPTIONS_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace cwm {

/// Everything that the command line of cwm-tune says.
struct TuneOptions {
  // Input
  std::string payload;  ///< file, "-" is stdin
  std::string function; ///< entry; empty: the only public function
  std::string schedule; ///< the user's own schedule; empty: the sketches
  std::string target = "cpu";
  std::string hardware; ///< description file; empty: probe this machine

  // Search
  int64_t trials = 64;          ///< 0: no search, the default candidate
  double timeBudgetSeconds = 0; ///< 0: no limit
  uint64_t seed = 0;
  /// "world-model", "features", "random"; empty: the first if there is a model
  /// for the target, else the second.
  std::string scorer;
  std::string model; ///< folder; empty: the installed one
  /// Say which actions moved the score of the best candidate.
  bool explain = false;
  bool stockOnly = false;
  bool dryRun = false, countOnly = false, checkKnobs = false;
  int64_t checkSpace = 0; ///< candidates to sample; 0: tune instead

  // Measurement
  int64_t threads = 1;
  int64_t jobs = 0; ///< compiling workers; 0: one for each core
  std::string measurer = "workers";
  std::string replayFrom, replayJournal; ///< of the replaying measurer
  int64_t replayDelayMs = 0;
  bool keepObjects = false;

  // Output
  std::string output = "best.mlir"; ///< "-" is stdout
  std::string workDir;              ///< empty: see getDefaultPath
  std::string database;             ///< empty: `<work dir>/records.db`
  bool resume = true;
  std::string exportRecords, importRecords, summary;
  bool force = false, verbose = false;

  /// The first flag that was given an empty value, as in `--schedule=`: of a
  /// script whose variable is empty, say. Never what the user means.
  std::string emptyFlag;

  /// The only check of values; names the flag and the rule.
  llvm::Error validate() const;
};

/// Fills `options` from the command line. Prints and exits the process on
/// --help, --version and malformed flags, as LLVM's tools do.
TuneOptions parseTuneCommandLine(int argc, char **argv);

} // namespace cwm

#endif // CWM_TUNE_OPTIONS_H
