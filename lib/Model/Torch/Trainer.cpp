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

#include <cmath>

namespace cwm::torch_component {

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

CwmStepResult Trainer::step(const CwmContrastiveBatch &batch,
                            const CwmStepOptions &options, int64_t step) {
  CwmStepResult result = {};
  adam.start();
  at::Tensor loss = computeLoss(batch, options, options.dropout, result);
  adam.finish(loss, options.adam, step, result);
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
