//===- ReplayMeasurer.h - A measurer that replays recorded results -*- C++ -*-//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_REPLAYMEASURER_H
#define CWM_RUNNER_REPLAYMEASURER_H

#include "cwm/Runner/Measurer.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

namespace cwm {

/// Hands out results by candidate key instead of measuring, so that a search
/// can be tested and a killed run compared with an undisturbed one.
class ReplayMeasurer : public Measurer {
public:
  /// The result of one key, or nullopt when none is known.
  using LookupFn = std::function<std::optional<TrialResult>(llvm::StringRef)>;

  explicit ReplayMeasurer(LookupFn lookup) : lookup(std::move(lookup)) {}

  /// Reads JSON Lines: each an object whose "candidate" (or "key") is the key
  /// and whose "result" is the trial's result as toJSON writes it. A later line
  /// of the same key wins. Errors name the file and the line.
  static llvm::Expected<std::unique_ptr<ReplayMeasurer>>
  fromFile(llvm::StringRef path);

  /// Appends the key of each measured candidate, one a line, before its result
  /// is reported: what was measured twice shows up twice.
  void setJournal(llvm::StringRef path) { journal = path.str(); }
  /// Milliseconds that each candidate takes.
  void setDelay(unsigned milliseconds) { delayMs = milliseconds; }
  void setNoiseFloor(double value) { noiseFloor = value; }

  /// In the order of the requests. A key without a recorded result is an error
  /// that names it.
  llvm::Error measure(llvm::ArrayRef<MeasureRequest> requests,
                      ResultFn onResult) override;
  llvm::Error measureTogether(llvm::ArrayRef<MeasureRequest> requests,
                              ResultFn onResult) override;
  double getNoiseFloor() const override { return noiseFloor; }
  double getBusySeconds() const override { return busySeconds; }
  void requestStop() override { stopRequested = true; }

private:
  llvm::Error replay(llvm::ArrayRef<MeasureRequest> requests, ResultFn onResult,
                     bool keepJournal);

  LookupFn lookup;
  std::string journal;
  unsigned delayMs = 0;
  double noiseFloor = 0.02, busySeconds = 0;
  std::atomic<bool> stopRequested{false};
};

} // namespace cwm

#endif // CWM_RUNNER_REPLAYMEASURER_H
