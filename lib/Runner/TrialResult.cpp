//===- TrialResult.cpp - Names and JSON of trial results --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/TrialResult.h"

#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace cwm {

static constexpr std::pair<TrialStatus, StringLiteral> statusNames[] = {
    {TrialStatus::Ok, "ok"},
    {TrialStatus::Invalid, "invalid"},
    {TrialStatus::TransformError, "transform_error"},
    {TrialStatus::LowerError, "lower_error"},
    {TrialStatus::CompileTimeout, "compile_timeout"},
    {TrialStatus::Crash, "crash"},
    {TrialStatus::RunTimeout, "run_timeout"},
    {TrialStatus::WrongResult, "wrong_result"},
};

StringRef stringifyTrialStatus(TrialStatus status) {
  for (const auto &entry : statusNames)
    if (entry.first == status)
      return entry.second;
  llvm_unreachable("unknown trial status");
}

std::optional<TrialStatus> symbolizeTrialStatus(StringRef name) {
  for (const auto &entry : statusNames)
    if (entry.second == name)
      return entry.first;
  return std::nullopt;
}

json::Value toJSON(const TrialResult &result) {
  json::Object object{
      {"status", stringifyTrialStatus(result.status)},
      {"time_ns", result.timeNs},
      {"score", result.score},
      {"score_spread", result.scoreSpread},
      {"rounds", result.numRounds},
      {"max_error", result.maxError},
      {"code_bytes", result.codeBytes},
      {"transform_ms", result.transformMs},
      {"lower_ms", result.lowerMs},
      {"compile_ms", result.compileMs},
      {"check_ms", result.checkMs},
      {"time_ms", result.timeMs},
  };
  // Texts come from other processes: JSON must be UTF-8.
  if (!result.reason.empty())
    object["reason"] = json::fixUTF8(result.reason);
  if (!result.reproducer.empty())
    object["reproducer"] = json::fixUTF8(result.reproducer);
  return object;
}

bool fromJSON(const json::Value &value, TrialResult &result, json::Path path) {
  json::ObjectMapper map(value, path);
  std::string status;
  if (!map || !map.map("status", status))
    return false;
  std::optional<TrialStatus> known = symbolizeTrialStatus(status);
  if (!known) {
    path.field("status").report("unknown status");
    return false;
  }
  result.status = *known;
  return map.mapOptional("time_ns", result.timeNs) &&
         map.mapOptional("score", result.score) &&
         map.mapOptional("score_spread", result.scoreSpread) &&
         map.mapOptional("rounds", result.numRounds) &&
         map.mapOptional("max_error", result.maxError) &&
         map.mapOptional("code_bytes", result.codeBytes) &&
         map.mapOptional("transform_ms", result.transformMs) &&
         map.mapOptional("lower_ms", result.lowerMs) &&
         map.mapOptional("compile_ms", result.compileMs) &&
         map.mapOptional("check_ms", result.checkMs) &&
         map.mapOptional("time_ms", result.timeMs) &&
         map.mapOptional("reason", result.reason) &&
         map.mapOptional("reproducer", result.reproducer);
}

} // namespace cwm
