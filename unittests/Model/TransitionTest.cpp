//===- TransitionTest.cpp - Tests of the transition model -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/Transition.h"

#include "../../lib/Model/TransitionKernels.h"
#include "../Support/SupportTestUtils.h"
#include "cwm/Model/ModelDirectory.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "gmock/gmock.h"

#include <cmath>
#include <limits>
#include <random>

using namespace llvm;
using namespace cwm;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Sequence = std::vector<uint32_t>;
using Doubles = std::vector<double>;

static std::vector<ArrayRef<uint32_t>>
makeRefs(const std::vector<Sequence> &candidates) {
  return {candidates.begin(), candidates.end()};
}

//===----------------------------------------------------------------------===//
// PrefixTree
//===----------------------------------------------------------------------===//

TEST(PrefixTreeTest, SharesPrefixes) {
  PrefixTree tree(makeRefs({{1, 2, 3}, {1, 2, 4}, {2}, {}, {1, 2, 3}, {1}}));
  EXPECT_THAT(tree.parents, ElementsAre(0, 0, 0, 1, 3, 3));
  EXPECT_THAT(tree.actions, ElementsAre(0, 1, 2, 2, 3, 4));
  EXPECT_THAT(tree.levels, ElementsAre(0, 1, 3, 4, 6));
  EXPECT_THAT(tree.ends, ElementsAre(4, 5, 2, 0, 4, 1));
}

TEST(PrefixTreeTest, NothingToShare) {
  EXPECT_EQ(PrefixTree({}).size(), 1u);
  EXPECT_THAT(PrefixTree(makeRefs({{}})).levels, ElementsAre(0, 1));
  // The same action at another place is another prefix.
  EXPECT_EQ(PrefixTree(makeRefs({{7, 7, 7}})).size(), 4u);
}

//===----------------------------------------------------------------------===//
// Transition
//===----------------------------------------------------------------------===//

namespace {
/// Weights, and the formula of Transition.h written down once more, in double
/// precision and one candidate at a time.
struct Model {
  Model(size_t dim, size_t actionDim, size_t encodingDim, size_t hiddenDim)
      : dim(dim), actionDim(actionDim), encodingDim(encodingDim),
        hiddenDim(hiddenDim) {
    action = makeRandom(actionDim * encodingDim);
    normal = makeRandom(dim * actionDim);
    translation = makeRandom(dim * actionDim);
    in = makeRandom(hiddenDim * (dim + actionDim));
    inBias = makeRandom(hiddenDim);
    out = makeRandom(dim * hiddenDim);
    outBias = makeRandom(dim);
  }

  std::vector<float> makeRandom(size_t count) {
    std::normal_distribution<float> normal(0, 0.3f);
    std::vector<float> values(count);
    for (float &value : values)
      value = normal(random);
    return values;
  }

  static TensorView view(const std::vector<float> &values,
                         ArrayRef<int64_t> shape) {
    return {TensorType::F32,
            {shape.begin(), shape.end()},
            ArrayRef<char>(reinterpret_cast<const char *>(values.data()),
                           values.size() * sizeof(float))};
  }

  TensorsToWrite getTensors() const {
    auto d = static_cast<int64_t>(dim), m = static_cast<int64_t>(actionDim),
         e = static_cast<int64_t>(encodingDim),
         h = static_cast<int64_t>(hiddenDim);
    TensorsToWrite file;
    file.tensors["action.weight"] = view(action, {m, e});
    file.tensors["normal.weight"] = view(normal, {d, m});
    file.tensors["translation.weight"] = view(translation, {d, m});
    if (hiddenDim != 0) {
      file.tensors["residual.in.weight"] = view(in, {h, d + m});
      file.tensors["residual.in.bias"] = view(inBias, {h});
      file.tensors["residual.out.weight"] = view(out, {d, h});
      file.tensors["residual.out.bias"] = view(outBias, {d});
    }
    return file;
  }

