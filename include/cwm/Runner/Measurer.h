//===- Measurer.h - Interface: candidates in, measured results out -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_MEASURER_H
#define CWM_RUNNER_MEASURER_H

#include "cwm/Runner/TrialResult.h"
#include "cwm/Support/Interrupt.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <string>

namespace cwm {

/// One candidate to be measured.
struct MeasureRequest {
  /// Key of the candidate (Space::getKey).
  std::string key;
  /// Text of the bound script.
  std::string script;
};

/// Measures candidates of one payload on one target. Implementations: worker
/// processes (WorkerPool.h), and a replay of recorded times for tests.
class Measurer : public Stoppable {
public:
  using ResultFn = llvm::function_ref<void(size_t index, TrialResult result)>;

  /// Measures all `requests` and calls `onResult` once for each, in any order,
  /// as soon as it is known. Returns early, without calling it for the rest,
  /// after requestStop(). An error means that the measurer itself failed (no
  /// worker can be started); a candidate's failure is a result.
  virtual llvm::Error measure(llvm::ArrayRef<MeasureRequest> requests,
                              ResultFn onResult) = 0;

  /// Times the requests together, interleaved round by round, with more rounds
  /// than measure(): their scores compare with each other only.
  virtual llvm::Error measureTogether(llvm::ArrayRef<MeasureRequest> requests,
                                      ResultFn onResult) = 0;

  /// Relative difference of scores below which two candidates are a tie.
  virtual double getNoiseFloor() const = 0;

  /// Wall seconds spent waiting for compilation and measurement, so that the
  /// driver's own overhead can be told.
  virtual double getBusySeconds() const = 0;
};

} // namespace cwm

#endif // CWM_RUNNER_MEASURER_H
