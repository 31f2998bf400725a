//===- RecorderHook.cpp - Where the recorder meets MLIR ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that depends on the innards of one MLIR version is here.
//
//===----------------------------------------------------------------------===//

#include "RecorderImpl.h"

#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Config/llvm-config.h"

#include <mutex>
#include <shared_mutex>

using namespace mlir;
using namespace cwm;

#if LLVM_VERSION_MAJOR != 22
#error "the recorder depends on the layout of TransformOpInterface in MLIR 22"
#endif

using Concept = transform::TransformOpInterface::Concept;
using ApplyFunction = decltype(Concept::apply);

static_assert(
    std::is_same_v<ApplyFunction, DiagnosedSilenceableFailure (*)(
                                      const Concept *, Operation *,
                                      transform::TransformRewriter &,
                                      transform::TransformResults &,
                                      transform::TransformState &)>,
    "the recorder does not know this signature of TransformOpInterface::apply");

//===----------------------------------------------------------------------===//
// ResultsView
//===----------------------------------------------------------------------===//

// An explicit instantiation may name private members ([temp.spec.general]); the
// friend that it defines hands the pointer on.
namespace {
template <typename Tag, typename Tag::Member member> struct Expose {
  // A friend has no linkage of its own to restrict.
  // NOLINTNEXTLINE(llvm-prefer-static-over-anonymous-namespace)
  friend typename Tag::Member getMember(Tag) { return member; }
};
struct IsSetTag {
  using Member = bool (transform::TransformResults::*)(unsigned) const;
  friend Member getMember(IsSetTag);
};
struct OpsTag {
  using Member =
      ArrayRef<Operation *> (transform::TransformResults::*)(unsigned) const;
  friend Member getMember(OpsTag);
};
struct ParamsTag {
  using Member = ArrayRef<transform::Param> (transform::TransformResults::*)(
      unsigned) const;
  friend Member getMember(ParamsTag);
};
struct ValuesTag {
  using Member =
      ArrayRef<Value> (transform::TransformResults::*)(unsigned) const;
  friend Member getMember(ValuesTag);
};
template struct Expose<IsSetTag, &transform::TransformResults::isSet>;
template struct Expose<OpsTag, &transform::TransformResults::get>;
template struct Expose<ParamsTag, &transform::TransformResults::getParams>;
template struct Expose<ValuesTag, &transform::TransformResults::getValues>;
} // namespace

bool ResultsView::isSet(unsigned index) const {
  return (results.*getMember(IsSetTag()))(index);
}
ArrayRef<Operation *> ResultsView::getOps(unsigned index) const {
  return (results.*getMember(OpsTag()))(index);
}
ArrayRef<Attribute> ResultsView::getParams(unsigned index) const {
  return (results.*getMember(ParamsTag()))(index);
}
ArrayRef<Value> ResultsView::getValues(unsigned index) const {
  return (results.*getMember(ValuesTag()))(index);
}

//===----------------------------------------------------------------------===//
// Installation
//===----------------------------------------------------------------------===//

namespace {
/// The functions that the hook stands in for, by the table they came from.
struct Originals {
  std::shared_mutex mutex;
  llvm::DenseMap<const Concept *, ApplyFunction> functions;
};
} // namespace

static Originals &getOriginals() {
  static Originals originals;
  return originals;
}

namespace cwm {
/// The friend of Recorder through which its parts see each other.
struct RecorderHook {
  /// The recording of this thread.
  static thread_local Recorder::Impl *current;

  static DiagnosedSilenceableFailure
  apply(const Concept *table, Operation *op,
        transform::TransformRewriter &rewriter,
        transform::TransformResults &results, transform::TransformState &state);
};
} // namespace cwm

thread_local Recorder::Impl *RecorderHook::current = nullptr;

DiagnosedSilenceableFailure RecorderHook::apply(
    const Concept *table, Operation *op, transform::TransformRewriter &rewriter,
    transform::TransformResults &results, transform::TransformState &state) {
  ApplyFunction original;
  {
    std::shared_lock<std::shared_mutex> lock(getOriginals().mutex);
    original = getOriginals().functions.lookup(table);
  }
  Recorder::Impl *recording = current;
  if (!recording)
    return original(table, op, rewriter, results, state);

  recording->begin(op, state);
  OpBuilder::Listener *inner = rewriter.getListener();
  StepListener listener(inner, recording->active.back().root);
  rewriter.setListener(&listener);
  DiagnosedSilenceableFailure result =
      original(table, op, rewriter, results, state);
  rewriter.setListener(inner);
  recording->end(result, results, listener);
  return result;
}

unsigned Recorder::install(MLIRContext *context) {
  Originals &originals = getOriginals();
  std::unique_lock<std::shared_mutex> lock(originals.mutex);
  unsigned numInstalled = 0;
  for (RegisteredOperationName name : context->getRegisteredOperations()) {
    Concept *table = name.getInterface<transform::TransformOpInterface>();
    if (!table || table->apply == &RecorderHook::apply)
      continue;
    originals.functions[table] = table->apply;
    table->apply = &RecorderHook::apply;
    ++numInstalled;
  }
  return numInstalled;
}

//===----------------------------------------------------------------------===//
// Recorder
//===----------------------------------------------------------------------===//

Recorder::Recorder(MLIRContext *context, RecorderOptions options)
    : impl(std::make_unique<Impl>(context, options)) {
  install(context);
  impl->previous = RecorderHook::current;
  impl->isInstalled = true;
  RecorderHook::current = impl.get();
}

Recorder::~Recorder() {
  if (impl->isInstalled)
    RecorderHook::current = impl->previous;
}

Trajectory Recorder::finish(LogicalResult result) {
  assert(impl->isInstalled && impl->active.empty() &&
         "expected a recording between steps");
  RecorderHook::current = impl->previous;
  impl->isInstalled = false;
  Trajectory trajectory = std::move(impl->trajectory);
  if (failed(result)) {
    // A failure outside of any step was found by the interpreter itself.
    trajectory.status = StepStatus::Definite;
    if (!trajectory.steps.empty() &&
        trajectory.steps.front().status == StepStatus::Silenceable)
      trajectory.status = StepStatus::Silenceable;
  }
  trajectory.computeHistory();
  return trajectory;
}

LogicalResult cwm::recordNamedSequence(Operation *payload,
                                       transform::TransformOpInterface entry,
                                       ModuleOp library,
                                       const RecorderOptions &options,
                                       Trajectory &trajectory) {
  Recorder recorder(payload->getContext(), options);
  LogicalResult result = transform::applyTransformNamedSequence(
      payload, entry, library,
      transform::TransformOptions().enableExpensiveChecks(true));
  trajectory = recorder.finish(result);
  return result;
}
