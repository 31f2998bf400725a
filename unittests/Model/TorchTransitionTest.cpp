//===- TorchTransitionTest.cpp - Training and inference agree ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/TorchConfig.inc"
#include "cwm/Model/TorchEncoder.h"
#include "cwm/Model/Transition.h"

#include "../Support/SupportTestUtils.h"

#include "gmock/gmock.h"

#include <cmath>
#include <random>

using namespace llvm;
using namespace cwm;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Four roll-outs of five actions, of random states and actions.
struct Data {
  static constexpr int64_t rows = 4, steps = 5, negatives = 3;
  explicit Data(int64_t dim, int64_t encoding) : dim(dim), encoding(encoding) {
    states = makeRows(9, dim);
    encodings = makeRows(6, encoding);
  }
  std::vector<float> makeRows(int64_t count, int64_t length) {
    std::normal_distribution<float> normal;
    std::vector<float> values(count * length);
    for (int64_t row = 0; row < count; ++row) {
      double square = 0;
      for (int64_t i = 0; i < length; ++i) {
        values[row * length + i] = normal(random);
        square += std::pow(values[row * length + i], 2);
      }
      for (int64_t i = 0; i < length; ++i)
        values[row * length + i] /= static_cast<float>(std::sqrt(square));
    }
    return values;
  }
  CwmRolloutBatch get() {
    double total = 0;
    for (size_t i = 0; i < weights.size(); ++i)
      total += targets[i] < 0 ? 0 : weights[i];
    return {rows,
            steps,
            states.data(),
            encodings.data(),
            9,
            6,
            start.data(),
            actions.data(),
            targets.data(),
            weights.data(),
            total,
            negatives,
            negative.data(),
            /*sameWorkload=*/2};
  }
  ArrayRef<float> state(int64_t row) const {
    return ArrayRef(states).slice(row * dim, dim);
  }

  std::mt19937 random{7};
  int64_t dim, encoding;
  std::vector<float> states, encodings;
  std::vector<int32_t> start = {0, 3, 3, 8};
  // -1: behind the end.
  std::vector<int32_t> actions = {0, 1, 2, 3, 4,  5, 0, 5, -1, -1,
                                  2, 2, 2, 2, -1, 1, 4, 3, 0,  5};
  // -1: not known.
  std::vector<int32_t> targets = {1, 2, -1, 4, 5,  6, -1, 7, -1, -1,
                                  8, 0, 1,  2, -1, 4, 5,  6, 7,  1};
  std::vector<float> weights = {1, 1, 1, 1, 4, 1, 1, 4, 1, 1,
                                1, 1, 1, 4, 1, 1, 1, 1, 1, 4};
  std::vector<int32_t> negative = {6, 7, 3, 0, -1, -1, 4, 5, 6, -1, -1, 2};
};

class TorchTransitionTest : public test::FolderTest {
protected:
  void SetUp() override {
    if (!CWM_ENABLE_TORCH)
      GTEST_SKIP() << "built without libtorch";
    FolderTest::SetUp();
    library = cantFail(TorchLibrary::get());
  }
  void TearDown() override {
    if (trainer)
      (*library)->destroyTrainer(trainer);
    if (network)
      (*library)->destroyTransition(network);
    FolderTest::TearDown();
  }
  void create(int64_t dim, int64_t encoding, int64_t action, int64_t hidden) {
    CwmTransitionShape shape = {dim, encoding, action, hidden};
    cantFail(library->check((*library)->createTransition(&shape, 5, &network),
                            "create"));
    cantFail(library->check(
        (*library)->createTransitionTrainer(network, &trainer), "trainer"));
  }
  /// The network as the search loads it.
  Transition load() {
    TensorsToWrite file;
    cantFail(visitTensors(
        *library,
        [&](CwmTensorVisitor visitor, void *context) {
          return (*library)->visitTransition(network, visitor, context);
        },
        [&](const CwmTensor &tensor) {
          file.tensors[tensor.name] = viewTensor(tensor);
        }));
    cantFail(writeSafeTensors(at("t.safetensors"), file));
    return cantFail(
        Transition::load(cantFail(SafeTensors::open(at("t.safetensors")))));
  }
  std::vector<float> rollOut(Data &data) {
    CwmRolloutBatch batch = data.get();
    std::vector<float> states(batch.rows * batch.steps * data.dim);
    cantFail(library->check((*library)->rollOut(network, &batch, states.data()),
                            "roll out"));
    return states;
  }
  CwmStepResult evaluate(Data &data, const CwmRolloutOptions &options) {
    CwmRolloutBatch batch = data.get();
    CwmStepResult result = {};
    cantFail(library->check(
        (*library)->evaluateTransition(trainer, &batch, &options, &result),
        "evaluate"));
    return result;
  }
  CwmStepResult step(Data &data, const CwmRolloutOptions &options,
                     int64_t number) {
    CwmRolloutBatch batch = data.get();
    CwmStepResult result = {};
    cantFail(library->check(
        (*library)->stepTransition(trainer, &batch, &options, number, &result),
        "step"));
    return result;
  }

  const TorchLibrary *library = nullptr;
  CwmTransition *network = nullptr;
  CwmTrainer *trainer = nullptr;
  CwmRolloutOptions options = {
      0.2, 0.5, 1.5, 0.5, {1e-2, 0.9, 0.999, 1e-8, 0, 0}};
};

