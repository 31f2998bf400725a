//===- StageTimer.h - Wall milliseconds of a stage --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_STAGETIMER_H
#define CWM_RUNNER_STAGETIMER_H

#include <chrono>

namespace cwm {

/// Adds the milliseconds it lives to a field.
class StageTimer {
public:
  explicit StageTimer(double &milliseconds)
      : milliseconds(milliseconds), start(std::chrono::steady_clock::now()) {}
  ~StageTimer() {
    milliseconds += std::chrono::duration<double, std::milli>(
                        std::chrono::steady_clock::now() - start)
                        .count();
  }
  StageTimer(const StageTimer &) = delete;
  StageTimer &operator=(const StageTimer &) = delete;

private:
  double &milliseconds;
  std::chrono::steady_clock::time_point start;
};

} // namespace cwm

#endif // CWM_RUNNER_STAGETIMER_H
