//===- TransitionNetwork.cpp - The transition F in libtorch -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransitionNetwork.h"

#include "Group.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

#include <cmath>

namespace cwm::torch_component {

static void require(bool condition, const char *message) {
  TORCH_CHECK_VALUE(condition, message);
}

static at::Tensor unit(const at::Tensor &rows) {
  return rows / rows.norm(2, {-1}, true).clamp_min(1e-12);
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

at::Tensor TransitionNetwork::add(std::string name, at::IntArrayRef sizes,
                                  double deviation) {
  at::Tensor value = at::zeros(sizes, at::kFloat);
  if (deviation > 0)
    value.normal_(0, deviation, generator);
  parameters.push_back({std::move(name), value});
  return value;
}

TransitionNetwork::TransitionNetwork(const CwmTransitionShape &shape,
                                     uint64_t seed)
    : shape(shape), generator(at::make_generator<at::CPUGeneratorImpl>(seed)) {
  require(shape.dim > 0 && shape.encoding > 0 && shape.action > 0 &&
              shape.hidden >= 0,
          "every size of a transition must be positive");
  // An encoded text is a unit vector: a has elements around 1. Translation and
  // residual begin with a tenth of the length of a state, so that an action at
  // first changes little, as most actions do.
  const auto inverseRoot = [](int64_t count) {
    return 1 / std::sqrt(static_cast<double>(count));
  };
  const double ofAction = inverseRoot(shape.action),
               small = 0.1 * inverseRoot(shape.dim);
  action = add("action.weight", {shape.action, shape.encoding}, 1);
  normal = add("normal.weight", {shape.dim, shape.action}, ofAction);
  translation =
      add("translation.weight", {shape.dim, shape.action}, small * ofAction);
  if (shape.hidden == 0)
    return;
  inWeight =
      add("residual.in.weight", {shape.hidden, shape.dim + shape.action}, 1);
  inWeight.slice(1, shape.dim).mul_(ofAction);
  inBias = add("residual.in.bias", {shape.hidden}, 0);
  outWeight = add("residual.out.weight", {shape.dim, shape.hidden},
                  small * inverseRoot(shape.hidden));
  outBias = add("residual.out.bias", {shape.dim}, 0);
}

//===----------------------------------------------------------------------===//
// Rolling out
//===----------------------------------------------------------------------===//

/// A view of indices, of which -1 and those below `count` are allowed.
static at::Tensor viewIndices(const int32_t *data, at::IntArrayRef sizes,
                              int64_t count) {
  at::Tensor indices =
      at::from_blob(const_cast<int32_t *>(data), sizes, at::kInt).to(at::kLong);
  require(indices.numel() == 0 || (indices.min().item<int64_t>() >= -1 &&
                                   indices.max().item<int64_t>() < count),
          "a batch of roll-outs names a row that is not there");
  return indices;
}

static at::Tensor viewStates(const CwmRolloutBatch &batch, int64_t dim) {
  return at::from_blob(const_cast<float *>(batch.states),
                       {batch.numStates, dim}, at::kFloat);
}

at::Tensor TransitionNetwork::rollOut(const CwmRolloutBatch &batch) const {
  require(batch.rows > 0 && batch.steps > 0 && batch.numStates > 0 &&
              batch.numActions > 0,
          "a batch of roll-outs must have states and actions");
  at::Tensor starts = viewIndices(batch.start, {batch.rows}, batch.numStates);
  require(starts.min().item<int64_t>() >= 0, "a roll-out has no start");
  at::Tensor z = viewStates(batch, shape.dim).index_select(0, starts);
  at::Tensor places =
      viewIndices(batch.actions, {batch.rows, batch.steps}, batch.numActions);
  at::Tensor encodings =
      at::from_blob(const_cast<float *>(batch.encodings),
                    {batch.numActions, shape.encoding}, at::kFloat);
  // What actions contribute by themselves, once for each.
  at::Tensor a = encodings.mm(action.t());
  at::Tensor w = unit(a.mm(normal.t())), t = a.mm(translation.t());
  at::Tensor hidden, inState;
  if (shape.hidden > 0) {
    hidden = at::addmm(inBias, a, inWeight.slice(1, shape.dim).t());
    inState = inWeight.slice(1, 0, shape.dim).t();
  }
  std::vector<at::Tensor> states;
  for (int64_t step = 0; step < batch.steps; ++step) {
    at::Tensor place = places.select(1, step);
    at::Tensor present = place.ge(0).unsqueeze(1);
    at::Tensor row = place.clamp_min(0);
    at::Tensor normals = w.index_select(0, row);
    at::Tensor u =
        z - (normals * z).sum({1}, true) * normals + t.index_select(0, row);
    if (shape.hidden > 0)
      u = u + at::addmm(outBias,
                        at::gelu(u.mm(inState) + hidden.index_select(0, row)),
                        outWeight.t());
    z = at::where(present, unit(u), z);
    states.push_back(z);
  }
  return at::stack(states, 1);
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

namespace {
/// The hardest of the negatives of one kind.
struct Hardest {
  at::Tensor loss, similarity;
};
} // namespace

/// By how much the nearest negative is not `margin` further away than the
/// target. Where the target itself is closer to a negative than that, only as
/// much is asked for as the target keeps: a perfect prediction has no loss.
static Hardest findHardest(const at::Tensor &predicted,
                           const at::Tensor &targets, const at::Tensor &match,
                           const at::Tensor &states, const at::Tensor &negative,
                           double margin) {
  // rows x negatives x dim
  at::Tensor present = negative.ge(0).unsqueeze(1);
  at::Tensor others = states.index_select(0, negative.clamp_min(0).view({-1}))
                          .view({negative.size(0), negative.size(1), -1})
                          .transpose(1, 2);
  // rows x steps x negatives
  at::Tensor similarity = predicted.matmul(others);
  at::Tensor kept = at::clamp(1 - targets.matmul(others), 0, margin);
  at::Tensor excess = at::clamp_min(
      (kept + similarity - match.unsqueeze(2)).masked_fill(~present, 0), 0);
  return {excess.amax({2}),
          similarity.detach().masked_fill(~present, -2).amax({2})};
}

at::Tensor TransitionTrainer::computeLoss(const CwmRolloutBatch &batch,
                                          const CwmRolloutOptions &options,
                                          CwmStepResult &result) {
  require(batch.totalWeight > 0, "a batch of roll-outs has no target");
  const int64_t dim = network.getShape().dim;
  at::Tensor sums = at::zeros({2}, at::kDouble), loss;
  // A process may have nothing of a small batch.
  if (batch.rows > 0) {
    at::Tensor predicted = network.rollOut(batch);
    at::Tensor states = viewStates(batch, dim);
    at::Tensor place =
        viewIndices(batch.targets, {batch.rows, batch.steps}, batch.numStates);
    at::Tensor targets = states.index_select(0, place.clamp_min(0).view({-1}))
                             .view({batch.rows, batch.steps, dim});
    at::Tensor weights = at::from_blob(const_cast<float *>(batch.weights),
                                       {batch.rows, batch.steps}, at::kFloat)
                             .masked_fill(place.lt(0), 0);
    at::Tensor match = (predicted * targets).sum(2);
    at::Tensor each = 1 - match;
    at::Tensor isNearest = at::ones_like(each, at::kBool);
    at::Tensor negative = viewIndices(
        batch.negative, {batch.rows, batch.negatives}, batch.numStates);
    auto addNegatives = [&](int64_t begin, int64_t end, double margin,
                            double weight) {
      if (begin >= end)
        return;
      Hardest hardest = findHardest(predicted, targets, match, states,
                                    negative.slice(1, begin, end), margin);
      each = each + hardest.loss * weight;
      isNearest = isNearest.logical_and(match.detach().gt(hardest.similarity));
    };
    addNegatives(0, batch.sameWorkload, options.sameMargin, options.sameWeight);
    addNegatives(batch.sameWorkload, batch.negatives, options.otherMargin,
                 options.otherWeight);
    loss = (each * weights).sum() / batch.totalWeight;
    sums[0] = loss.detach().to(at::kDouble);
    sums[1] = (isNearest.to(at::kFloat) * weights).sum().to(at::kDouble) /
              batch.totalWeight;
  } else {
    loss = at::zeros({}, at::kFloat);
  }
  if (Group *group = Group::getCurrent().get())
    group->sum(sums);
  result.loss = sums[0].item<double>();
  result.accuracy = sums[1].item<double>();
  return loss;
}

CwmStepResult TransitionTrainer::step(const CwmRolloutBatch &batch,
                                      const CwmRolloutOptions &options,
                                      int64_t step) {
  CwmStepResult result = {};
  adam.start();
  at::Tensor loss = computeLoss(batch, options, result);
  adam.finish(loss, options.adam, step, result);
  return result;
}

CwmStepResult TransitionTrainer::evaluate(const CwmRolloutBatch &batch,
                                          const CwmRolloutOptions &options) {
  at::NoGradGuard noGradient;
  CwmStepResult result = {};
  computeLoss(batch, options, result);
  result.finite = std::isfinite(result.loss);
  return result;
}

} // namespace cwm::torch_component
