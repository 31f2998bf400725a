//===- ApplySketch.cpp - One candidate of a sketch on a payload -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"
#include "cwm/Sketches/Sketches.h"

#include "ApplyScript.h"

#include "mlir/IR/Diagnostics.h"

namespace cwm {
#define GEN_PASS_DEF_APPLYSKETCH
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;
using namespace cwm;

namespace {
struct ApplySketch : cwm::impl::ApplySketchBase<ApplySketch> {
  using ApplySketchBase::ApplySketchBase;

  /// Sketches are parsed and interpreted later, when none may be loaded.
  LogicalResult initialize(MLIRContext *context) override {
    context->loadAllAvailableDialects();
    return success();
  }

  void runOnOperation() override {
    if (failed(apply()))
      signalPassFailure();
  }

  FailureOr<const Space *> findSpace(ArrayRef<std::unique_ptr<Space>> spaces) {
    std::string known;
    for (const std::unique_ptr<Space> &space : spaces) {
      if (sketch.empty() || space->getName() == sketch)
        return space.get();
      known += (known.empty() ? "" : ", ") + space->getName().str();
    }
    return getOperation().emitError()
           << "sketch '" << sketch << "' does not fit this payload; those that "
           << "fit: " << known;
  }

  LogicalResult apply() {
    ModuleOp module = getOperation();
    FailureOr<std::vector<std::unique_ptr<Space>>> spaces =
        buildSpacesOf(module, hardware, threads);
    if (failed(spaces))
      return failure();
    FailureOr<const Space *> space = findSpace(*spaces);
    if (failed(space))
      return failure();
    std::string message;
    std::optional<Assignment> candidate =
        assignment.empty() ? (*space)->getDefault(&message)
                           : (*space)->parseAssignment(assignment, message);
    if (!candidate || !(*space)->satisfies(*candidate, &message))
      return module.emitError() << message;
    FailureOr<OwningOpRef<ModuleOp>> bound = (*space)->bind(*candidate);
    if (failed(bound))
      return failure();
    if (!script)
      return applyScript(module, **bound);
    replaceByScript(module, **bound);
    return success();
  }
};
} // namespace
