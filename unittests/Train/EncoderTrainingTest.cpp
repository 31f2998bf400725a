//===- EncoderTrainingTest.cpp - The loop, without a network -- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/EncoderTraining.h"

#include "TrainTestUtils.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace llvm;
using namespace cwm;
using testing::ElementsAre;
using testing::HasSubstr;
using End = TrainingResult::End;

namespace {

/// One number as network: it follows what it sees, so that two runs end alike
/// only if they saw the same.
class FakeModel : public ContrastiveModel {
public:
  Expected<CwmStepResult> step(ContrastiveViews &views,
                               const CwmStepOptions &options,
                               int64_t step) override {
    if (afterStep)
      afterStep(step);
    CwmContrastiveBatch batch = views.get();
    CwmStepResult result = {};
    result.loss = step == badStep ? NAN : 1.0 / static_cast<double>(step);
    result.finite = step != badStep;
    if (!result.finite)
      return result;
    for (int64_t i = 0; i < batch.tokens.rows * batch.tokens.columns; ++i)
      weight = weight * 0.9F + static_cast<float>(batch.tokens.ids[i]);
    weight += static_cast<float>(batch.tokens.rowSeeds[0] % 1000);
    moment = moment * 0.5F + weight;
    weight += static_cast<float>(options.adam.learningRate) * moment;
    rates.push_back(options.adam.learningRate);
    return result;
  }
  Expected<CwmStepResult> evaluate(ContrastiveViews &views,
                                   const CwmStepOptions &) override {
    CwmStepResult result = {};
    result.loss = losses.empty() ? 1 : losses.front();
    if (losses.size() > 1)
      losses.erase(losses.begin());
    return result;
  }
  Error visit(bool all,
              function_ref<void(const CwmTensor &)> visitor) override {
    static const int64_t shape[] = {1};
    const CwmTensor first = {"weight", 1, shape, &weight};
    const CwmTensor second = {"adam.first.weight", 1, shape, &moment};
    visitor(first);
    if (all)
      visitor(second);
    return Error::success();
  }
  Error sum(MutableArrayRef<double>) override { return Error::success(); }

  float weight = 1, moment = 0;
  int64_t badStep = 0;
  /// Of the evaluations to come; the last one stays.
  std::vector<double> losses;
  std::vector<double> rates;
  std::function<void(int64_t)> afterStep;
};

class TrainingTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("cwm-training", folder));
    options.steps = 20;
    options.warmupSteps = 4;
    options.batches = {2, 2, 3};
    options.evaluateEvery = options.checkpointEvery = 5;
    options.patience = 0;
    options.fingerprint = "run";
    config.windowTokens = 32;
    config.windowStride = 16;
  }
  void TearDown() override { sys::fs::remove_directories(folder); }

  std::string path(StringRef name) {
    SmallString<128> full = folder;
    sys::path::append(full, name);
    return full.str().str();
  }
  std::string read(StringRef name) {
    auto buffer = MemoryBuffer::getFile(path(name));
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
  Expected<TrainingResult> train(FakeModel &model) {
    options.folder = folder.str().str();
    EncoderData training = makeData(4, 5), validation = makeData(2, 3);
    return trainEncoder(model, training, validation, tokenizer, config, options,
                        stop, [](const Twine &) {});
  }

  Tokenizer tokenizer = makeByteTokenizer();
  EncoderConfig config;
  EncoderTrainingOptions options;
  SmallString<128> folder;
  std::atomic<bool> stop{false};
};

} // namespace

TEST_F(TrainingTest, GoesOnToTheSameResult) {
  FakeModel whole;
  ASSERT_EQ(cantFail(train(whole)).end, End::Done);
  std::string checkpoint = read("checkpoint.safetensors"),
              best = read("best.safetensors"), metrics = read("metrics.jsonl");
  EXPECT_EQ(StringRef(metrics).count('\n'), 20U + 4);
  sys::fs::remove_directories(folder);
  sys::fs::create_directories(folder);
  // Asked to stop during step 7, then as if it had been killed in step 13:
  // what came behind the checkpoint of step 10 is lost.
  FakeModel first;
  first.afterStep = [&](int64_t step) { stop = step == 7; };
  TrainingResult result = cantFail(train(first));
  EXPECT_EQ(result.end, End::Interrupted);
  EXPECT_EQ(result.lastStep, 7);
  stop = false;
  FakeModel second;
  options.stopAfter = 10;
  EXPECT_EQ(cantFail(train(second)).lastStep, 10);
  options.stopAfter = 0;
  {
    std::error_code code;
    raw_fd_ostream os(path("metrics.jsonl"), code, sys::fs::OF_Append);
    os << "{\"step\":11,\"kind\":\"step\"}\n{\"step\":12,\"ki";
  }
  FakeModel third;
  EXPECT_EQ(cantFail(train(third)).end, End::Done);
  EXPECT_EQ(third.weight, whole.weight);
  EXPECT_EQ(read("checkpoint.safetensors"), checkpoint);
  EXPECT_EQ(read("best.safetensors"), best);
  EXPECT_EQ(read("metrics.jsonl"), metrics);
  // A run that is over has nothing to do.
  FakeModel fourth;
  EXPECT_EQ(cantFail(train(fourth)).end, End::Done);
  EXPECT_TRUE(fourth.rates.empty());
  EXPECT_EQ(fourth.weight, whole.weight);
}

