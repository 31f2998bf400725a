//===- WorldModelTest.cpp - Tests of rankers and world models ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/WorldModel.h"

#include "../Support/SupportTestUtils.h"

#include "gmock/gmock.h"

#include <cmath>
#include <deque>

using namespace llvm;
using namespace cwm;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

/// Texts are points of the circle: "t" followed by a number of degrees.
class CircleEncoder : public Encoder {
public:
  size_t getDim() const override { return 2; }
  Expected<std::vector<float>> encode(ArrayRef<StringRef> texts) override {
    numTexts += texts.size();
    std::vector<float> rows;
    for (StringRef text : texts) {
      double angle = 0;
      text.drop_front(1).getAsDouble(angle);
      rows.push_back(static_cast<float>(std::cos(angle * M_PI / 180)));
      rows.push_back(static_cast<float>(std::sin(angle * M_PI / 180)));
    }
    return rows;
  }
  size_t numTexts = 0;
};

class WorldModelTest : public cwm::test::FolderTest {
protected:
  /// z' = unit(u) with an action's normal and translation equal to itself.
  Transition makeTransition() {
    static const float identity[] = {1, 0, 0, 1};
    TensorView view{TensorType::F32, {2, 2}, {}};
    view.data =
        ArrayRef(reinterpret_cast<const char *>(identity), sizeof(identity));
    TensorsToWrite file;
    for (const char *name :
         {"action.weight", "normal.weight", "translation.weight"})
      file.tensors[name] = view;
    cantFail(writeSafeTensors(at("transition.safetensors"), file));
    return cantFail(Transition::load(
        cantFail(SafeTensors::open(at("transition.safetensors")))));
  }

  LatentModel makeLatents(bool withTransition = true) {
    auto made = std::make_unique<CircleEncoder>();
    encoder = made.get();
    std::optional<Transition> transition;
    if (withTransition)
      transition = makeTransition();
    return LatentModel(std::move(made), std::move(transition));
  }

  /// Learns that the first column counts.
  Ranker makeRanker(const RankerConfig &config, size_t dim) {
    const size_t columns = config.getNumColumns(dim);
    std::vector<float> rows, labels;
    std::vector<uint32_t> groups;
    for (int i = 0; i < 60; ++i) {
      for (size_t column = 0; column < columns; ++column)
        rows.push_back(static_cast<float>((i * (column + 3) * 7) % 20) / 10 -
                       1);
      labels.push_back(rows[rows.size() - columns] + 1);
      groups.push_back(static_cast<uint32_t>(i / 20));
    }
    BoosterMatrix matrix =
        cantFail(BoosterMatrix::create({rows, columns, labels, groups}));
    Booster booster =
        cantFail(Booster::create(matrix, {{"validate_parameters", "true"},
                                          {"objective", config.objective},
                                          {"ndcg_exp_gain", "false"},
                                          {"min_child_weight", "0.01"},
                                          {"nthread", "1"}}));
    for (int round = 0; round < 10; ++round)
      cantFail(booster.update(round, matrix));
    return Ranker(config, dim, std::move(booster));
  }

  CircleEncoder *encoder = nullptr;
};

/// Actions, which live until the tests end.
std::vector<const Action *>
makeActions(std::initializer_list<StringRef> texts) {
  static std::deque<Action> all;
  std::vector<const Action *> actions;
  for (StringRef text : texts)
    actions.push_back(&all.emplace_back(makeAction(text)));
  return actions;
}

} // namespace

TEST(RankerConfigTest, Rows) {
  RankerConfig config;
  config.hardware = 2;
  std::vector<float> phi(numFeatures, 3), h = {5, 6}, rows;
  EXPECT_EQ(config.getNumColumns(4), 4 + numFeatures + 2);
  config.appendRow({1, 2, 3, 4}, 4, phi, h, rows);
  ASSERT_EQ(rows.size(), config.getNumColumns(4));
  EXPECT_EQ(rows[3], 4);
  EXPECT_EQ(rows[4], 3);
  EXPECT_EQ(rows.back(), 6);

  // Without actions and with a state that is not known.
  rows.clear();
  config.actions = false;
  config.appendRow({}, 4, phi, h, rows);
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_TRUE(std::isnan(rows[0]) && std::isnan(rows[3]));
  EXPECT_EQ(rows[4], 5);

  config.state = RankerState::None;
  EXPECT_EQ(config.getNumColumns(4), 2u);
}

TEST(RankerConfigTest, Names) {
  for (StringRef name : getRankerStateNames())
    EXPECT_EQ(stringifyRankerState(*symbolizeRankerState(name)), name);
  EXPECT_FALSE(symbolizeRankerState("latent"));
}

