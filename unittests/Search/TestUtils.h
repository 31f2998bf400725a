//===- TestUtils.h - Synthetic spaces and measurements ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_UNITTESTS_SEARCH_TESTUTILS_H
#define CWM_UNITTESTS_SEARCH_TESTUTILS_H

#include "cwm/Search/Search.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/SmallString.h"
#include "gtest/gtest.h"

#include <functional>
#include <map>

namespace cwm::test {

using Knobs = std::map<std::string, int64_t>;

/// Measures by a formula over the knobs in a candidate's key.
class SyntheticMeasurer : public Measurer {
public:
  using Formula = std::function<TrialResult(const Knobs &)>;
  explicit SyntheticMeasurer(Formula formula) : formula(std::move(formula)) {}

  llvm::Error measure(llvm::ArrayRef<MeasureRequest> requests,
                      ResultFn onResult) override;
  llvm::Error measureTogether(llvm::ArrayRef<MeasureRequest> requests,
                              ResultFn onResult) override;
  double getNoiseFloor() const override { return noiseFloor; }
  double getBusySeconds() const override { return 0; }
  void requestStop() override { stopped = true; }

  Formula formula;
  /// Of the joint measurement; the other one when null.
  Formula finalFormula;
  double noiseFloor = 0.02;
  /// Results come in a random order.
  bool shuffle = false;
  /// Fails (as if the process had been killed) after so many results.
  size_t dieAfter = SIZE_MAX;
  /// Asks itself to stop after so many results.
  size_t stopAfter = SIZE_MAX;
  /// How often each candidate was measured.
  std::map<std::string, int> counts;
  size_t numResults = 0;
  bool stopped = false;

private:
  RandomEngine engine{1};
};

TrialResult makeResult(double score);
TrialResult makeFailure(TrialStatus status, llvm::StringRef reason);

class SearchTest : public ::testing::Test {
protected:
  SearchTest();
  void SetUp() override;
  void TearDown() override;

  std::unique_ptr<Space> makeSpace(llvm::StringRef source,
                                   llvm::StringRef name);
  /// Tile sizes and more, about 48,000 candidates; getTileResult measures them.
  std::unique_ptr<Space> makeTileSpace(llvm::StringRef name = "tile");
  static TrialResult getTileResult(const Knobs &knobs);
  /// One knob `x` with the options 1, 2, ..., `numOptions`.
  std::unique_ptr<Space> makeLine(int64_t numOptions,
                                  llvm::StringRef name = "line");

  std::unique_ptr<Database> openDatabase(llvm::StringRef name = "records.db");
  llvm::Expected<SearchSummary> run(Database &database, Measurer &measurer,
                                    Scorer &scorer);
  /// With a ranker of its own, and the database of `name`.
  llvm::Expected<SearchSummary> run(llvm::StringRef name, Measurer &measurer);
  /// Candidate id -> score of all records of the workload.
  std::map<std::string, double> getRecords(llvm::StringRef name = "records.db");

  mlir::MLIRContext mlirContext;
  llvm::SmallString<128> folder;
  std::vector<std::unique_ptr<Space>> spaces;
  ScoringContext context;
  /// Small and quick; see the constructor.
  SearchOptions options;
  std::vector<std::string> warnings;
  std::vector<SearchProgress> progress;
};

} // namespace cwm::test

#endif // CWM_UNITTESTS_SEARCH_TESTUTILS_H
