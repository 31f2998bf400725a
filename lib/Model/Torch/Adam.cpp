//===- Adam.cpp - What all trainers have ------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Adam.h"

#include "Group.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Enumerate.h>

#include <cmath>

namespace cwm::torch_component {

void setRequiresGradient(std::vector<Parameter> &parameters, bool required) {
  for (Parameter &parameter : parameters)
    parameter.value.set_requires_grad(required);
}

Adam::Adam(std::vector<Parameter> &parameters) : parameters(parameters) {
  for (Parameter &parameter : parameters) {
    first.push_back(at::zeros_like(parameter.value));
    second.push_back(at::zeros_like(parameter.value));
  }
}

std::vector<Parameter> Adam::getState() {
  std::vector<Parameter> state = parameters;
  for (auto [index, parameter] : c10::enumerate(parameters)) {
    state.push_back({"adam.first." + parameter.name, first[index]});
    state.push_back({"adam.second." + parameter.name, second[index]});
  }
  return state;
}

void Adam::start() {
  setRequiresGradient(parameters, true);
  for (Parameter &parameter : parameters)
    parameter.value.mutable_grad() = at::Tensor();
}

double Adam::gatherGradients() {
  std::vector<at::Tensor> gradients;
  for (Parameter &parameter : parameters) {
    at::Tensor &gradient = parameter.value.mutable_grad();
    if (!gradient.defined()) // nothing in the batch depends on it
      gradient = at::zeros_like(parameter.value);
    gradients.push_back(gradient.reshape({-1}));
  }
  at::Tensor flat = at::cat(gradients);
  if (Group *group = Group::getCurrent().get()) {
    group->sum(flat);
    int64_t begin = 0;
    for (Parameter &parameter : parameters) {
      const int64_t size = parameter.value.numel();
      parameter.value.mutable_grad().copy_(
          flat.slice(0, begin, begin + size).view_as(parameter.value));
      begin += size;
    }
  }
  return flat.to(at::kDouble).norm().item<double>();
}

void Adam::update(const CwmAdamOptions &options, int64_t step, double scale) {
  const auto count = static_cast<double>(step);
  const double firstBias = 1 - std::pow(options.beta1, count);
  const double secondBias = 1 - std::pow(options.beta2, count);
  for (auto [index, parameter] : c10::enumerate(parameters)) {
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

void Adam::finish(const at::Tensor &loss, const CwmAdamOptions &options,
                  int64_t step, CwmStepResult &result) {
  // All processes see the same loss, so all of them stop here or none.
  if (!std::isfinite(result.loss))
    return;
  if (loss.requires_grad())
    loss.backward();
  at::NoGradGuard noGradient;
  result.gradientNorm = gatherGradients();
  if (!std::isfinite(result.gradientNorm))
    return;
  result.finite = 1;
  const bool clips =
      options.clipNorm > 0 && result.gradientNorm > options.clipNorm;
  update(options, step, clips ? options.clipNorm / result.gradientNorm : 1);
}

} // namespace cwm::torch_component