  static Doubles multiply(const std::vector<float> &matrix,
                          const Doubles &vector) {
    Doubles result(matrix.size() / vector.size());
    for (size_t i = 0; i < matrix.size(); ++i)
      result[i / vector.size()] += matrix[i] * vector[i % vector.size()];
    return result;
  }
  static double dot(const Doubles &a, const Doubles &b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i)
      sum += a[i] * b[i];
    return sum;
  }
  static Doubles makeUnit(Doubles values) {
    double length = std::max(std::sqrt(dot(values, values)), 1e-12);
    for (double &value : values)
      value /= length;
    return values;
  }

  Doubles step(const Doubles &z, ArrayRef<float> encoding) const {
    Doubles a = multiply(action, Doubles(encoding.begin(), encoding.end()));
    Doubles w = makeUnit(multiply(normal, a)), t = multiply(translation, a);
    Doubles u = z;
    double distance = dot(w, z);
    for (size_t i = 0; i < dim; ++i)
      u[i] += t[i] - distance * w[i];
    if (hiddenDim == 0)
      return makeUnit(u);
    Doubles joined = u;
    joined.insert(joined.end(), a.begin(), a.end());
    Doubles hidden = multiply(in, joined);
    for (size_t i = 0; i < hiddenDim; ++i) {
      double x = hidden[i] + inBias[i];
      hidden[i] = x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    }
    Doubles residual = multiply(out, hidden);
    for (size_t i = 0; i < dim; ++i)
      u[i] += residual[i] + outBias[i];
    return makeUnit(u);
  }

  std::mt19937 random{7};
  size_t dim, actionDim, encodingDim, hiddenDim;
  std::vector<float> action, normal, translation, in, inBias, out, outBias;
};
} // namespace

static SafeTensors makeFile(const TensorsToWrite &tensors) {
  SmallString<128> path;
  EXPECT_FALSE(sys::fs::createTemporaryFile("cwm-test", "safetensors", path));
  if (Error error = writeSafeTensors(path, tensors))
    ADD_FAILURE() << toString(std::move(error));
  Expected<SafeTensors> file = SafeTensors::open(path);
  sys::fs::remove(path);
  if (!file) {
    ADD_FAILURE() << toString(file.takeError());
    abort();
  }
  return std::move(*file);
}

static Transition load(const Model &model,
                       const TransitionKernels *kernels = nullptr) {
  Expected<Transition> loaded =
      Transition::load(makeFile(model.getTensors()), kernels);
  if (!loaded) {
    ADD_FAILURE() << toString(loaded.takeError());
    abort();
  }
  return std::move(*loaded);
}

static std::vector<Sequence> makeCandidates(size_t count, uint32_t numActions,
                                            size_t maxLength,
                                            std::mt19937 &random) {
  std::vector<Sequence> candidates(count);
  for (size_t i = 0; i < count; ++i) {
    // Begins as an earlier one.
    if (i != 0)
      candidates[i] = candidates[random() % i];
    candidates[i].resize(random() % (candidates[i].size() + 1));
    while (candidates[i].size() < maxLength && random() % 8 != 0)
      candidates[i].push_back(random() % numActions);
  }
  return candidates;
}

static std::vector<const TransitionKernels *> getAllKernels() {
  std::vector<const TransitionKernels *> kernels;
  for (const auto *const *it = getSupportedKernels(); *it; ++it)
    kernels.push_back(*it);
  return kernels;
}

