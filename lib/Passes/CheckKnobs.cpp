//===- CheckKnobs.cpp - Report options that change nothing ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Space/CheckKnobs.h"
#include "cwm/Passes/Passes.h"
#include "cwm/Sketches/Sketches.h"
#include "cwm/Support/ErrorCapture.h"
#include "cwm/Support/ParseModule.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

namespace cwm {
#define GEN_PASS_DEF_CHECKKNOBS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;
using namespace cwm;

/// Interprets `script` on a clone of `payload`, in this process.
static ScriptOutcome interpret(ModuleOp payload, ModuleOp script) {
  ScriptOutcome outcome;
  // A failing option is a finding, not an error of this run.
  ErrorCapture errors(payload.getContext());
  OwningOpRef<ModuleOp> clone(cast<ModuleOp>(payload->clone()));
  Operation *entry = transform::detail::findTransformEntryPoint(
      script, ModuleOp(),
      transform::TransformDialect::kTransformEntryPointSymbolName);
  if (!entry ||
      failed(transform::applyTransformNamedSequence(
          *clone, entry, ModuleOp(), transform::TransformOptions())) ||
      failed(verify(*clone))) {
    outcome.message = errors.getMessage().str();
    return outcome;
  }
  llvm::raw_string_ostream(outcome.fingerprint) << *clone;
  return outcome;
}

namespace {
struct CheckKnobs : cwm::impl::CheckKnobsBase<CheckKnobs> {
  using CheckKnobsBase::CheckKnobsBase;

  /// Files are read here: parsing may load dialects, which a running pass
  /// must not. Sketches are read later, when none may be loaded any more.
  LogicalResult initialize(MLIRContext *context) override {
    if (schedule.empty()) {
      context->loadAllAvailableDialects();
      return success();
    }
    OwningOpRef<ModuleOp> module = parseModuleFile(schedule, context);
    if (!module)
      return failure();
    FailureOr<std::unique_ptr<Space>> result =
        Space::create(std::move(module), "schedule");
    if (failed(result))
      return failure();
    spaces.emplace_back(std::move(*result));
    return success();
  }

  /// The sketches that fit, unless a schedule was given.
  LogicalResult findSpaces() {
    if (!schedule.empty())
      return success();
    FailureOr<std::vector<std::unique_ptr<Space>>> found =
        buildSpacesOf(getOperation(), hardware, threads);
    if (failed(found))
      return failure();
    spaces.assign(std::make_move_iterator(found->begin()),
                  std::make_move_iterator(found->end()));
    return success();
  }

  void runOnOperation() override {
    ModuleOp payload = getOperation();
    if (failed(findSpaces()))
      return signalPassFailure();
    uint64_t numOptions = 0, numClean = 0, numKnobs = 0;
    for (const std::shared_ptr<Space> &space : spaces) {
      std::string why;
      if (!space->getDefault(&why)) {
        payload.emitError() << why;
        return signalPassFailure();
      }
      std::vector<KnobReport> reports = checkKnobs(
          *space, [&](ModuleOp script) { return interpret(payload, script); },
          maxOptions);
      numKnobs += reports.size();
      for (const KnobReport &report : reports) {
        emitWarnings(*space, report);
        numOptions += report.numLookedAt;
        numClean += report.isClean();
      }
    }
    llvm::outs() << "looked at " << numOptions << " options of " << numKnobs
                 << " knobs: each option of " << numClean
                 << " of the knobs leads to an IR of its own\n";
    markAllAnalysesPreserved();
  }

  /// Shared with clones of the pass.
  std::vector<std::shared_ptr<Space>> spaces;
};
} // namespace
