//===- Adam.h - What all trainers have --------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_MODEL_TORCH_ADAM_H
#define CWM_LIB_MODEL_TORCH_ADAM_H

#include "cwm/Model/TorchTable.h"

#include <ATen/ATen.h>

#include <string>
#include <vector>

namespace cwm::torch_component {

/// A parameter under the name that it has in files.
struct Parameter {
  std::string name;
  at::Tensor value;
};

void setRequiresGradient(std::vector<Parameter> &parameters, bool required);

/// Adam with decoupled decay, on the sum of all processes' gradients.
class Adam {
public:
  /// `parameters` must outlive it.
  explicit Adam(std::vector<Parameter> &parameters);

  /// Parameters and moments, under their names in a checkpoint.
  std::vector<Parameter> getState();
  /// Forgets gradients, and asks for new ones.
  void start();
  /// The `step`-th update from 1, by the gradient of `loss`, this process's
  /// part of `result.loss`. Sets the rest of `result`; a loss or gradient that
  /// is not finite changes nothing.
  void finish(const at::Tensor &loss, const CwmAdamOptions &options,
              int64_t step, CwmStepResult &result);

private:
  /// Sums the gradients over all processes; their norm.
  double gatherGradients();
  void update(const CwmAdamOptions &options, int64_t step, double scale);

  std::vector<Parameter> &parameters;
  std::vector<at::Tensor> first, second;
};

} // namespace cwm::torch_component

#endif // CWM_LIB_MODEL_TORCH_ADAM_H
