//===- RecordSchedule.cpp - Record what a schedule does ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "cwm/TransformExt/Recorder.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ToolOutputFile.h"

namespace cwm {
#define GEN_PASS_DEF_RECORDSCHEDULE
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

namespace {
class RecordSchedule : public cwm::impl::RecordScheduleBase<RecordSchedule> {
public:
  using RecordScheduleBase::RecordScheduleBase;

  /// Parsing may load dialects, which is allowed here and not while running.
  LogicalResult initialize(MLIRContext *context) override {
    if (states == cwm::RecorderOptions::States::Payload &&
        getFormat() != cwm::TrajectoryFormat::MLIR)
      return emitError(UnknownLoc::get(context))
             << "states=payload needs format=mlir: JSON Lines hold text only";
    if (schedule.empty())
      return success();
    scheduleModule = std::make_shared<OwningOpRef<ModuleOp>>();
    return transform::detail::parseTransformModuleFromFile(context, schedule,
                                                           *scheduleModule);
  }

  void runOnOperation() override;

private:
  cwm::TrajectoryFormat getFormat() const {
    if (format != cwm::TrajectoryFormat::Auto)
      return format;
    return StringRef(output).ends_with(".mlir")
               ? cwm::TrajectoryFormat::MLIR
               : cwm::TrajectoryFormat::JSONLines;
  }
  LogicalResult write(cwm::Trajectory &trajectory);

  /// Shared by the copies that a pass manager makes of the pass.
  std::shared_ptr<OwningOpRef<ModuleOp>> scheduleModule;
};
} // namespace

void RecordSchedule::runOnOperation() {
  // As the interpreter pass does: the payload's own sequence first.
  MLIRContext *context = &getContext();
  Operation *payload = getOperation();
  ModuleOp library =
      scheduleModule ? ModuleOp()
                     : transform::detail::getPreloadedTransformModule(context);
  transform::TransformOpInterface entry =
      transform::detail::findTransformEntryPoint(
          scheduleModule ? scheduleModule->get().getOperation() : payload,
          library, entryPoint);
  if (!entry)
    return signalPassFailure();
  cwm::RecorderOptions options;
  options.states = states;
  options.verifySteps = verifySteps;
  cwm::Trajectory trajectory;
  LogicalResult result =
      cwm::recordNamedSequence(payload, entry, library, options, trajectory);
  for (const cwm::Step &step : trajectory.steps)
    if (!step.invalid.empty())
      emitWarning(entry.getLoc())
          << "the payload is invalid behind '" << step.name << "' ("
          << step.location << "): " << step.invalid;
  if (failed(write(trajectory)) || failed(result))
    signalPassFailure();
}

LogicalResult RecordSchedule::write(cwm::Trajectory &trajectory) {
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &message);
  if (!file)
    return getOperation()->emitError()
           << "cannot write the trajectory: " << message;
  cwm::TrajectoryWriterOptions options;
  options.steps = steps;
  options.spaceName = space;
  if (getFormat() == cwm::TrajectoryFormat::MLIR) {
    OwningOpRef<cwm::TrajectoryOp> op =
        cwm::buildTrajectoryOp(trajectory, options, &getContext());
    op->print(file->os());
    file->os() << '\n';
  } else {
    cwm::writeJSONLines(trajectory, options, file->os());
  }
  file->os().flush();
  if (std::error_code error = file->os().error()) {
    file->os().clear_error();
    return getOperation()->emitError()
           << "cannot write '" << output << "': " << error.message();
  }
  file->keep();
  return success();
}
