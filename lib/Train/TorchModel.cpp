//===- TorchModel.cpp - Training in the torch component ------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/EncoderTraining.h"

using namespace llvm;

namespace cwm {

namespace {
class TorchModel : public ContrastiveModel {
public:
  TorchModel(TorchEncoder &encoder, CwmTrainer *trainer)
      : encoder(encoder), library(encoder.getLibrary()), trainer(trainer) {}
  ~TorchModel() override { library->destroyTrainer(trainer); }
  TorchModel(const TorchModel &) = delete;
  TorchModel &operator=(const TorchModel &) = delete;

  Expected<CwmStepResult> step(ContrastiveViews &views,
                               const CwmStepOptions &options,
                               int64_t step) override {
    CwmContrastiveBatch batch = views.get();
    CwmStepResult result = {};
    if (Error error = library.check(
            library->step(trainer, &batch, &options, step, &result),
            "step " + Twine(step)))
      return error;
    return result;
  }

  Expected<CwmStepResult> evaluate(ContrastiveViews &views,
                                   const CwmStepOptions &options) override {
    CwmContrastiveBatch batch = views.get();
    CwmStepResult result = {};
    if (Error error =
            library.check(library->evaluate(trainer, &batch, &options, &result),
                          "evaluation"))
      return error;
    return result;
  }

  Error visit(bool all,
              function_ref<void(const CwmTensor &)> visitor) override {
    return visitTensors(
        library,
        [&](CwmTensorVisitor visit, void *context) {
          return all ? library->visitState(trainer, visit, context)
                     : library->visitParameters(encoder.getHandle(), visit,
                                                context);
        },
        visitor);
  }

  Error sum(MutableArrayRef<double> values) override {
    return library.check(
        library->sumOverGroup(values.data(),
                              static_cast<int64_t>(values.size())),
        "cannot reach the other processes");
  }

private:
  TorchEncoder &encoder;
  const TorchLibrary &library;
  CwmTrainer *trainer;
};
} // namespace

Expected<std::unique_ptr<ContrastiveModel>>
makeTorchModel(TorchEncoder &encoder) {
  const TorchLibrary &library = encoder.getLibrary();
  CwmTrainer *trainer = nullptr;
  if (Error error =
          library.check(library->createTrainer(encoder.getHandle(), &trainer),
                        "cannot train the encoder"))
    return error;
  return std::make_unique<TorchModel>(encoder, trainer);
}

} // namespace cwm
