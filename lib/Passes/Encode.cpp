//===- Encode.cpp - The latent state of a payload ---------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelInput.h"

#include "cwm/Model/Encoder.h"
#include "cwm/Passes/Passes.h"
#include "cwm/Trajectory/StateText.h"

#include "mlir/IR/Builders.h"

namespace cwm {
#define GEN_PASS_DEF_ENCODE
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

namespace {
struct Encode : cwm::impl::EncodeBase<Encode> {
  using EncodeBase::EncodeBase;

  void runOnOperation() override {
    if (failed(encode()))
      signalPassFailure();
  }

  LogicalResult encode() {
    ModuleOp module = getOperation();
    std::string state = cwm::getStateText(module);
    FailureOr<cwm::ModelDirectory> directory =
        cwm::loadModelDirectory(module, model);
    if (failed(directory))
      return failure();
    llvm::Expected<std::unique_ptr<cwm::Encoder>> encoder =
        cwm::loadEncoder(*directory);
    if (!encoder)
      return emitError(module.getLoc()) << toString(encoder.takeError());
    llvm::Expected<std::vector<float>> latent = (*encoder)->encode({state});
    if (!latent)
      return emitError(module.getLoc()) << toString(latent.takeError());
    Builder builder(&getContext());
    module->setAttr("cwm.state", builder.getStringAttr(cwm::hashText(state)));
    module->setAttr("cwm.latent", builder.getDenseF32ArrayAttr(*latent));
    if (text)
      module->setAttr("cwm.text", builder.getStringAttr(state));
    return success();
  }
};
} // namespace
