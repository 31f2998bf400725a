//===- TransitionTrainingTest.cpp - What the transition sees ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/TransitionTraining.h"

#include "../Dataset/TestUtils.h"

#include "cwm/Trajectory/StateText.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace llvm;
using namespace cwm;
using namespace cwm::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

namespace {

class TransitionDataTest : public DatasetTest {
protected:
  /// A trajectory of states that are called by the hashes of `names`.
  void add(char workload, StringRef candidate, std::vector<std::string> names) {
    for (std::string &name : names)
      if (name != "-")
        name = hashText(name);
    addTrajectory(workload, candidate, std::move(names));
  }
  /// Two workloads, one of them with a long trajectory.
  void fill() {
    for (char workload : {'c', 'd'}) {
      addWorkload(workload);
      for (int i = 0; i < 5; ++i) {
        std::string name = workload + std::to_string(i);
        add(workload, name,
            {std::string(1, workload), name + "1", "-", name + "3",
             name + "4"});
      }
    }
    add('d', "long", {"d", "d11", "l2", "l3", "l4", "l5", "l6", "-"});
    dataset.emplace(load());
    store.emplace(makeStore(*dataset));
    latents = cantFail(makeLatentTrajectories(*dataset, *store));
  }
  static LatentStore makeStore(const Dataset &dataset) {
    LatentStore store =
        cantFail(LatentStore::open("", "encoder", 4, [](const Twine &) {}));
    std::vector<std::string> hashes;
    std::vector<float> rows;
    auto addRow = [&](std::string hash) {
      hashes.push_back(std::move(hash));
      for (int i = 0; i < 4; ++i)
        rows.push_back(static_cast<float>(hashes.size() * 10 + i));
    };
    for (size_t i = 0; i < dataset.getNumStates(); ++i)
      addRow(dataset.getStateHash(i).str());
    for (const std::string &action : dataset.getActions())
      addRow(hashText(action));
    cantFail(store.add(hashes, rows));
    return store;
  }
  RolloutSampler makeSampler() {
    return cantFail(RolloutSampler::create(*dataset, latents, options));
  }

  std::optional<Dataset> dataset;
  std::optional<LatentStore> store;
  LatentTrajectories latents;
  RolloutSampler::Options options;
};

/// What a batch says, without numbers that only it uses: encodings of actions
/// in the place of their numbers.
std::vector<double> flatten(const RolloutBatch &batch) {
  std::vector<double> values;
  append_range(values, batch.start);
  for (int32_t action : batch.actions)
    values.push_back(action < 0 ? -1 : batch.encodings[4 * action]);
  append_range(values, batch.targets);
  append_range(values, batch.weights);
  append_range(values, batch.negative);
  return values;
}

/// One number as network: it follows what it sees.
class FakeModel : public TransitionModel {
public:
  Expected<CwmStepResult> step(const RolloutBatch &batch,
                               const CwmRolloutOptions &options,
                               int64_t step) override {
    if (afterStep)
      afterStep(step);
    CwmStepResult result = {};
    result.finite = step != badStep;
    result.loss = result.finite ? 1 : NAN;
    if (!result.finite)
      return result;
    for (double value : flatten(batch))
      weight = weight * 0.9F + static_cast<float>(value);
    weight *= 1 - static_cast<float>(options.adam.learningRate);
    return result;
  }
  Expected<CwmStepResult> evaluate(const RolloutBatch &batch,
                                   const CwmRolloutOptions &) override {
    CwmStepResult result = {};
    result.loss = batch.steps > 3 ? 5 : 2;
    return result;
  }
  Error visit(bool, function_ref<void(const CwmTensor &)> visitor) override {
    static const int64_t shape[] = {1};
    visitor({"weight", 1, shape, &weight});
    return Error::success();
  }
  Error sum(MutableArrayRef<double>) override { return Error::success(); }

  float weight = 1;
  int64_t badStep = 0;
  std::function<void(int64_t)> afterStep;
};

} // namespace

