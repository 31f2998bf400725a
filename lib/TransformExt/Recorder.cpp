//===- Recorder.cpp - Records what the transform interpreter does ---------===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecorderImpl.h"

#include "cwm/Trajectory/StateText.h"

#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/MatchInterfaces.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace cwm;

//===----------------------------------------------------------------------===//
// StepListener
//===----------------------------------------------------------------------===//

void StepListener::notifyOperationErased(Operation *op) {
  isRootErased |= op == root;
  ForwardingListener::notifyOperationErased(op);
}

void StepListener::notifyPatternEnd(const Pattern &pattern,
                                    LogicalResult status) {
  if (succeeded(status)) {
    StringRef name = pattern.getDebugName();
    ++patterns[name.empty() ? "(unnamed)" : name.str()];
  }
  ForwardingListener::notifyPatternEnd(pattern, status);
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// Items are counted by text, in the order of first appearance, up to this many
/// different ones.
static constexpr unsigned maxItems = 8;

static std::string countItems(ArrayRef<std::string> items) {
  llvm::MapVector<StringRef, unsigned> counts;
  for (const std::string &item : items)
    ++counts[item];
  std::string text;
  llvm::raw_string_ostream os(text);
  unsigned numWritten = 0;
  for (auto &[item, count] : counts) {
    if (numWritten == maxItems) {
      os << ", ...";
      break;
    }
    os << (numWritten++ ? ", " : "");
    if (count > 1)
      os << count << " x ";
    os << item;
  }
  return items.empty() ? "(empty)" : text;
}

template <typename T> static std::string toText(T printable) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printable.print(os);
  return text;
}

static std::string describeOps(ArrayRef<Operation *> ops) {
  SmallVector<std::string> items;
  for (Operation *op : ops)
    items.push_back(op ? op->getName().getStringRef().str() : "(erased)");
  return countItems(items);
}

static std::string describeParams(ArrayRef<Attribute> params) {
  SmallVector<std::string> items;
  for (Attribute param : params) {
    std::string text = toText(param);
    // A parameter may be a whole constant; nobody reads that.
    constexpr size_t maxLength = 256;
    items.push_back(text.size() <= maxLength
                        ? text
                        : "hash " + hashText(text).substr(0, 16));
  }
  return countItems(items);
}

static std::string describeValues(ArrayRef<Value> values) {
  SmallVector<std::string> items;
  for (Value value : values)
    items.push_back("value of " + toText(value.getType()));
  return countItems(items);
}

static std::string describeOperand(Value operand,
                                   transform::TransformState &state) {
  Type type = operand.getType();
  if (isa<transform::TransformParamTypeInterface>(type))
    return describeParams(state.getParams(operand));
  if (isa<transform::TransformValueHandleTypeInterface>(type))
    return describeValues(llvm::to_vector(state.getPayloadValues(operand)));
  return describeOps(llvm::to_vector(state.getPayloadOps(operand)));
}

static std::string describeResult(OpResult result, ResultsView results) {
  unsigned index = result.getResultNumber();
  Type type = result.getType();
  if (!results.isSet(index))
    return "(unset)";
  if (isa<transform::TransformParamTypeInterface>(type))
    return describeParams(results.getParams(index));
  if (isa<transform::TransformValueHandleTypeInterface>(type))
    return describeValues(results.getValues(index));
  return describeOps(results.getOps(index));
}

