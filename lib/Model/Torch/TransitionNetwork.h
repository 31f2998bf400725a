//===- TransitionNetwork.h - The transition F in libtorch -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_MODEL_TORCH_TRANSITIONNETWORK_H
#define CWM_LIB_MODEL_TORCH_TRANSITIONNETWORK_H

#include "Adam.h"

namespace cwm::torch_component {

/// The formula and the names of docs/Model.md.
class TransitionNetwork {
public:
  TransitionNetwork(const CwmTransitionShape &shape, uint64_t seed);

  const CwmTransitionShape &getShape() const { return shape; }
  std::vector<Parameter> &getParameters() { return parameters; }

  /// The predicted states, rows x steps x dim; behind the end the last one.
  at::Tensor rollOut(const CwmRolloutBatch &batch) const;

private:
  at::Tensor add(std::string name, at::IntArrayRef sizes, double deviation);

  CwmTransitionShape shape;
  std::vector<Parameter> parameters;
  at::Generator generator;
  at::Tensor action, normal, translation;
  /// Undefined where there is no residual network.
  at::Tensor inWeight, inBias, outWeight, outBias;
};

/// The loss of roll-outs, and Adam.
class TransitionTrainer {
public:
  explicit TransitionTrainer(TransitionNetwork &network)
      : network(network), adam(network.getParameters()) {}

  CwmStepResult step(const CwmRolloutBatch &batch,
                     const CwmRolloutOptions &options, int64_t step);
  CwmStepResult evaluate(const CwmRolloutBatch &batch,
                         const CwmRolloutOptions &options);
  Adam &getAdam() { return adam; }

private:
  /// This process's part of the loss; `result` is that of all.
  at::Tensor computeLoss(const CwmRolloutBatch &batch,
                         const CwmRolloutOptions &options,
                         CwmStepResult &result);

  TransitionNetwork &network;
  Adam adam;
};

} // namespace cwm::torch_component

#endif // CWM_LIB_MODEL_TORCH_TRANSITIONNETWORK_H