TEST(TransitionTest, EqualsTheFormula) {
  struct Sizes {
    size_t dim, action, encoding, hidden, candidates;
  };
  // Sizes that are multiples of vectors and such that are not, blocks of rows
  // that are full and such that are not.
  for (Sizes sizes : {Sizes{64, 64, 64, 64, 120}, Sizes{37, 20, 50, 45, 60},
                      Sizes{32, 16, 8, 0, 40}, Sizes{1, 1, 1, 1, 5},
                      Sizes{100, 100, 100, 200, 1}}) {
    Model model(sizes.dim, sizes.action, sizes.encoding, sizes.hidden);
    constexpr uint32_t numActions = 17;
    std::vector<float> encodings =
        model.makeRandom(numActions * sizes.encoding);
    std::vector<float> initial = model.makeRandom(sizes.dim);
    std::vector<Sequence> candidates =
        makeCandidates(sizes.candidates, numActions, 12, model.random);
    PrefixTree tree(makeRefs(candidates));
    for (const TransitionKernels *kernels : getAllKernels()) {
      SCOPED_TRACE(kernels->name);
      Transition transition = load(model, kernels);
      EXPECT_EQ(transition.getDim(), sizes.dim);
      EXPECT_EQ(transition.getEncodingDim(), sizes.encoding);
      EXPECT_EQ(transition.getHiddenDim(), sizes.hidden);
      Transition::Actions actions = transition.prepare(encodings);
      EXPECT_EQ(actions.size(), numActions);
      std::vector<float> finals = transition.rollOut(initial, actions, tree);
      std::vector<float> states =
          transition.rollOutPrefixes(initial, actions, tree);
      ASSERT_EQ(finals.size(), candidates.size() * sizes.dim);
      ASSERT_EQ(states.size(), tree.size() * sizes.dim);
      double worst = 0;
      for (size_t i = 0; i < candidates.size(); ++i) {
        Doubles z(initial.begin(), initial.end());
        for (uint32_t action : candidates[i])
          z = model.step(z, ArrayRef<float>(encodings).slice(
                                action * sizes.encoding, sizes.encoding));
        for (size_t k = 0; k < sizes.dim; ++k) {
          worst = std::max(worst, std::abs(z[k] - finals[i * sizes.dim + k]));
          // The same bits in both ways.
          EXPECT_EQ(finals[i * sizes.dim + k],
                    states[tree.ends[i] * sizes.dim + k]);
        }
      }
      EXPECT_LT(worst, 2e-6);
    }
  }
}

TEST(TransitionTest, OthersDoNotMatter) {
  Model model(40, 40, 40, 70);
  std::vector<float> encodings = model.makeRandom(9 * 40);
  std::vector<float> initial = model.makeRandom(40);
  std::vector<Sequence> candidates = makeCandidates(300, 9, 10, model.random);
  Transition transition = load(model);
  Transition::Actions actions = transition.prepare(encodings);
  std::vector<float> all =
      transition.rollOut(initial, actions, PrefixTree(makeRefs(candidates)));
  for (size_t i = 0; i < candidates.size(); i += 23)
    EXPECT_EQ(
        transition.rollOut(initial, actions,
                           PrefixTree(makeRefs({candidates[i]}))),
        std::vector<float>(all.begin() + i * 40, all.begin() + (i + 1) * 40));
}

TEST(TransitionTest, ExtremeActivations) {
  // gelu far from zero, where exp of the square is out of range.
  Model model(32, 32, 32, 32);
  for (float scale : {1e-6f, 30.0f, 1e4f}) {
    std::vector<float> encodings = model.makeRandom(32);
    for (float &value : encodings)
      value *= scale;
    std::vector<float> initial = model.makeRandom(32);
    Doubles expected =
        model.step(Doubles(initial.begin(), initial.end()), encodings);
    for (const TransitionKernels *kernels : getAllKernels()) {
      Transition transition = load(model, kernels);
      std::vector<float> result = transition.rollOut(
          initial, transition.prepare(encodings), PrefixTree(makeRefs({{0}})));
      for (size_t k = 0; k < 32; ++k)
        EXPECT_NEAR(result[k], expected[k], 2e-6) << kernels->name << scale;
    }
  }
}