static std::string describeLocation(Location loc) {
  auto file = loc->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  return (llvm::sys::path::filename(file.getFilename()) + ":" +
          Twine(file.getLine()) + ":" + Twine(file.getColumn()))
      .str();
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

Recorder::Impl::Impl(MLIRContext *context, RecorderOptions options)
    : context(context), options(options),
      diagnostics(context, [this](Diagnostic &diagnostic) {
        if (swallowed) {
          if (swallowed->empty())
            *swallowed = diagnostic.str();
          return success();
        }
        // Take note and let the handlers that were there first have it.
        noteDiagnostic(diagnostic);
        return failure();
      }) {}

void Recorder::Impl::noteDiagnostic(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return;
  std::string &message = active.empty()
                             ? trajectory.message
                             : trajectory.steps[active.back().step].message;
  if (!message.empty())
    message += '\n';
  message += diagnostic.str();
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

unsigned Recorder::Impl::getState(Operation *root, bool detached) {
  std::optional<OperationFingerPrint> fingerPrint;
  if (!detached) {
    fingerPrint.emplace(root);
    if (topFingerPrint && *topFingerPrint == *fingerPrint)
      return topState;
  }
  std::string text = getStateText(root);
  std::string hash = hashText(text);
  // The same text means something else of a part than of the whole.
  auto [it, isNew] = stateNumbers.try_emplace((detached ? "d" : "") + hash,
                                              trajectory.states.size());
  if (isNew) {
    State &state = trajectory.states.emplace_back();
    state.hash = std::move(hash);
    state.detached = detached;
    if (options.states == RecorderOptions::States::Text)
      state.text = std::move(text);
    if (options.states == RecorderOptions::States::Payload)
      state.payload = root->clone();
  }
  if (!detached) {
    topFingerPrint = fingerPrint;
    topState = it->second;
  }
  return it->second;
}

void Recorder::Impl::findRoot(Operation *op, transform::TransformState &state) {
  Active &self = active.back();
  // What transform.alternatives hands to its regions are clones outside of the
  // payload: then the step's state is that of the clone.
  self.root =
      active.size() > 1 ? active[active.size() - 2].root : state.getTopLevel();
  for (Value operand : op->getOperands()) {
    if (!isa<transform::TransformHandleTypeInterface>(operand.getType()))
      continue;
    for (Operation *target : state.getPayloadOps(operand)) {
      if (topLevel->isAncestor(target) || target->isAncestor(topLevel)) {
        self.root = topLevel;
        return;
      }
      while (Operation *parent = target->getParentOp())
        target = parent;
      self.root = target;
      return;
    }
  }
}

void Recorder::Impl::verifyState(Operation *op, Operation *root, Step &step) {
  std::string message;
  swallowed = &message;
  LogicalResult result = verify(root);
  swallowed = nullptr;
  if (failed(result))
    step.invalid = message.empty() ? "payload does not verify" : message;
}

//===----------------------------------------------------------------------===//
// Place in the run
//===----------------------------------------------------------------------===//

/// The sequence that `op` stands in.
static Operation *getSequence(Operation *op) {
  return op->getParentOfType<transform::NamedSequenceOp>();
}

/// The ops of a body run in order, so its first op means another run.
static bool isFirstInBlock(Operation *op) {
  return op == &op->getBlock()->front();
}

void Recorder::Impl::placeInMatch(Operation *op, Active &parent, Step &step) {
  auto match = cast<transform::ForeachMatchOp>(parent.op);
  Operation *sequence = getSequence(op);
  if (step.kind == StepKind::Match)
    parent.matcher = sequence;
  auto isPair = [&](unsigned pair, bool checkMatcher) {
    auto matcher = cast<SymbolRefAttr>(match.getMatchers()[pair]);
    auto action = cast<SymbolRefAttr>(match.getActions()[pair]);
    if (step.kind == StepKind::Match)
      return describer.lookup(match, matcher) == sequence;
    return describer.lookup(match, action) == sequence &&
           (!checkMatcher || !parent.matcher ||
            describer.lookup(match, matcher) == parent.matcher);
  };
  if (step.kind == StepKind::Match || isFirstInBlock(op)) {
    // One action may stand in several pairs: the matcher that ran last tells
    // which, unless it consists of no op at all.
    auto pairs = llvm::seq<unsigned>(0, match.getActions().size());
    auto it = llvm::find_if(pairs, [&](unsigned i) { return isPair(i, true); });
    if (it == pairs.end())
      it = llvm::find_if(pairs, [&](unsigned i) { return isPair(i, false); });
    parent.pair = it == pairs.end() ? 0 : *it;
    if (step.kind != StepKind::Match) {
      parent.runs = parent.runs ? *parent.runs + 1 : 0;
      parent.pairsRun.insert(parent.pair);
    }
  }
  step.pair = parent.pair;
  if (step.kind != StepKind::Match)
    step.iteration = parent.runs;
}

void Recorder::Impl::placeInParent(Operation *op, Step &step) {
  Active &self = active.back();
  if (active.size() == 1)
    return;
  Active &parent = active[active.size() - 2];
  step.parent = parent.step;
  step.depth = active.size() - 1;
  self.frame = parent.frame;
  if (isa<transform::IncludeOp>(parent.op)) {
    frames.push_back({parent.frame, parent.op, getSequence(op)});
    self.frame = &frames.back();
  } else if (isa<transform::ForeachMatchOp>(parent.op)) {
    placeInMatch(op, parent, step);
    frames.push_back({parent.frame, parent.op, getSequence(op), step.pair});
    self.frame = &frames.back();
  } else if (isa<transform::ForeachOp>(parent.op)) {
    if (isFirstInBlock(op))
      parent.runs = parent.runs ? *parent.runs + 1 : 0;
    step.iteration = parent.runs;
  } else if (isa<transform::AlternativesOp>(parent.op)) {
    step.iteration = op->getParentRegion()->getRegionNumber();
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static StepKind getKind(Operation *op) {
  if (isControl(op) || isa<transform::NamedSequenceOp>(op))
    return StepKind::Control;
  if (isa<transform::MatchOpInterface>(op))
    return StepKind::Match;
  return isAction(op) ? StepKind::Action : StepKind::Handle;
}

void Recorder::Impl::begin(Operation *op, transform::TransformState &state) {
  Step step;
  StringRef name = op->getName().getStringRef();
  name.consume_front("transform.");
  step.name = name.str();
  step.kind = getKind(op);
  step.location = describeLocation(op->getLoc());
  // A pass that the schedule runs may interpret another one on a part of the
  // payload: what is recorded stays the whole.
  if (!topLevel)
    topLevel = state.getTopLevel();

  Active &self = active.emplace_back();
  self.step = trajectory.steps.size();
  self.op = op;
  placeInParent(op, step);
  findRoot(op, state);
  step.detached = self.root != topLevel;
  for (Value operand : op->getOperands())
    step.operands.push_back(describeOperand(operand, state));

  if (step.kind != StepKind::Match && !statesEnded) {
    // Between two steps only a control op itself can change anything, and
    // nothing of the whole payload while it works on a clone.
    step.before = step.detached || !topFingerPrint
                      ? getState(self.root, step.detached)
                      : topState;
    step.after = step.before;
  }
  if (step.kind == StepKind::Action)
    step.text = describer
                    .describe(op, self.frame,
                              [&](Value value) -> ArrayRef<Attribute> {
                                return state.getParams(value);
                              })
                    .text;
  if (step.kind == StepKind::Action && options.endsStates && !statesEnded &&
      options.endsStates(step.text)) {
    statesEnded = true;
    step.after.reset();
  }
  if (auto knob = dyn_cast<transform::tune::KnobOp>(op);
      knob && knob.getSelected())
    trajectory.knobs[knob.getName().str()] = *knob.getSelected();
  if (auto tuned = dyn_cast<transform::tune::AlternativesOp>(op))
    if (Attribute selected = tuned.getSelectedRegionAttrAttr())
      trajectory.knobs[tuned.getName().str()] = selected;
  trajectory.steps.push_back(std::move(step));
}

void Recorder::Impl::end(const DiagnosedSilenceableFailure &result,
                         transform::TransformResults &results,
                         StepListener &listener) {
  Active self = std::move(active.back());
  Step &step = trajectory.steps[self.step];
  step.patterns = std::move(listener.patterns);
  if (result.isDefiniteFailure()) {
    step.status = StepStatus::Definite;
  } else {
    if (result.isSilenceableFailure()) {
      step.status = StepStatus::Silenceable;
      // What was reported on the way explains it.
      std::string noted = std::move(step.message);
      step.message = StringRef(result.getMessage()).rtrim().str();
      if (!noted.empty())
        step.message += '\n' + noted;
    }
    ResultsView view(results);
    for (OpResult value : self.op->getResults())
      step.results.push_back(describeResult(value, view));
  }

  if (listener.isRootErased || statesEnded) {
    step.after.reset();
  } else if (step.kind != StepKind::Match) {
    step.after = getState(self.root, step.detached);
    if (options.verifySteps && step.kind != StepKind::Control &&
        step.isChanged())
      verifyState(self.op, self.root, step);
  }
  if (step.status == StepStatus::Ok && step.kind == StepKind::Control)
    addSkippedSteps(self);
  active.pop_back();
}

void Recorder::Impl::addSkippedSteps(const Active &self) {
  if (isa<transform::ForeachOp>(self.op) && !self.runs)
    addSkippedBody(self, self.op->getRegion(0).front(), self.frame, 0);
  auto match = dyn_cast<transform::ForeachMatchOp>(self.op);
  if (!match)
    return;
  for (auto [pair, action] :
       llvm::enumerate(match.getActions().getAsRange<SymbolRefAttr>())) {
    Operation *sequence = describer.lookup(match, action);
    if (!sequence || self.pairsRun.contains(pair))
      continue;
    CallFrame frame{self.frame, self.op, sequence, static_cast<unsigned>(pair)};
    addSkippedBody(self, sequence->getRegion(0).front(), &frame, pair);
  }
}

void Recorder::Impl::addSkippedBody(const Active &self, Block &body,
                                    const CallFrame *frame, unsigned pair) {
  std::vector<Action> actions;
  // A body that cannot be derived has no part in the history; that it did not
  // run is no reason to complain about it.
  std::string ignored;
  swallowed = &ignored;
  LogicalResult result = describer.expand(body, frame, actions);
  swallowed = nullptr;
  if (failed(result))
    return;
  for (Action &action : actions) {
    Step step;
    step.parent = self.step;
    step.depth = active.size();
    step.kind = StepKind::Action;
    step.status = StepStatus::Skipped;
    step.name = std::move(action.name);
    step.text = std::move(action.text);
    step.pair = pair;
    step.before = step.after = trajectory.steps[self.step].after;
    step.detached = trajectory.steps[self.step].detached;
    trajectory.steps.push_back(std::move(step));
  }
}