TEST_F(TransitionDataTest, LatentsByTheNumbersOfTheDataset) {
  fill();
  EXPECT_EQ(latents.trajectories.size(), dataset->getTrajectories().size());
  EXPECT_EQ(latents.actions, dataset->getActions().vec());
  EXPECT_THAT(latents.workloads, SizeIs(2));
  for (uint32_t state = 0; state < dataset->getNumStates(); ++state)
    EXPECT_EQ(latents.getState(state),
              store->find(dataset->getStateHash(state)));
  for (uint32_t action = 0; action < latents.actions.size(); ++action)
    EXPECT_EQ(latents.getEncoding(action),
              store->find(hashText(latents.actions[action])));
  LatentStore empty =
      cantFail(LatentStore::open("", "encoder", 4, [](const Twine &) {}));
  EXPECT_THAT(toString(makeLatentTrajectories(*dataset, empty).takeError()),
              HasSubstr("is missing"));
}

TEST_F(TransitionDataTest, ValidationIsOfOtherWorkloads) {
  for (char workload : {'c', 'd', 'e', 'f'}) {
    addWorkload(workload);
    add(workload, "x", {std::string(1, workload), workload + std::string("1")});
  }
  // Without a trajectory it is nothing to validate with.
  addWorkload('9');
  dataset.emplace(load());
  std::set<std::string> kept;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    auto [training, validation] =
        cantFail(splitValidation(*dataset, 0.1, seed));
    EXPECT_EQ(training.getTrajectories().size(), 3U);
    EXPECT_EQ(training.getWorkloads().size(), 3U);
    ASSERT_EQ(validation.getTrajectories().size(), 1U);
    ASSERT_EQ(validation.getWorkloads().size(), 1U);
    kept.insert(validation.getWorkloads()[0].hash);
    for (const WorkloadInfo &info : training.getWorkloads())
      EXPECT_NE(info.hash, validation.getWorkloads()[0].hash);
    auto [again, same] = cantFail(splitValidation(*dataset, 0.1, seed));
    EXPECT_EQ(getDigest(same), getDigest(validation));
    EXPECT_NE(getDigest(again), getDigest(validation));
  }
  EXPECT_EQ(kept.size(), 4U);
  EXPECT_EQ(cantFail(splitValidation(*dataset, 0.5, 1))
                .second.getTrajectories()
                .size(),
            2U);
  EXPECT_EQ(cantFail(splitValidation(*dataset, 0.9, 1))
                .first.getTrajectories()
                .size(),
            1U);
  Dataset one = dataset->restrictTo(
      [](const WorkloadInfo &info) { return info.hash == hash('c'); });
  EXPECT_EQ(toString(splitValidation(one, 0.1, 0).takeError()),
            "all trajectories are of one workload, " + hash('c') +
                ": at least two are needed, since one is kept for validation");
}

TEST_F(TransitionDataTest, WholeTrajectoriesReachTheEnd) {
  fill();
  options.whole = 11;
  options.wholeShare = 1;
  options.finalWeight = 7;
  RolloutBatch batch = makeSampler().getBatch(0);
  EXPECT_EQ(batch.getNumRows(), 11);
  EXPECT_EQ(batch.steps, 8) << "as long as a window, or the longest";
  double total = 0;
  for (int64_t row = 0; row < 11; ++row) {
    ArrayRef<float> weights = ArrayRef(batch.weights).slice(row * 8, 8);
    ArrayRef<int32_t> actions = ArrayRef(batch.actions).slice(row * 8, 8);
    const bool isLong = actions[4] >= 0;
    // The end of the long one is not known.
    if (isLong) {
      EXPECT_THAT(weights, ElementsAre(1, 1, 1, 1, 1, 1, 0, 0));
    } else {
      EXPECT_THAT(weights, ElementsAre(1, 0, 1, 7, 0, 0, 0, 0));
    }
    total += isLong ? 6 : 9;
    EXPECT_EQ(count(actions, -1), isLong ? 1 : 4);
  }
  EXPECT_EQ(batch.totalWeight, total);
}

