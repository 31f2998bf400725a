//===- RankingTestUtils.h - Small ranking tasks -----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_UNITTESTS_TRAIN_RANKINGTESTUTILS_H
#define CWM_UNITTESTS_TRAIN_RANKINGTESTUTILS_H

#include "cwm/Model/Features.h"
#include "cwm/Train/RankingTask.h"

#include <random>

namespace cwm::test {

/// A text is (its length, 1).
class LengthEncoder : public Encoder {
public:
  size_t getDim() const override { return 2; }
  llvm::Expected<std::vector<float>>
  encode(llvm::ArrayRef<llvm::StringRef> texts) override {
    std::vector<float> rows;
    for (llvm::StringRef text : texts)
      rows.insert(rows.end(), {static_cast<float>(text.size()), 1});
    return rows;
  }
};

/// Candidates whose speed depends on the first two features; every tenth
/// failed.
inline void makeTask(size_t number, size_t count, RankingTask &task,
                     RankingInputs &inputs) {
  std::mt19937_64 engine(number);
  task.workload.hash = "w" + std::to_string(number);
  task.hardware = {1};
  for (size_t i = 0; i < count; ++i) {
    std::vector<float> features(numFeatures);
    features[0] = static_cast<float>(engine() % 9);
    features[1] = static_cast<float>(engine() % 9);
    RankingTask::Candidate &candidate = task.candidates.emplace_back();
    candidate.name = "c" + std::to_string(i);
    candidate.isOk = i % 10 != 9;
    candidate.score = 1 / (1 + std::abs(features[0] - 4) + features[1]);
    candidate.timeNs = 1 / candidate.score;
    inputs.features.insert(inputs.features.end(), features.begin(),
                           features.end());
  }
}

} // namespace cwm::test

#endif // CWM_UNITTESTS_TRAIN_RANKINGTESTUTILS_H