TEST(RankerTest, Targets) {
  EXPECT_TRUE(isTargetOf("cpu", "cpu:znver4:12:t1"));
  EXPECT_TRUE(isTargetOf("cpu:znver4:12:t1", "cpu:znver4:12:t1"));
  EXPECT_FALSE(isTargetOf("cpu:znver4:12:t1", "cpu:znver4:12:t16"));
  EXPECT_FALSE(isTargetOf("cpu:znver4", "cpu:znver3:12:t1"));
  EXPECT_FALSE(isTargetOf("nvptx", "cpu"));
}

TEST_F(WorldModelTest, EncodesOnce) {
  LatentModel latents = makeLatents();
  uint32_t a = latents.addAction("t90"), b = latents.addAction("t0");
  EXPECT_EQ(latents.addAction("t90"), a);
  EXPECT_EQ(toString(latents.rollOut({ArrayRef<uint32_t>{a}}).takeError()),
            "no payload to roll out from");
  ASSERT_FALSE(latents.setPayload("t0"));
  ASSERT_FALSE(latents.setPayload("t0"));
  EXPECT_EQ(encoder->numTexts, 1u);
  // z = (1, 0). Off the plane of a = (0, 1) nothing is left out, and a is
  // added: unit(1, 1). Of b = (1, 0) the part along it is replaced by itself.
  std::vector<uint32_t> toA = {a}, toB = {b}, none;
  std::vector<float> ends = cantFail(latents.rollOut(
      {ArrayRef<uint32_t>(toA), ArrayRef<uint32_t>(toB), none}));
  EXPECT_EQ(encoder->numTexts, 3u);
  ASSERT_EQ(ends.size(), 6u);
  EXPECT_NEAR(ends[0], std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(ends[1], std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(ends[2], 1, 1e-6);
  EXPECT_NEAR(ends[4], 1, 1e-6);
  // Actions that come later are encoded then, the others are not again.
  std::vector<uint32_t> toC = {a, latents.addAction("t180")};
  LatentModel::Prefixes prefixes =
      cantFail(latents.rollOutPrefixes({ArrayRef<uint32_t>(toC)}));
  EXPECT_EQ(encoder->numTexts, 4u);
  ASSERT_EQ(prefixes.tree.size(), 3u);
  EXPECT_FLOAT_EQ(prefixes.states[2], ends[0]);
  EXPECT_FLOAT_EQ(prefixes.states[3], ends[1]);
}

TEST_F(WorldModelTest, NoTransition) {
  LatentModel latents = makeLatents(/*withTransition=*/false);
  ASSERT_FALSE(latents.setPayload("t0"));
  EXPECT_EQ(toString(latents.rollOut({}).takeError()),
            "the model has no transition to roll out with");
}

TEST_F(WorldModelTest, ScoresByState) {
  RankerConfig config;
  config.hardware = 1;
  config.actions = false;
  WorldModel model(makeRanker(config, 2), makeLatents(), {0.5f});
  std::vector<const Action *> toward = makeActions({"t10", "t20"}),
                              away = makeActions({"t170", "t160"});
  std::vector<ScoringItem> items = {{toward, {}}, {away, {}}};
  EXPECT_EQ(toString(model.score(items).takeError()),
            "no payload to score candidates of");
  ASSERT_FALSE(model.setPayload("t90"));
  std::vector<float> scores = cantFail(model.score(items));
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_GT(scores[0], scores[1]);

  // What comes with the lowering changes no state.
  std::vector<const Action *> lowered =
      makeActions({"t10", "t20", "bufferization.one_shot_bufferize", "t170"});
  EXPECT_EQ(cantFail(model.score({ScoringItem{lowered, {}}}))[0], scores[0]);
  // The parts come to the same.
  std::vector<uint32_t> numbers = model.getLatents()->addActions(lowered);
  ASSERT_EQ(numbers.size(), 2u);
  std::vector<float> states =
      cantFail(model.getLatents()->rollOut({ArrayRef<uint32_t>(numbers)}));
  std::vector<float> features(numFeatures);
  EXPECT_EQ(
      cantFail(model.getRanker().score(model.makeRows(states, features)))[0],
      scores[0]);
  EXPECT_TRUE(cantFail(model.score({})).empty());
}

TEST_F(WorldModelTest, InitialStateIsTheSameForAll) {
  RankerConfig config;
  config.state = RankerState::Initial;
  config.hardware = 1;
  config.actions = false;
  WorldModel model(makeRanker(config, 2), makeLatents(false), {0.5f});
  std::vector<const Action *> one = makeActions({"t10"}),
                              other = makeActions({"t99"});
  ASSERT_FALSE(model.setPayload("t0"));
  std::vector<float> scores =
      cantFail(model.score({ScoringItem{one, {}}, ScoringItem{other, {}}}));
  EXPECT_EQ(scores[0], scores[1]);
  ASSERT_FALSE(model.setPayload("t180"));
  EXPECT_LT(cantFail(model.score({ScoringItem{one, {}}}))[0], scores[0]);
}

namespace {
/// A model directory without latent states.
class ModelFolderTest : public WorldModelTest {
protected:
  void SetUp() override {
    WorldModelTest::SetUp();
    config.target = "cpu";
    config.toolchain = "test";
    config.featureVersion = featureVersion;
    RankerConfig &inputs = config.ranker.emplace();
    inputs.state = RankerState::None;
    inputs.hardware = 1;
  }
  void write() {
    RankerConfig inputs = *config.ranker;
    inputs.hardware = 1;
    inputs.state = RankerState::None;
    std::vector<float> rows, labels;
    for (int i = 0; i < 20; ++i) {
      inputs.appendRow({}, 0, std::vector<float>(numFeatures, float(i)),
                       {float(i)}, rows);
      labels.push_back(float(i));
    }
    BoosterMatrix matrix = cantFail(
        BoosterMatrix::create({rows, inputs.getNumColumns(0), labels, {}}));
    Booster booster =
        cantFail(Booster::create(matrix, {{"objective", "reg:squarederror"}}));
    cantFail(booster.update(0, matrix));
    put("ranker.ubj", cantFail(booster.serialize()));
    writeConfig();
  }
  void writeConfig() { cantFail(ModelDirectory::write(folder, config)); }
  std::string load(StringRef target = "cpu:x:y:t1", size_t hardware = 1) {
    Expected<ModelDirectory> directory = ModelDirectory::load(folder);
    if (!directory)
      return toString(directory.takeError());
    Expected<std::unique_ptr<WorldModel>> model =
        WorldModel::load(*directory, target, std::vector<float>(hardware, 1));
    if (model)
      return "";
    std::string message = toString(model.takeError());
    EXPECT_THAT(message,
                HasSubstr("cannot use model '" + folder.str().str() + "': "));
    return StringRef(message).split("': ").second.str();
  }
  ModelConfig config;
};
} // namespace

TEST_F(ModelFolderTest, NeedsNoTorchWithoutStates) {
  write();
  EXPECT_EQ(load(), "");
  ModelDirectory directory = cantFail(ModelDirectory::load(folder));
  auto model = cantFail(WorldModel::load(directory, "cpu", {3.0f}));
  EXPECT_EQ(model->getLatents(), nullptr);
  ASSERT_FALSE(model->setPayload("tensor<4x5xf32>"));
  std::vector<const Action *> actions = makeActions({"structured.pad"});
  EXPECT_EQ(cantFail(model->score({ScoringItem{actions, {}}})).size(), 1u);
}

TEST_F(ModelFolderTest, RefusesWhatDoesNotFit) {
  write();
  EXPECT_EQ(load("nvptx:sm_90"),
            "it was trained for the target 'cpu', not for 'nvptx:sm_90'");
  EXPECT_EQ(load("cpu:x:y:t1", 2),
            "its ranker was trained on hardware vectors of length 1, this "
            "build has 2");
  config.ranker->actions = false;
  writeConfig();
  EXPECT_EQ(load(),
            "ranker.ubj was trained on 257 columns, config.json says 1");
  config.ranker->actions = true;
  config.ranker->state = RankerState::Final;
  writeConfig();
  EXPECT_EQ(load(), "its ranker was trained on true final states, which are "
                    "not known of a candidate before it is applied");
  config.ranker->state = RankerState::None;
  config.featureVersion = featureVersion + 1;
  writeConfig();
  EXPECT_EQ(load(), "its ranker was trained on features of version " +
                        std::to_string(featureVersion + 1) +
                        ", this build has version " +
                        std::to_string(featureVersion));
  config.featureVersion = featureVersion;
  put("ranker.ubj", "no model");
  writeConfig();
  EXPECT_THAT(load(), HasSubstr("ranker.ubj: cannot load the ranker: "));
  config.ranker.reset();
  Error error = ModelDirectory::write(folder, config);
  EXPECT_THAT(toString(std::move(error)),
              HasSubstr("it has ranker.ubj, but config.json has no 'ranker'"));
}

TEST_F(ModelFolderTest, RefusesDamagedConfig) {
  write();
  std::string text = get("config.json");
  auto replace = [&](StringRef from, StringRef to) {
    std::string changed = text;
    size_t place = changed.find(from.str());
    EXPECT_NE(place, std::string::npos) << from.str();
    changed.replace(place, from.size(), to.str());
    put("config.json", changed);
    return toString(ModelDirectory::load(folder).takeError());
  };
  EXPECT_THAT(replace("\"none\"", "\"some\""),
              HasSubstr("has a 'ranker' that has the state 'some', known are: "
                        "none, initial, rollout, final"));
  EXPECT_THAT(replace("\"actions\": true", "\"actions\": 1"),
              HasSubstr("has a 'ranker' that lacks the boolean 'actions'"));
  EXPECT_THAT(replace("\"hardware\": 1", "\"hardware\": -1"),
              HasSubstr("has a 'ranker' that has hardware -1, expected 0"));
}
