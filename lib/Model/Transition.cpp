//===- Transition.cpp - Rolls latent states forward -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/Transition.h"

#include "TransitionKernels.h"

#include "cwm/Model/ModelDirectory.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <cassert>

using namespace llvm;

namespace cwm {

//===----------------------------------------------------------------------===//
// PrefixTree
//===----------------------------------------------------------------------===//

PrefixTree::PrefixTree(ArrayRef<ArrayRef<uint32_t>> candidates)
    : parents{0}, actions{0}, levels{0, 1}, ends(candidates.size()) {
  // All candidates step by step, so that nodes come in order of length.
  std::vector<uint32_t> active(candidates.size());
  for (auto [index, place] : enumerate(active))
    place = static_cast<uint32_t>(index);
  DenseMap<std::pair<uint32_t, uint32_t>, uint32_t> children;
  for (size_t length = 0; !active.empty(); ++length) {
    llvm::erase_if(active, [&](uint32_t candidate) {
      return candidates[candidate].size() == length;
    });
    children.clear();
    for (uint32_t candidate : active) {
      uint32_t &node = ends[candidate];
      uint32_t action = candidates[candidate][length];
      auto [it, isNew] = children.try_emplace({node, action}, size());
      if (isNew) {
        parents.push_back(node);
        actions.push_back(action);
      }
      node = it->second;
    }
    if (!active.empty())
      levels.push_back(static_cast<uint32_t>(size()));
  }
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static size_t pad(size_t count) { return alignTo(count, rowAlignment); }

/// `weights` is numRows x numColumns; of its columns, those from `first` to
/// `last` (exclusive) are taken.
Transition::Matrix Transition::pack(ArrayRef<float> weights, size_t numRows,
                                    size_t numColumns, size_t first,
                                    size_t last) const {
  Matrix matrix;
  matrix.numInputs = pad(last - first);
  matrix.numOutputs = pad(numRows);
  matrix.panels.resize(matrix.numInputs * matrix.numOutputs);
  size_t width = kernels->panelWidth;
  for (size_t row = 0; row < numRows; ++row) {
    float *panel =
        matrix.panels.data() + row / width * width * matrix.numInputs;
    for (size_t column = first; column < last; ++column)
      panel[(column - first) * width + row % width] =
          weights[row * numColumns + column];
  }
  return matrix;
}

static AlignedFloats padVector(ArrayRef<float> values) {
  AlignedFloats padded(pad(values.size()));
  llvm::copy(values, padded.begin());
  return padded;
}

Expected<Transition> Transition::load(const SafeTensors &file,
                                      const TransitionKernels *kernels) {
  Transition model;
  model.kernels = kernels ? kernels : *getSupportedKernels();
  SmallVector<int64_t, 4> shape;
  auto read = [&](StringRef name,
                  ArrayRef<int64_t> expected) -> Expected<std::vector<float>> {
    return file.getFloats(name, expected, &shape);
  };
  Expected<std::vector<float>> action = read("action.weight", {-1, -1});
  if (!action)
    return action.takeError();
  int64_t actionDim = shape[0], encodingDim = shape[1];
  Expected<std::vector<float>> normal = read("normal.weight", {-1, actionDim});
  if (!normal)
    return normal.takeError();
  int64_t dim = shape[0];
  // Products of two sizes of tensors that a file holds overflow nothing, but
  // nothing can be computed of vectors of no length.
  if (dim == 0 || actionDim == 0 || encodingDim == 0)
    return createStringError("cannot use '" + file.getPath() +
                             "': the transition has no dimensions");
  Expected<std::vector<float>> translation =
      read("translation.weight", {dim, actionDim});
  if (!translation)
    return translation.takeError();
  model.dim = dim;
  model.actionDim = actionDim;
  model.encodingDim = encodingDim;
  model.action = model.pack(*action, actionDim, encodingDim, 0, encodingDim);
  model.normal = model.pack(*normal, dim, actionDim, 0, actionDim);
  model.translation = model.pack(*translation, dim, actionDim, 0, actionDim);
  if (!file.contains("residual.in.weight") &&
      !file.contains("residual.in.bias") &&
      !file.contains("residual.out.weight") &&
      !file.contains("residual.out.bias"))
    return model;

  int64_t numColumns = dim + actionDim;
  Expected<std::vector<float>> in =
      read("residual.in.weight", {-1, numColumns});
  if (!in)
    return in.takeError();
  int64_t hiddenDim = shape[0];
  Expected<std::vector<float>> inBias = read("residual.in.bias", {hiddenDim});
  if (!inBias)
    return inBias.takeError();
  Expected<std::vector<float>> out =
      read("residual.out.weight", {dim, hiddenDim});
  if (!out)
    return out.takeError();
  Expected<std::vector<float>> outBias = read("residual.out.bias", {dim});
  if (!outBias)
    return outBias.takeError();
  if (hiddenDim == 0)
    return createStringError("cannot use '" + file.getPath() +
                             "': the residual network has no width");
  model.hiddenDim = hiddenDim;
  model.hiddenOfState = model.pack(*in, hiddenDim, numColumns, 0, dim);
  model.hiddenOfAction =
      model.pack(*in, hiddenDim, numColumns, dim, numColumns);
  model.output = model.pack(*out, dim, hiddenDim, 0, hiddenDim);
  model.hiddenBias = padVector(*inBias);
  model.outputBias = padVector(*outBias);
  return model;
}

Expected<Transition> Transition::load(const ModelDirectory &model) {
  Expected<SafeTensors> file =
      model.loadTensors(ModelDirectory::transitionFile);
  if (!file)
    return file.takeError();
  Expected<Transition> transition = load(*file);
  if (!transition)
    return transition.takeError();
  auto expected = static_cast<size_t>(model.getConfig().dim);
  if (transition->dim != expected || transition->encodingDim != expected)
    return createStringError(
        "cannot use '" + file->getPath() + "': it is for latent states of " +
        Twine(transition->dim) + " and action texts of " +
        Twine(transition->encodingDim) + " dimensions, config.json expects " +
        Twine(expected) + " of both");
  return transition;
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

/// Rows for a whole number of blocks.
static AlignedFloats makeRows(size_t count, size_t width,
                              const TransitionKernels &kernels) {
  return AlignedFloats(alignTo(count, kernels.rowBlock) * width);
}

AlignedFloats Transition::apply(const Matrix &matrix, const AlignedFloats &rows,
                                size_t count, const AlignedFloats *bias) const {
  AlignedFloats results = makeRows(count, matrix.numOutputs, *kernels);
  size_t numRows = results.size() / matrix.numOutputs;
  AlignedFloats zeros(matrix.numOutputs);
  std::vector<const float *> initial(numRows, zeros.data());
  kernels->multiply({numRows, matrix.numInputs, matrix.numOutputs, rows.data(),
                     matrix.panels.data(), initial.data(),
                     bias ? bias->data() : zeros.data(), results.data()});
  return results;
}

Transition::Actions Transition::prepare(ArrayRef<float> encodings) const {
  assert(encodings.size() % encodingDim == 0 && "not a whole number of rows");
  Actions actions;
  actions.count = encodings.size() / encodingDim;
  AlignedFloats rows = makeRows(actions.count, action.numInputs, *kernels);
  for (size_t i = 0; i < actions.count; ++i)
    llvm::copy(encodings.slice(i * encodingDim, encodingDim),
               rows.data() + i * action.numInputs);
  rows = apply(action, rows, actions.count, nullptr);
  actions.normals = apply(normal, rows, actions.count, nullptr);
  for (size_t i = 0; i < actions.count; ++i)
    kernels->normalize(actions.normals.data() + i * normal.numOutputs,
                       normal.numOutputs);
  actions.translations = apply(translation, rows, actions.count, nullptr);
  if (hiddenDim != 0)
    actions.hidden = apply(hiddenOfAction, rows, actions.count, &hiddenBias);
  return actions;
}

//===----------------------------------------------------------------------===//
// Roll-out
//===----------------------------------------------------------------------===//

/// Goes down a tree, one length of prefixes after the other.
class Transition::Roller {
public:
  Roller(const Transition &model, const Actions &actions,
         const PrefixTree &tree);

  /// States of level `level` from those of the one before; rows of the padded
  /// width, in order of nodes.
  void rollLevel(size_t level, const AlignedFloats &before,
                 AlignedFloats &after);

private:
  static constexpr size_t maxRows = TransitionKernels::maxRows;

  const Transition &model;
  const Actions &actions;
  const PrefixTree &tree;
  size_t dim, hiddenDim;
  AlignedFloats zeros, moved, activations, sums;
};

Transition::Roller::Roller(const Transition &model, const Actions &actions,
                           const PrefixTree &tree)
    : model(model), actions(actions), tree(tree), dim(pad(model.dim)),
      hiddenDim(pad(model.hiddenDim)), zeros(hiddenDim), moved(maxRows * dim),
      activations(maxRows * hiddenDim), sums(maxRows * dim) {}

void Transition::Roller::rollLevel(size_t level, const AlignedFloats &before,
                                   AlignedFloats &after) {
  uint32_t begin = tree.levels[level], end = tree.levels[level + 1];
  uint32_t firstBefore = tree.levels[level - 1];
  after.resize((end - begin) * dim);
  std::array<const float *, maxRows> states, normals, translations, hidden = {};
  std::array<float *, maxRows> results;
  for (size_t first = begin; first < end; first += maxRows) {
    size_t count = std::min<size_t>(maxRows, end - first);
    for (size_t i = 0; i < count; ++i) {
      size_t node = first + i;
      size_t action = tree.actions[node];
      assert(action < actions.size() && "no such action");
      states[i] = before.data() + (tree.parents[node] - firstBefore) * dim;
      normals[i] = actions.normals.data() + action * dim;
      translations[i] = actions.translations.data() + action * dim;
      if (hiddenDim != 0)
        hidden[i] = actions.hidden.data() + action * hiddenDim;
      results[i] = after.data() + (node - begin) * dim;
    }
    model.kernels->step({count, dim, hiddenDim, states.data(), normals.data(),
                         translations.data(), hidden.data(), results.data(),
                         model.hiddenOfState.panels.data(),
                         model.output.panels.data(), model.outputBias.data(),
                         zeros.data(), moved.data(), activations.data(),
                         sums.data()});
  }
}

std::vector<float> Transition::rollOutPrefixes(ArrayRef<float> initial,
                                               const Actions &actions,
                                               const PrefixTree &tree) const {
  assert(initial.size() == dim && "a state of another model");
  Roller roller(*this, actions, tree);
  AlignedFloats before = padVector(initial), after;
  std::vector<float> states(tree.size() * dim);
  llvm::copy(initial, states.begin());
  size_t width = pad(dim);
  for (size_t level = 1; level + 1 < tree.levels.size(); ++level) {
    roller.rollLevel(level, before, after);
    for (size_t node = tree.levels[level]; node < tree.levels[level + 1];
         ++node)
      std::copy_n(after.data() + (node - tree.levels[level]) * width, dim,
                  states.data() + node * dim);
    std::swap(before, after);
  }
  return states;
}

std::vector<float> Transition::rollOut(ArrayRef<float> initial,
                                       const Actions &actions,
                                       const PrefixTree &tree) const {
  assert(initial.size() == dim && "a state of another model");
  Roller roller(*this, actions, tree);
  // Candidates by where they end, so that a level need not be kept.
  std::vector<uint32_t> order(tree.ends.size());
  for (auto [index, candidate] : enumerate(order))
    candidate = static_cast<uint32_t>(index);
  llvm::sort(order, [&](uint32_t a, uint32_t b) {
    return std::pair(tree.ends[a], a) < std::pair(tree.ends[b], b);
  });
  AlignedFloats before = padVector(initial), after;
  std::vector<float> states(tree.ends.size() * dim);
  size_t width = pad(dim);
  auto next = order.begin();
  for (size_t level = 0; level + 1 < tree.levels.size(); ++level) {
    if (level != 0) {
      roller.rollLevel(level, before, after);
      std::swap(before, after);
    }
    for (; next != order.end() && tree.ends[*next] < tree.levels[level + 1];
         ++next)
      std::copy_n(before.data() +
                      (tree.ends[*next] - tree.levels[level]) * width,
                  dim, states.data() + *next * dim);
  }
  return states;
}

} // namespace cwm