TEST_F(TrainingTest, LossThatIsNoNumberStops) {
  FakeModel model;
  model.badStep = 13;
  TrainingResult result = cantFail(train(model));
  EXPECT_EQ(result.end, End::Diverged);
  EXPECT_EQ(result.message, "the loss of step 13 is not a number; '" +
                                path("checkpoint.safetensors") +
                                "' has the state of step 10");
  SafeTensors file =
      cantFail(SafeTensors::open(path("checkpoint.safetensors")));
  EXPECT_EQ(file.getMetadata().at("cwm.step"), "10");

  options.resume = false;
  FakeModel early;
  early.badStep = 1;
  EXPECT_EQ(cantFail(train(early)).message,
            "the loss of step 1 is not a number; there is no checkpoint yet");
}

TEST_F(TrainingTest, StopsEarlyAndRemembersTheBest) {
  options.patience = 2;
  options.evaluateEvery = 2;
  FakeModel model;
  model.losses = {5, 3, 4, 3.5, 1};
  options.evaluationBatches = 1;
  TrainingResult result = cantFail(train(model));
  EXPECT_EQ(result.end, End::EarlyStop);
  EXPECT_EQ(result.lastStep, 8);
  EXPECT_EQ(result.bestStep, 4);
  EXPECT_EQ(result.bestLoss, 3);
  SafeTensors best = cantFail(SafeTensors::open(path("best.safetensors")));
  EXPECT_EQ(best.getMetadata().at("cwm.step"), "4");
  EXPECT_FALSE(best.contains("adam.first.weight"));
  // The same command again does not go on.
  FakeModel again;
  EXPECT_EQ(cantFail(train(again)).end, End::EarlyStop);
  EXPECT_TRUE(again.rates.empty());
}

TEST_F(TrainingTest, TheLearningRateRisesAndFalls) {
  options.steps = 8;
  options.step.adam.learningRate = 1;
  FakeModel model;
  cantFail(train(model));
  ASSERT_EQ(model.rates.size(), 8U);
  std::vector<double> expected = {0.25, 0.5, 0.75, 1, 0.775, 0.55, 0.325, 0.1};
  for (size_t i = 0; i < 8; ++i)
    EXPECT_NEAR(model.rates[i], expected[i], 1e-12);
}

TEST_F(TrainingTest, CheckpointsOfOthersAreRefused) {
  FakeModel model;
  cantFail(train(model));
  options.fingerprint = "another run";
  EXPECT_THAT(toString(train(model).takeError()),
              HasSubstr("is the checkpoint of a run with other data or "
                        "options"));
  options.resume = false;
  EXPECT_EQ(cantFail(train(model)).end, End::Done);
  // A damaged one is an error, not a new start.
  options.resume = true;
  sys::fs::file_t file = cantFail(sys::fs::openNativeFileForReadWrite(
      path("checkpoint.safetensors"), sys::fs::CD_OpenExisting,
      sys::fs::OF_None));
  ASSERT_FALSE(sys::fs::resize_file(file, 40));
  sys::fs::closeFile(file);
  EXPECT_THAT(toString(train(model).takeError()), HasSubstr("cannot read"));
}

TEST_F(TrainingTest, OneTextHasNoNegatives) {
  options.folder = folder.str().str();
  EncoderData one = makeData(1, 1), two = makeData(2, 3);
  FakeModel model;
  auto errorOf = [&](const EncoderData &training,
                     const EncoderData &validation) {
    TrainingResult result =
        cantFail(trainEncoder(model, training, validation, tokenizer, config,
                              options, stop, [](const Twine &) {}));
    EXPECT_EQ(result.end, End::NothingToLearn);
    return result.message;
  };
  EXPECT_EQ(errorOf(one, two), "there is one text to train on only: it has no "
                               "negatives");
  EXPECT_EQ(errorOf(two, one), "there is one text for validation only: it has "
                               "no negatives");
}
