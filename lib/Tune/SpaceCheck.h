//===- SpaceCheck.h - cwm-tune --check-space ------------------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CWM_LIB_TUNE_SPACECHECK_H
#define CWM_LIB_TUNE_SPACECHECK_H

#include "cwm/Runner/Measurer.h"
#include "cwm/Search/Search.h"

#include "llvm/Support/JSON.h"

namespace cwm {

/// Uniform samples of the spaces of one payload and what became of each: the
/// share that is valid, why others are not, how far times spread.
class SpaceCheck {
public:
  /// Draws `count` distinct candidates in turn from each space, as far as they
  /// go.
  SpaceCheck(llvm::ArrayRef<std::unique_ptr<Space>> spaces, int64_t count,
             uint64_t seed);

  using DoneFn = llvm::function_ref<void(const TrialResult &result)>;
  /// Measures all candidates.
  llvm::Error measure(Measurer &measurer, DoneFn onDone);
  /// Measures the accepted ones again, on a measurer with other inputs.
  llvm::Error verify(Measurer &measurer, DoneFn onDone);

  size_t getNumCandidates() const { return samples.size(); }
  size_t getNumAccepted() const;
  size_t getNumWronglyAccepted() const;
  /// A table with a line for each space, then the reasons of failures.
  std::string format() const;
  /// The same for --summary, with milliseconds of lowering and code generation.
  llvm::json::Value toJSON() const;

private:
  struct Sample {
    unsigned space = 0;
    MeasureRequest request;
    std::string key;
    std::optional<TrialResult> result, second;
    bool isAccepted() const { return result && result->isOk(); }
    bool isWronglyAccepted() const {
      return isAccepted() && second &&
             second->status == TrialStatus::WrongResult;
    }
  };
  void add(Candidate candidate);
  llvm::Error measureSamples(Measurer &measurer,
                             llvm::ArrayRef<Sample *> chosen,
                             std::optional<TrialResult> Sample::*result,
                             DoneFn onDone);
  /// What the line of one space, or of all (nullopt), says.
  struct Counts {
    size_t numSamples = 0, numAccepted = 0, numWrong = 0,
           numWronglyAccepted = 0;
    /// Of the accepted ones, ascending, in nanoseconds.
    std::vector<double> times;
  };
  Counts count(std::optional<unsigned> space) const;
  struct Reason {
    std::string text;
    size_t numSamples = 0;
    std::string example; ///< key of a candidate
  };
  /// Most frequent first.
  std::vector<Reason> getReasons() const;

  llvm::ArrayRef<std::unique_ptr<Space>> spaces;
  std::vector<Sample> samples;
};

} // namespace cwm

#endif // CWM_LIB_TUNE_SPACECHECK_H
