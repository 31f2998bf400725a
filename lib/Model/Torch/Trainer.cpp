//===- Trainer.cpp - Contrastive training of the encoder ------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Trainer.h"

#include "Group.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Enumerate.h>

#include <cmath>

namespace cwm::torch_component {

Trainer::Trainer(Roberta &encoder) : encoder(encoder) {
  for (Parameter &parameter : encoder.getParameters()) {
    first.push_back(at::zeros_like(parameter.value));
    second.push_back(at::zeros_like(parameter.value));
  }
}

std::vector<Parameter> Trainer::getState() {
  std::vector<Parameter> state = encoder.getParameters();
  for (auto [index, parameter] : c10::enumerate(encoder.getParameters())) {
    state.push_back({"adam.first." + parameter.name, first[index]});
    state.push_back({"adam.second." + parameter.name, second[index]});
  }
  return state;
}

/// The latents of all views, of which this process has computed some: those
/// carry gradients.
static at::Tensor gatherViews(const at::Tensor &own,
                              const CwmContrastiveBatch &batch) {
  Group *group = Group::getCurrent().get();
  if (!group)
    return own;
  const int64_t end = batch.firstView + own.size(0);
  at::Tensor all = at::zeros({batch.views, own.size(1)}, at::kFloat);
  all.slice(0, batch.firstView, end).copy_(own.detach());
  group->sum(all);
  return at::cat(
      {all.slice(0, 0, batch.firstView), own, all.slice(0, end, batch.views)});
}

at::Tensor Trainer::computeLoss(const CwmContrastiveBatch &batch,
                                const CwmStepOptions &options, double dropout,
                                CwmStepResult &result) {
  const int64_t views = batch.views;
  TORCH_CHECK_VALUE(views >= 4 && batch.firstView >= 0 &&
                        batch.firstView + batch.tokens.texts <= views,
                    "a contrastive batch needs two texts with two views each");
  at::Tensor latents =
      gatherViews(encoder.encode(batch.tokens, dropout), batch);

  auto wrap = [&](const int64_t *data) {
    return at::from_blob(const_cast<int64_t *>(data), {views}, at::kLong);
  };
  auto areEqual = [](const at::Tensor &values) {
    return values.unsqueeze(0).eq(values.unsqueeze(1));
  };
  at::Tensor self = at::eye(views, at::kBool);
  at::Tensor positive =
      areEqual(wrap(batch.identity)).logical_and(self.logical_not());
  TORCH_CHECK_VALUE(positive.sum(1).eq(1).all().item<bool>(),
                    "a view of a contrastive batch has not one positive");
  // A negative's weight w multiplies exp(similarity / temperature).
  at::Tensor logWeights =
      at::where(areEqual(wrap(batch.group)),
                at::scalar_tensor(std::log(options.intraWeight), at::kFloat),
                at::scalar_tensor(std::log(options.interWeight), at::kFloat))
          .masked_fill(positive, 0);
  at::Tensor logits = latents.mm(latents.t()) / options.temperature;
  at::Tensor weighted =
      (logits + logWeights)
          .masked_fill(self, -std::numeric_limits<float>::infinity());
  at::Tensor target = positive.to(at::kByte).argmax(1);
  at::Tensor chosen = logits.gather(1, target.unsqueeze(1)).squeeze(1);
  at::Tensor loss = (at::logsumexp(weighted, {1}) - chosen).mean();

  at::Tensor others = logits.detach().masked_fill(
      self, -std::numeric_limits<float>::infinity());
  result.accuracy =
      others.argmax(1).eq(target).to(at::kFloat).mean().item<double>();
  result.loss = loss.item<double>();
  return loss;
}

double Trainer::gatherGradients() {
  std::vector<at::Tensor> gradients;
  for (Parameter &parameter : encoder.getParameters()) {
    at::Tensor &gradient = parameter.value.mutable_grad();
    if (!gradient.defined()) // nothing in the batch depends on it
      gradient = at::zeros_like(parameter.value);
    gradients.push_back(gradient.reshape({-1}));
  }
  at::Tensor flat = at::cat(gradients);
  if (Group *group = Group::getCurrent().get()) {
    group->sum(flat);
    int64_t begin = 0;
    for (Parameter &parameter : encoder.getParameters()) {
      const int64_t size = parameter.value.numel();
      parameter.value.mutable_grad().copy_(
          flat.slice(0, begin, begin + size).view_as(parameter.value));
      begin += size;
    }
  }
  return flat.to(at::kDouble).norm().item<double>();
}

void Trainer::update(const CwmStepOptions &options, int64_t step,
                     double scale) {
  const auto count = static_cast<double>(step);
  const double firstBias = 1 - std::pow(options.beta1, count);
  const double secondBias = 1 - std::pow(options.beta2, count);
  for (auto [index, parameter] : c10::enumerate(encoder.getParameters())) {
    at::Tensor gradient = parameter.value.grad() * scale;
    first[index].mul_(options.beta1).add_(gradient, 1 - options.beta1);
    second[index]
        .mul_(options.beta2)
        .addcmul_(gradient, gradient, 1 - options.beta2);
    at::Tensor denominator =
        (second[index] / secondBias).sqrt_().add_(options.epsilon);
    // Decoupled decay, of matrices only.
    if (parameter.value.dim() > 1)
      parameter.value.mul_(1 - options.learningRate * options.weightDecay);
    parameter.value.addcdiv_(first[index], denominator,
                             -options.learningRate / firstBias);
  }
}

CwmStepResult Trainer::step(const CwmContrastiveBatch &batch,
                            const CwmStepOptions &options, int64_t step) {
  CwmStepResult result = {};
  encoder.setRequiresGradient(true);
  for (Parameter &parameter : encoder.getParameters())
    parameter.value.mutable_grad() = at::Tensor();
  at::Tensor loss = computeLoss(batch, options, options.dropout, result);
  // All processes see the same loss, so all of them stop here or none.
  if (!std::isfinite(result.loss))
    return result;
  if (loss.requires_grad())
    loss.backward();
  at::NoGradGuard noGradient;
  result.gradientNorm = gatherGradients();
  if (!std::isfinite(result.gradientNorm))
    return result;
  result.finite = 1;
  const bool clips =
      options.clipNorm > 0 && result.gradientNorm > options.clipNorm;
  update(options, step, clips ? options.clipNorm / result.gradientNorm : 1);
  return result;
}

CwmStepResult Trainer::evaluate(const CwmContrastiveBatch &batch,
                                const CwmStepOptions &options) {
  at::NoGradGuard noGradient;
  CwmStepResult result = {};
  computeLoss(batch, options, 0, result);
  result.finite = std::isfinite(result.loss);
  return result;
}

} // namespace cwm::torch_component
