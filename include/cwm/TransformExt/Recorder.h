//===- Recorder.h - Records what the transform interpreter does -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRANSFORMEXT_RECORDER_H
#define CWM_TRANSFORMEXT_RECORDER_H

#include "cwm/Trajectory/Trajectory.h"

#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"

#include <functional>
#include <memory>

namespace cwm {

struct RecorderOptions {
  /// What is kept of a state besides its hash.
  enum class States { Hash, Text, Payload };
  States states = States::Text;
  /// Verify the payload behind each step that changed it, and say so in the
  /// step when it is invalid. Costs about as much as the state text.
  bool verifySteps = false;
  /// Asked with the text of each action before it is applied: from the first
  /// one on for which it is true, the payload is not looked at any more. Text
  /// of a function that was lowered to vectors takes longer than the lowering.
  std::function<bool(llvm::StringRef)> endsStates;
};

/// Records the transform ops that the stock interpreter applies on this thread
/// while the object lives, nested ones included; the interpreter and its
/// results stay as they are.
///
/// The interpreter has no hook for this. But each path through it applies an
/// op by way of the op's TransformOpInterface concept, a table of function
/// pointers that the MLIRContext owns for each op; the recorder puts itself in
/// that table. Hence:
/// - Construct recorders before other threads use the context, best right
///   after the dialects are loaded: installation writes to shared tables.
///   Different contexts are independent.
/// - Ops that are loaded later are not recorded.
/// - The interpreter must run with expensive checks enabled, its default:
///   they keep the recorder from looking at erased payload ops.
class Recorder {
public:
  explicit Recorder(mlir::MLIRContext *context, RecorderOptions options = {});
  ~Recorder();
  Recorder(const Recorder &) = delete;
  Recorder &operator=(const Recorder &) = delete;

  /// Ends the recording and hands it over. `result` is how the run ended.
  Trajectory finish(mlir::LogicalResult result);

  /// Puts the hook into the tables of all transform ops that `context` knows;
  /// returns how many had none. Constructing a recorder does this.
  static unsigned install(mlir::MLIRContext *context);

private:
  friend struct RecorderHook;
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Applies the named sequence `entry` to `payload` as the stock interpreter
/// pass does and records it. `library` (may be null) holds sequences that
/// `entry` declares. Returns the interpreter's result; `trajectory` is filled
/// in either case.
mlir::LogicalResult
recordNamedSequence(mlir::Operation *payload,
                    mlir::transform::TransformOpInterface entry,
                    mlir::ModuleOp library, const RecorderOptions &options,
                    Trajectory &trajectory);

} // namespace cwm

#endif // CWM_TRANSFORMEXT_RECORDER_H