/// The activation by itself: from a state and an action of zeros, W_2 the
/// identity, z' is gelu(b_1) but for its length, which the last element tells.
TEST(TransitionTest, Activation) {
  constexpr size_t size = 200;
  Model model(size, 1, 1, size);
  model.out.assign(size * size, 0);
  model.outBias.assign(size, 0);
  for (size_t i = 0; i < size; ++i) {
    model.inBias[i] = (static_cast<float>(i) - size / 2) * 0.07f;
    model.out[i * size + i] = 1;
  }
  model.inBias.back() = 0;
  model.outBias.back() = 1;
  std::vector<float> encodings(1), initial(size);
  for (const TransitionKernels *kernels : getAllKernels()) {
    Transition transition = load(model, kernels);
    std::vector<float> result = transition.rollOut(
        initial, transition.prepare(encodings), PrefixTree(makeRefs({{0}})));
    for (size_t i = 0; i + 1 < size; ++i) {
      double x = model.inBias[i];
      EXPECT_NEAR(result[i] / result.back(),
                  x * 0.5 * std::erfc(-x / std::sqrt(2.0)),
                  3e-7 * std::max(1.0, std::abs(x)))
          << kernels->name << " " << x;
    }
  }
}

TEST(TransitionTest, NothingToDo) {
  Model model(8, 8, 8, 8);
  // An action of no direction has no hyperplane: nothing becomes NaN.
  std::vector<float> encodings(8), initial = model.makeRandom(8);
  Transition transition = load(model);
  Transition::Actions actions = transition.prepare(encodings);
  std::vector<float> result =
      transition.rollOut(initial, actions, PrefixTree(makeRefs({{0}, {}})));
  for (float value : result)
    EXPECT_TRUE(std::isfinite(value));
  EXPECT_EQ(std::vector<float>(result.begin() + 8, result.end()), initial);
  EXPECT_TRUE(
      transition.rollOut(initial, transition.prepare({}), PrefixTree({}))
          .empty());
}

TEST(TransitionTest, DamagedFiles) {
  Model model(4, 3, 5, 6);
  auto getError = [&](function_ref<void(TensorsToWrite &)> change) {
    TensorsToWrite tensors = model.getTensors();
    change(tensors);
    Expected<Transition> loaded = Transition::load(makeFile(tensors));
    return loaded ? "" : toString(loaded.takeError());
  };
  using File = TensorsToWrite &;
  EXPECT_EQ(getError([](File) {}), "");
  for (const auto &entry : model.getTensors().tensors) {
    const std::string &name = entry.first;
    EXPECT_THAT(
        getError([&](File file) { file.tensors.erase(name); }),
        HasSubstr("tensor '" + name + "' is missing, expected shape ["));
    if (name == "action.weight")
      continue; // says itself what is expected
    std::vector<float> values(77);
    EXPECT_THAT(getError([&](File file) {
                  file.tensors[name] = Model::view(values, {7, 11});
                }),
                HasSubstr("' is F32["))
        << name;
  }
  std::vector<float> infinite(24, std::numeric_limits<float>::infinity());
  EXPECT_THAT(getError([&](File file) {
                file.tensors["residual.out.weight"] =
                    Model::view(infinite, {4, 6});
              }),
              HasSubstr("has a value that is not finite, element 0"));
  EXPECT_THAT(getError([&](File file) {
                file.tensors["action.weight"] = Model::view({}, {0, 5});
                file.tensors["normal.weight"] = Model::view({}, {4, 0});
              }),
              HasSubstr("the transition has no dimensions"));
}

namespace {
class TransitionOfModelTest : public cwm::test::FolderTest {
protected:
  std::string load(const Model &model, int64_t dim) {
    ModelConfig config;
    config.dim = dim;
    std::string file = at(ModelDirectory::transitionFile);
    if (Error error = writeSafeTensors(file, model.getTensors()))
      return toString(std::move(error));
    if (Error error = ModelDirectory::write(folder, config))
      return toString(std::move(error));
    Expected<ModelDirectory> directory = ModelDirectory::load(folder);
    if (!directory)
      return toString(directory.takeError());
    Expected<Transition> loaded = Transition::load(*directory);
    return loaded ? "" : toString(loaded.takeError());
  }
};
} // namespace

TEST_F(TransitionOfModelTest, DimensionsAreTheModels) {
  EXPECT_EQ(load(Model(8, 4, 8, 6), 8), "");
  for (const Model &other : {Model(9, 4, 8, 6), Model(8, 4, 9, 6)})
    EXPECT_THAT(load(other, 8),
                HasSubstr("dimensions, config.json expects 8 of both"));
}
