//===- TrialResult.h - What came of one trial -------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_TRIALRESULT_H
#define CWM_RUNNER_TRIALRESULT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <cstdint>
#include <optional>
#include <string>

namespace cwm {

/// How a trial ended. The names are stored in records.
enum class TrialStatus {
  Ok,
  Invalid,        ///< refused by a static rule before anything ran
  TransformError, ///< the interpreter failed
  LowerError,     ///< lowering or code generation failed
  CompileTimeout, ///< transforming, lowering or compiling took too long
  Crash,          ///< the worker died (signal in the message)
  RunTimeout,     ///< the kernel took too long
  WrongResult     ///< the numbers differ, or memory outside was touched
};

/// "ok", "invalid", "transform_error", ...: as in DESIGN.md.
llvm::StringRef stringifyTrialStatus(TrialStatus status);
std::optional<TrialStatus> symbolizeTrialStatus(llvm::StringRef name);

/// Everything measured of one trial.
struct TrialResult {
  TrialStatus status = TrialStatus::Invalid;
  /// Empty when ok, else one line that names the rule or the error.
  std::string reason;
  /// For crashes and timeouts: the one command that reproduces it.
  std::string reproducer;
  /// Median time of one call in nanoseconds (0 unless ok).
  double timeNs = 0;
  /// Median over rounds of reference time / kernel time: higher is faster.
  /// The reference kernel is fixed for a target, so scores of one target
  /// compare across workloads' runs. The value that search maximises.
  double score = 0;
  /// Half-width of the score's spread over rounds, relative.
  double scoreSpread = 0;
  int64_t numRounds = 0;
  /// Largest |difference| / scale that the numeric check saw.
  double maxError = 0;
  /// Bytes of machine code.
  int64_t codeBytes = 0;
  /// Wall milliseconds by stage.
  double transformMs = 0, lowerMs = 0, compileMs = 0, checkMs = 0, timeMs = 0;

  bool isOk() const { return status == TrialStatus::Ok; }
};

/// Lossless, as an object; status by name, empty texts left out.
llvm::json::Value toJSON(const TrialResult &result);
/// Fails (with the place in `path`) on an unknown status or a wrong type.
/// Fields that are absent keep their defaults.
bool fromJSON(const llvm::json::Value &value, TrialResult &result,
              llvm::json::Path path);

} // namespace cwm

#endif // CWM_RUNNER_TRIALRESULT_H