TEST_F(TransitionDataTest, TheStepAloneDecides) {
  fill();
  options.windows = 4;
  options.whole = 3;
  options.windowSteps = 3;
  options.wholeShare = 0.4;
  RolloutSampler first = makeSampler();
  std::set<std::vector<double>> seen;
  int whole = 0;
  for (int64_t step = 0; step < 40; ++step) {
    RolloutBatch batch = first.getBatch(step);
    seen.insert(flatten(batch));
    whole += batch.steps == 7;
    EXPECT_EQ(flatten(makeSampler().getBatch(step)), flatten(batch));
    // What evaluations see in between does not matter.
    first.getEvaluationBatch(step % 2, step % 3);
  }
  EXPECT_GT(seen.size(), 35U);
  EXPECT_GT(whole, 8);
  EXPECT_LT(whole, 24);
}

TEST_F(TransitionDataTest, ProcessesHaveParts) {
  fill();
  for (double share : {0.0, 1.0}) {
    options.wholeShare = share;
    options.windows = 7;
    options.whole = 5;
    options.rank = 0;
    options.ranks = 1;
    RolloutBatch all = makeSampler().getBatch(3);
    RolloutBatch sum;
    options.ranks = 3;
    for (options.rank = 0; options.rank < 3; ++options.rank) {
      RolloutBatch part = makeSampler().getBatch(3);
      EXPECT_EQ(part.totalWeight, all.totalWeight);
      EXPECT_EQ(part.steps, all.steps);
      append_range(sum.start, part.start);
      const auto actions = static_cast<int32_t>(sum.encodings.size() / 4);
      for (int32_t action : part.actions)
        sum.actions.push_back(action < 0 ? -1 : action + actions);
      append_range(sum.encodings, part.encodings);
      append_range(sum.targets, part.targets);
      append_range(sum.weights, part.weights);
      append_range(sum.negative, part.negative);
    }
    EXPECT_EQ(flatten(sum), flatten(all));
  }
}

TEST_F(TransitionDataTest, GoesOnToTheSameResult) {
  fill();
  TransitionTrainingOptions training;
  training.steps = 20;
  training.checkpointEvery = training.evaluateEvery = 5;
  training.patience = 0;
  training.batches.windows = 3;
  training.batches.whole = 2;
  training.batches.windowSteps = 3;
  std::atomic<bool> stop{false};
  auto run = [&](FakeModel &model, StringRef folder) {
    training.folder = at(folder);
    sys::fs::create_directories(training.folder);
    return cantFail(trainTransition(model, *dataset, latents, *dataset, latents,
                                    training, stop, [](const Twine &) {}));
  };
  FakeModel whole, first, second, bad;
  TrainingResult result = run(whole, "whole");
  EXPECT_EQ(result.end, TrainingResult::End::Done);
  // Windows and whole trajectories, half each.
  EXPECT_EQ(result.bestLoss, 0.5 * 2 + 0.5 * 5);
  first.afterStep = [&](int64_t step) { stop = step == 7; };
  EXPECT_EQ(run(first, "parts").lastStep, 7);
  stop = false;
  EXPECT_EQ(run(second, "parts").end, TrainingResult::End::Done);
  EXPECT_EQ(second.weight, whole.weight);
  for (StringRef name :
       {"/checkpoint.safetensors", "/best.safetensors", "/metrics.jsonl"})
    EXPECT_EQ(get("whole" + name.str()), get("parts" + name.str()));
  bad.badStep = 8;
  result = run(bad, "bad");
  EXPECT_EQ(result.end, TrainingResult::End::Diverged);
  EXPECT_THAT(result.message,
              HasSubstr("the loss of step 8 is not a number; '"));
}

TEST_F(TransitionDataTest, NothingToLearn) {
  addWorkload('c');
  add('c', "x", {"s", "-"});
  dataset.emplace(load());
  store.emplace(makeStore(*dataset));
  latents = cantFail(makeLatentTrajectories(*dataset, *store));
  FakeModel model;
  std::atomic<bool> stop{false};
  TrainingResult result = cantFail(
      trainTransition(model, *dataset, latents, *dataset, latents,
                      TransitionTrainingOptions(), stop, [](const Twine &) {}));
  EXPECT_EQ(result.end, TrainingResult::End::NothingToLearn);
  EXPECT_EQ(result.message, "no trajectory has an action between two known "
                            "states: there is nothing to learn from");
}
