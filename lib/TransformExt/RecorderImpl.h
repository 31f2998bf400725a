//===- RecorderImpl.h - State of one recording ------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRANSFORMEXT_RECORDERIMPL_H
#define CWM_LIB_TRANSFORMEXT_RECORDERIMPL_H

#include "cwm/Trajectory/ActionText.h"
#include "cwm/TransformExt/Recorder.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/StringMap.h"

#include <deque>

namespace cwm {

/// Access to what an op has just stored as its results, which TransformResults
/// shows to the interpreter only.
class ResultsView {
public:
  explicit ResultsView(mlir::transform::TransformResults &results)
      : results(results) {}
  bool isSet(unsigned index) const;
  llvm::ArrayRef<mlir::Operation *> getOps(unsigned index) const;
  llvm::ArrayRef<mlir::Attribute> getParams(unsigned index) const;
  llvm::ArrayRef<mlir::Value> getValues(unsigned index) const;

private:
  mlir::transform::TransformResults &results;
};

/// Listens to what one step does, in front of the interpreter's own listener.
class StepListener : public mlir::RewriterBase::ForwardingListener {
public:
  StepListener(mlir::OpBuilder::Listener *next, mlir::Operation *root)
      : ForwardingListener(next), root(root) {}

  void notifyOperationErased(mlir::Operation *op) override;
  void notifyPatternEnd(const mlir::Pattern &pattern,
                        mlir::LogicalResult status) override;

  /// Set when the op that states are taken of is gone.
  bool isRootErased = false;
  std::map<std::string, unsigned> patterns;

private:
  mlir::Operation *root;
};

struct Recorder::Impl {
  Impl(mlir::MLIRContext *context, RecorderOptions options);

  /// One step that has begun and not ended.
  struct Active {
    unsigned step = 0;
    mlir::Operation *op = nullptr;
    /// The call that `op` belongs to.
    const CallFrame *frame = nullptr;
    /// The op whose state the step changes.
    mlir::Operation *root = nullptr;
    /// Runs of the body so far, for `iteration` of the children.
    std::optional<unsigned> runs;
    /// foreach_match: the matcher that ran last, the current pair, and the
    /// pairs that ran.
    mlir::Operation *matcher = nullptr;
    unsigned pair = 0;
    llvm::SmallDenseSet<unsigned> pairsRun;
  };

  void begin(mlir::Operation *op, mlir::transform::TransformState &state);
  void end(const mlir::DiagnosedSilenceableFailure &result,
           mlir::transform::TransformResults &results, StepListener &listener);

  void placeInParent(mlir::Operation *op, Step &step);
  void placeInMatch(mlir::Operation *op, Active &parent, Step &step);
  void findRoot(mlir::Operation *op, mlir::transform::TransformState &state);
  unsigned getState(mlir::Operation *root, bool detached);
  void addSkippedSteps(const Active &active);
  void addSkippedBody(const Active &active, mlir::Block &body,
                      const CallFrame *frame, unsigned pair);
  void verifyState(mlir::Operation *op, mlir::Operation *root, Step &step);
  void noteDiagnostic(mlir::Diagnostic &diagnostic);

  mlir::MLIRContext *context;
  const RecorderOptions options;
  Trajectory trajectory;
  std::vector<Active> active;
  std::deque<CallFrame> frames;
  ActionDescriber describer;

  /// The state of the whole payload, by a fingerprint that tells cheaply
  /// whether it may have changed.
  mlir::Operation *topLevel = nullptr;
  std::optional<mlir::OperationFingerPrint> topFingerPrint;
  unsigned topState = 0;
  /// RecorderOptions::endsStates was true.
  bool statesEnded = false;
  llvm::StringMap<unsigned> stateNumbers;

  Impl *previous = nullptr;
  bool isInstalled = false;
  /// While set, diagnostics go here and nowhere else.
  std::string *swallowed = nullptr;
  mlir::ScopedDiagnosticHandler diagnostics;
};

} // namespace cwm

#endif // CWM_LIB_TRANSFORMEXT_RECORDERIMPL_H
