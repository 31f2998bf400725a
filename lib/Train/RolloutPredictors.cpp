//===- RolloutPredictors.cpp - Guesses of what actions do -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/RolloutMetrics.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <set>

using namespace llvm;

namespace cwm {

static StringRef getKind(StringRef action) { return action.split(' ').first; }

/// state = unit(state + delta)
static void addUnit(MutableArrayRef<float> state, ArrayRef<float> delta) {
  double square = 0;
  for (auto [value, change] : zip(state, delta)) {
    value += change;
    square += static_cast<double>(value) * value;
  }
  const double norm = std::max(std::sqrt(square), 1e-12);
  for (float &value : state)
    value = static_cast<float>(value / norm);
}

/// Calls `visit` for each distinct step between two known states.
static void
visitSteps(const LatentTrajectories &data,
           function_ref<void(uint32_t before, uint32_t action, uint32_t after)>
               visit) {
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> seen;
  for (const LatentTrajectories::Trajectory &trajectory : data.trajectories)
    for (auto [place, action] : enumerate(trajectory.actions)) {
      const uint32_t before = trajectory.states[place],
                     after = trajectory.states[place + 1];
      if (before != LatentTrajectories::unknown &&
          after != LatentTrajectories::unknown &&
          seen.insert({before, action, after}).second)
        visit(before, action, after);
    }
}

namespace {

class TransitionPredictor : public RolloutPredictor {
public:
  explicit TransitionPredictor(const Transition &transition)
      : transition(transition) {}
  StringRef getName() const override { return "transition"; }
  std::vector<float> predict(const LatentTrajectories &data,
                             ArrayRef<float> initial,
                             const PrefixTree &tree) const override {
    // Only what the tree has.
    std::vector<uint32_t> numbers(data.actions.size(),
                                  LatentTrajectories::unknown);
    std::vector<float> encodings;
    PrefixTree own = tree;
    uint32_t count = 0;
    for (uint32_t &action : drop_begin(own.actions)) {
      uint32_t &number = numbers[action];
      if (number == LatentTrajectories::unknown) {
        number = count++;
        append_range(encodings, data.getEncoding(action));
      }
      action = number;
    }
    return transition.rollOutPrefixes(initial, transition.prepare(encodings),
                                      own);
  }

private:
  const Transition &transition;
};

/// What goes from a prefix to the next one.
class StepPredictor : public RolloutPredictor {
public:
  std::vector<float> predict(const LatentTrajectories &data,
                             ArrayRef<float> initial,
                             const PrefixTree &tree) const override {
    std::vector<float> states(tree.size() * data.dim);
    MutableArrayRef<float> rows(states);
    llvm::copy(initial, states.begin());
    for (size_t node = 1; node < tree.size(); ++node) {
      MutableArrayRef<float> row = rows.slice(node * data.dim, data.dim);
      llvm::copy(rows.slice(tree.parents[node] * data.dim, data.dim),
                 row.begin());
      apply(data, tree.actions[node], row);
    }
    return states;
  }

protected:
  virtual void apply(const LatentTrajectories &data, uint32_t action,
                     MutableArrayRef<float> state) const = 0;
};

class IdentityPredictor : public StepPredictor {
public:
  StringRef getName() const override { return "identity"; }

protected:
  void apply(const LatentTrajectories &, uint32_t,
             MutableArrayRef<float>) const override {}
};

class MeanDeltaPredictor : public StepPredictor {
public:
  explicit MeanDeltaPredictor(const LatentTrajectories &training) {
    StringMap<std::vector<double>> sums;
    StringMap<size_t> counts;
    visitSteps(training, [&](uint32_t before, uint32_t action, uint32_t after) {
      StringRef kind = getKind(training.actions[action]);
      std::vector<double> &sum = sums[kind];
      sum.resize(training.dim);
      ++counts[kind];
      for (size_t i = 0; i < training.dim; ++i)
        sum[i] += training.getState(after)[i] - training.getState(before)[i];
    });
    for (const auto &entry : sums)
      for (double sum : entry.second)
        deltas[entry.first()].push_back(static_cast<float>(
            sum / static_cast<double>(counts.lookup(entry.first()))));
  }
  StringRef getName() const override { return "mean delta"; }

protected:
  void apply(const LatentTrajectories &data, uint32_t action,
             MutableArrayRef<float> state) const override {
    auto it = deltas.find(getKind(data.actions[action]));
    if (it != deltas.end())
      addUnit(state, it->second);
  }

private:
  StringMap<std::vector<float>> deltas;
};

/// delta = W [z; a; 1]
class LinearPredictor : public StepPredictor {
public:
  LinearPredictor(const LatentTrajectories &training, size_t maxSteps)
      : dim(training.dim), numInputs(training.dim + training.encodingDim + 1) {
    fit(training, maxSteps);
  }
  StringRef getName() const override { return "linear"; }

protected:
  void apply(const LatentTrajectories &data, uint32_t action,
             MutableArrayRef<float> state) const override {
    std::vector<float> delta(dim);
    const std::vector<double> inputs = join(state, data.getEncoding(action));
    for (size_t i = 0; i < numInputs; ++i)
      for (size_t j = 0; j < dim; ++j)
        delta[j] += static_cast<float>(inputs[i] * weights[i * dim + j]);
    addUnit(state, delta);
  }

private:
  static std::vector<double> join(ArrayRef<float> state,
                                  ArrayRef<float> encoding) {
    std::vector<double> inputs(state.begin(), state.end());
    append_range(inputs, encoding);
    inputs.push_back(1);
    return inputs;
  }
  void fit(const LatentTrajectories &training, size_t maxSteps);
  /// Solves gram * X = weights in place, gram being positive definite.
  void solve(std::vector<double> &gram);