double dot(ArrayRef<float> left, ArrayRef<float> right) {
  double sum = 0;
  for (auto [a, b] : zip_equal(left, right))
    sum += static_cast<double>(a) * b;
  return sum;
}

} // namespace

TEST_F(TorchTransitionTest, TrainingAndInferenceAgree) {
  for (int64_t hidden : {24, 0}) {
    create(16, 12, 8, hidden);
    Data data(16, 12);
    // Weights that were trained a little, so that no bias is zero.
    for (int64_t number = 1; number <= 20; ++number)
      ASSERT_EQ(step(data, options, number).finite, 1);
    const std::vector<float> states = rollOut(data);
    Transition transition = load();
    EXPECT_EQ(transition.getHiddenDim(), static_cast<size_t>(hidden));
    const Transition::Actions actions = transition.prepare(data.encodings);
    double moved = 0;
    for (int64_t row = 0; row < Data::rows; ++row) {
      std::vector<uint32_t> sequence;
      for (int64_t i = 0; i < Data::steps; ++i) {
        if (int32_t action = data.actions[row * Data::steps + i]; action >= 0)
          sequence.push_back(action);
        const std::vector<ArrayRef<uint32_t>> refs = {sequence};
        const std::vector<float> expected = transition.rollOut(
            data.state(data.start[row]), actions, PrefixTree(refs));
        for (int64_t j = 0; j < data.dim; ++j)
          EXPECT_NEAR(states[(row * Data::steps + i) * data.dim + j],
                      expected[j], 1e-5);
        moved = std::max(moved, 1 - dot(expected, data.state(data.start[row])));
      }
    }
    EXPECT_GT(moved, 0.1);
    (*library)->destroyTrainer(trainer);
    (*library)->destroyTransition(network);
    trainer = nullptr;
    network = nullptr;
  }
}

TEST_F(TorchTransitionTest, LossIsWhatTheDocumentationSays) {
  create(6, 5, 4, 7);
  Data data(6, 5);
  const std::vector<float> predicted = rollOut(data);
  double loss = 0, nearest = 0, total = 0;
  for (int64_t row = 0; row < Data::rows; ++row)
    for (int64_t i = 0; i < Data::steps; ++i) {
      const int64_t place = row * Data::steps + i;
      if (data.targets[place] < 0)
        continue;
      ArrayRef<float> state = ArrayRef(predicted).slice(place * 6, 6),
                      target = data.state(data.targets[place]);
      const double match = dot(state, target);
      double each = 1 - match, hardest[2] = {0, 0};
      bool isNearest = true;
      for (int64_t j = 0; j < Data::negatives; ++j) {
        const int32_t other = data.negative[row * Data::negatives + j];
        if (other < 0)
          continue;
        const double similarity = dot(state, data.state(other)),
                     margin = std::clamp(
                         1 - dot(target, data.state(other)), 0.0,
                         j < 2 ? options.sameMargin : options.otherMargin);
        hardest[j >= 2] =
            std::max(hardest[j >= 2], margin + similarity - match);
        isNearest &= match > similarity;
      }
      each +=
          options.sameWeight * hardest[0] + options.otherWeight * hardest[1];
      loss += data.weights[place] * each;
      nearest += isNearest ? data.weights[place] : 0;
      total += data.weights[place];
    }
  const CwmStepResult result = evaluate(data, options);
  EXPECT_NEAR(result.loss, loss / total, 1e-5);
  EXPECT_NEAR(result.accuracy, nearest / total, 1e-6);
  EXPECT_GT(result.accuracy, 0);
  EXPECT_LT(result.accuracy, 1);
}

TEST_F(TorchTransitionTest, Learns) {
  create(16, 12, 8, 32);
  Data data(16, 12);
  const double before = evaluate(data, options).loss;
  for (int64_t number = 1; number <= 150; ++number)
    step(data, options, number);
  EXPECT_LT(evaluate(data, options).loss, 0.3 * before);
}

TEST_F(TorchTransitionTest, BeginsCloseToTheIdentity) {
  create(64, 32, 16, 64);
  Data data(64, 32);
  const std::vector<float> states = rollOut(data);
  for (int64_t row = 0; row < Data::rows; ++row)
    EXPECT_GT(dot(ArrayRef(states).slice(row * Data::steps * 64, 64),
                  data.state(data.start[row])),
              0.9);
}

TEST_F(TorchTransitionTest, MalformedBatches) {
  create(6, 5, 4, 7);
  Data data(6, 5);
  auto getError = [&] {
    CwmRolloutBatch batch = data.get();
    CwmStepResult result = {};
    return toString(library->check(
        (*library)->evaluateTransition(trainer, &batch, &options, &result),
        "evaluation"));
  };
  data.actions[3] = 6;
  EXPECT_THAT(getError(), HasSubstr("names a row that is not there"));
  data.actions[3] = 0;
  data.start[0] = -1;
  EXPECT_THAT(getError(), HasSubstr("a roll-out has no start"));
  data.start[0] = 0;
  data.targets.assign(data.targets.size(), -1);
  EXPECT_THAT(getError(), HasSubstr("a batch of roll-outs has no target"));
  CwmTransitionShape shape = {0, 1, 1, 0};
  CwmTransition *none = nullptr;
  EXPECT_THAT(toString(library->check(
                  (*library)->createTransition(&shape, 0, &none), "create")),
              HasSubstr("every size of a transition must be positive"));
}
