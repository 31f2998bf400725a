//===- Trainer.h - Contrastive training of the encoder -------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_MODEL_TORCH_TRAINER_H
#define CWM_LIB_MODEL_TORCH_TRAINER_H

#include "Adam.h"
#include "Roberta.h"

namespace cwm::torch_component {

/// InfoNCE over all views of a batch, and Adam.
class Trainer {
public:
  explicit Trainer(Roberta &encoder)
      : encoder(encoder), adam(encoder.getParameters()) {}

  CwmStepResult step(const CwmContrastiveBatch &batch,
                     const CwmStepOptions &options, int64_t step);
  CwmStepResult evaluate(const CwmContrastiveBatch &batch,
                         const CwmStepOptions &options);
  Adam &getAdam() { return adam; }

private:
  /// The loss of all processes' views; its gradient reaches the views of this
  /// process.
  at::Tensor computeLoss(const CwmContrastiveBatch &batch,
                         const CwmStepOptions &options, double dropout,
                         CwmStepResult &result);

  Roberta &encoder;
  Adam adam;
};

} // namespace cwm::torch_component

#endif // CWM_LIB_MODEL_TORCH_TRAINER_H