  size_t dim, numInputs;
  /// numInputs x dim
  std::vector<double> weights;
};

} // namespace

void LinearPredictor::fit(const LatentTrajectories &training, size_t maxSteps) {
  size_t numSteps = 0;
  visitSteps(training, [&](uint32_t, uint32_t, uint32_t) { ++numSteps; });
  const size_t stride = std::max<size_t>(1, divideCeil(numSteps, maxSteps));
  std::vector<double> gram(numInputs * numInputs);
  weights.assign(numInputs * dim, 0);
  size_t place = 0, used = 0;
  visitSteps(training, [&](uint32_t before, uint32_t action, uint32_t after) {
    if (place++ % stride != 0)
      return;
    ++used;
    const std::vector<double> inputs =
        join(training.getState(before), training.getEncoding(action));
    std::vector<double> delta(dim);
    for (size_t j = 0; j < dim; ++j)
      delta[j] = training.getState(after)[j] - training.getState(before)[j];
    for (size_t i = 0; i < numInputs; ++i) {
      const double input = inputs[i];
      double *row = gram.data() + i * numInputs;
      for (size_t j = 0; j <= i; ++j)
        row[j] += input * inputs[j];
      double *target = weights.data() + i * dim;
      for (size_t j = 0; j < dim; ++j)
        target[j] += input * delta[j];
    }
  });
  if (used == 0)
    return;
  // Without the constant, whose square is always 1.
  double trace = 0;
  for (size_t i = 0; i + 1 < numInputs; ++i)
    trace += gram[i * numInputs + i];
  const double penalty =
      0.01 * trace / static_cast<double>(numInputs - 1) + 1e-9;
  for (size_t i = 0; i < numInputs; ++i)
    gram[i * numInputs + i] += penalty;
  solve(gram);
}

void LinearPredictor::solve(std::vector<double> &gram) {
  const size_t n = numInputs;
  // Cholesky: gram = L L^T, in the lower triangle.
  for (size_t i = 0; i < n; ++i) {
    double *row = gram.data() + i * n;
    for (size_t j = 0; j <= i; ++j) {
      const double *other = gram.data() + j * n;
      double sum = row[j];
      for (size_t k = 0; k < j; ++k)
        sum -= row[k] * other[k];
      row[j] = i == j ? std::sqrt(sum) : sum / other[j];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    double *target = weights.data() + i * dim;
    for (size_t k = 0; k < i; ++k)
      for (size_t j = 0; j < dim; ++j)
        target[j] -= gram[i * n + k] * weights[k * dim + j];
    for (size_t j = 0; j < dim; ++j)
      target[j] /= gram[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    double *target = weights.data() + i * dim;
    for (size_t k = i + 1; k < n; ++k)
      for (size_t j = 0; j < dim; ++j)
        target[j] -= gram[k * n + i] * weights[k * dim + j];
    for (size_t j = 0; j < dim; ++j)
      target[j] /= gram[i * n + i];
  }
}

std::unique_ptr<RolloutPredictor>
makeTransitionPredictor(const Transition &transition) {
  return std::make_unique<TransitionPredictor>(transition);
}

std::unique_ptr<RolloutPredictor> makeIdentityPredictor() {
  return std::make_unique<IdentityPredictor>();
}

std::unique_ptr<RolloutPredictor>
makeMeanDeltaPredictor(const LatentTrajectories &training) {
  return std::make_unique<MeanDeltaPredictor>(training);
}

std::unique_ptr<RolloutPredictor>
makeLinearPredictor(const LatentTrajectories &training, size_t maxSteps) {
  return std::make_unique<LinearPredictor>(training, maxSteps);
}

} // namespace cwm
