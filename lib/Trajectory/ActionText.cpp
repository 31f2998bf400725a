//===- ActionText.cpp - Canonical text of scheduling actions ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Trajectory/ActionText.h"

#include "CanonicalPrinter.h"
#include "HandleOrigin.h"

#include "cwm/Trajectory/StateText.h"

#include "mlir/Dialect/Linalg/TransformOps/LinalgTransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformAttrs.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/MatchInterfaces.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace cwm;

/// A longer attribute value is replaced by its hash.
static constexpr size_t maxValueLength = 512;

//===----------------------------------------------------------------------===//
// Kinds of ops
//===----------------------------------------------------------------------===//

bool cwm::isControl(Operation *op) {
  return isa<transform::IncludeOp, transform::SequenceOp, transform::ForeachOp,
             transform::ForeachMatchOp, transform::AlternativesOp,
             transform::tune::AlternativesOp>(op);
}

bool cwm::isAction(Operation *op) {
  if (!isa<transform::TransformOpInterface>(op) || isControl(op) ||
      isa<transform::MatchOpInterface, transform::NamedSequenceOp>(op))
    return false;
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return true;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  return llvm::any_of(effects, [](const auto &effect) {
    return isa<MemoryEffects::Write>(effect.getEffect()) &&
           effect.getResource() == transform::PayloadIRResource::get();
  });
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// `#dialect.kind<case>` -> `case`: the key says which kind it is.
static std::string stripEnum(std::string text) {
  StringRef rest = text;
  if (!rest.consume_front("#"))
    return text;
  auto [kind, value] = rest.split('<');
  if (!value.consume_back(">") || value.empty() ||
      !llvm::all_of(value, [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return text;
  return value.str();
}

std::string cwm::getActionAttributeText(Attribute attribute) {
  std::string text;
  if (auto integer = dyn_cast<IntegerAttr>(attribute);
      integer && !integer.getType().isInteger(1)) {
    text = llvm::toString(integer.getValue(), 10,
                          !integer.getType().isUnsignedInteger());
  } else {
    CanonicalPrinter(attribute.getContext(), text,
                     CanonicalPrinter::Abbreviate::No)
        .print(attribute);
    text = stripEnum(std::move(text));
  }
  if (text.size() > maxValueLength)
    return "hash " + hashText(text).substr(0, 16);
  return text;
}

namespace {
/// Writes one action.
class ActionWriter {
public:
  ActionWriter(Operation *op, const CallFrame *frame, HandleOrigins &origins,
               ObservedParams observed)
      : op(op), frame(frame), origins(origins), observed(observed),
        isUsed(op->getNumOperands(), false) {}

  Action write();

private:
  std::string getOperandText(unsigned index);
  std::string getNextDynamicSize();
  std::string getValueText(Attribute value);
  std::string getPassOptionText(Attribute value);
  void addAttributes();
  void addNestedOps();
  void addRemainingParams();
  std::string getTargets();

  Operation *op;
  const CallFrame *frame;
  HandleOrigins &origins;
  ObservedParams observed;
  /// Operands that some attribute's value has shown already.
  SmallVector<bool> isUsed;
  std::map<std::string, std::string> entries;
};
} // namespace

static bool isParam(Value value) {
  return isa<transform::TransformParamTypeInterface>(value.getType());
}

std::string ActionWriter::getOperandText(unsigned index) {
  isUsed[index] = true;
  Value operand = op->getOperand(index);
  if (!isParam(operand))
    return "(" + origins.describe(operand, frame) + ")";
  auto known = origins.getParams(operand, frame);
  if (!known)
    return "(" + origins.describe(operand, frame) + ")";
  ArrayRef<Attribute> values = *known;
  if (observed)
    values = observed(operand);
  if (values.size() == 1)
    return getActionAttributeText(values.front());
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(values, os, [&](Attribute value) {
    os << getActionAttributeText(value);
  });
  return text + "]";
}

/// The next operand, behind the target, that stands for a size left open in a
/// `static_...` attribute.
std::string ActionWriter::getNextDynamicSize() {
  for (unsigned i = 1, e = op->getNumOperands(); i < e; ++i)
    if (!isUsed[i])
      return getOperandText(i);
  return "?";
}

std::string ActionWriter::getPassOptionText(Attribute value) {
  if (auto operand = dyn_cast<transform::ParamOperandAttr>(value)) {
    unsigned index = operand.getIndex().getInt() + 1;
    return index < op->getNumOperands() ? getOperandText(index) : "?";
  }
  return getValueText(value);
}

std::string ActionWriter::getValueText(Attribute value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto sizes = dyn_cast<DenseI64ArrayAttr>(value)) {
    os << '[';
    llvm::interleaveComma(sizes.asArrayRef(), os, [&](int64_t size) {
      if (ShapedType::isDynamic(size))
        os << getNextDynamicSize();
      else
        os << size;
    });
    os << ']';
  } else if (auto array = dyn_cast<ArrayAttr>(value)) {
    os << '[';
    llvm::interleaveComma(array, os, [&](Attribute element) {
      os << getPassOptionText(element);
    });
    os << ']';
  } else if (auto options = dyn_cast<DictionaryAttr>(value)) {
    os << '{';
    llvm::interleaveComma(options, os, [&](NamedAttribute entry) {
      os << entry.getName().getValue() << '='
         << getPassOptionText(entry.getValue());
    });
    os << '}';
  } else {
    return getActionAttributeText(value);
  }
  if (text.size() > maxValueLength)
    return "hash " + hashText(text).substr(0, 16);
  return text;
}

/// Attributes that hold what their absence would mean, or bookkeeping.
static bool saysNothing(StringRef name, Attribute value) {
  if (name == "operandSegmentSizes" || name == "resultSegmentSizes")
    return true;
  if (auto array = dyn_cast<DenseI64ArrayAttr>(value))
    return array.empty();
  if (auto flags = dyn_cast<DenseBoolArrayAttr>(value))
    return !llvm::is_contained(flags.asArrayRef(), true);
  if (auto array = dyn_cast<ArrayAttr>(value))
    return array.empty();
  if (auto dictionary = dyn_cast<DictionaryAttr>(value))
    return dictionary.empty();
  auto integer = dyn_cast<IntegerAttr>(value);
  return integer && name.starts_with("max_") && integer.getValue().isAllOnes();
}

void ActionWriter::addAttributes() {
  // Inherent attributes only: a discardable one has no part in what the op
  // does.
  auto attributes =
      dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  if (!attributes)
    return;
  auto add = [&](StringRef name, Attribute value) {
    if (saysNothing(name, value))
      return;
    std::string key = name.str();
    if (StringRef(key).starts_with("static_"))
      key.erase(0, strlen("static_"));
    entries[key] = isa<UnitAttr>(value) ? "" : getValueText(value);
  };
  // Open sizes take operands in operand order, which is the order of the
  // attributes' names except here.
  StringRef first =
      isa<transform::FuseOp>(op) ? "static_tile_sizes" : StringRef();
  if (!first.empty())
    if (Attribute value = attributes.get(first))
      add(first, value);
  for (NamedAttribute entry : attributes)
    if (entry.getName().getValue() != first)
      add(entry.getName().getValue(), entry.getValue());
}

/// The patterns of apply_patterns in the order of the script, which is the
/// order in which the driver tries patterns of equal benefit.
void ActionWriter::addNestedOps() {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (Region &region : op->getRegions())
    for (Operation &nested : region.getOps()) {
      StringRef name = nested.getName().getStringRef();
      name.consume_front("transform.");
      name.consume_front("apply_patterns.");
      name.consume_front("apply_conversion_patterns.");
      os << (text.empty() ? "" : "; ") << name;
      auto attributes =
          dyn_cast_or_null<DictionaryAttr>(nested.getPropertiesAsAttribute());
      for (NamedAttribute entry :
           attributes ? attributes.getValue() : ArrayRef<NamedAttribute>())
        if (!saysNothing(entry.getName(), entry.getValue())) {
          os << ' ' << entry.getName().getValue();
          if (!isa<UnitAttr>(entry.getValue()))
            os << '=' << getActionAttributeText(entry.getValue());
        }
      if (nested.getNumRegions() != 0)
        os << " hash " << hashText(getStateText(&nested)).substr(0, 16);
    }
  if (!text.empty())
    entries["body"] = "{" + text + "}";
}

void ActionWriter::addRemainingParams() {
  std::string text;
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i)
    if (isParam(op->getOperand(i)) && !isUsed[i])
      text += (text.empty() ? "" : ", ") + getOperandText(i);
  if (!text.empty())
    entries["params"] = "[" + text + "]";
}

std::string ActionWriter::getTargets() {
  std::string text;
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i)
    if (!isUsed[i])
      text += (text.empty() ? "" : ", ") +
              origins.describe(op->getOperand(i), frame);
  return text;
}

Action ActionWriter::write() {
  // With what is in its body.
  op->walk([&](Operation *nested) {
    origins.noteRead(nested, ActionRead::How::Values);
  });
  StringRef name = op->getName().getStringRef();
  name.consume_front("transform.");
  Action action{name.str(), name.str()};
  addAttributes();
  addNestedOps();
  addRemainingParams();
  for (auto &[key, value] : entries) {
    action.text += " " + key;
    if (!value.empty())
      action.text += "=" + value;
  }
  if (std::string targets = getTargets(); !targets.empty())
    action.text += " on " + targets;
  return action;
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

struct ActionDescriber::Impl {
  LogicalResult expand(Block &body, const CallFrame *frame,
                       std::vector<Action> &actions);
  LogicalResult expandCall(Operation *call, SymbolRefAttr target, unsigned pair,
                           const CallFrame *frame,
                           std::vector<Action> &actions);
  LogicalResult expandControl(Operation *op, const CallFrame *frame,
                              std::vector<Action> &actions);

  HandleOrigins origins;
  bool allRegions = false;
  std::vector<ActionReads> *reads = nullptr;
};

LogicalResult ActionDescriber::Impl::expandCall(Operation *call,
                                                SymbolRefAttr target,
                                                unsigned pair,
                                                const CallFrame *frame,
                                                std::vector<Action> &actions) {
  Operation *callee = origins.lookup(call, target);
  if (!callee)
    return call->emitError()
           << "cannot derive actions: " << target
           << " is not a named sequence with a body in this script";
  for (const CallFrame *outer = frame; outer; outer = outer->caller)
    if (outer->callee == callee)
      return call->emitError()
             << "cannot derive actions: " << target << " includes itself";
  CallFrame inner{frame, call, callee, pair};
  return expand(callee->getRegion(0).front(), &inner, actions);
}

LogicalResult
ActionDescriber::Impl::expandControl(Operation *op, const CallFrame *frame,
                                     std::vector<Action> &actions) {
  if (auto include = dyn_cast<transform::IncludeOp>(op))
    return expandCall(op, include.getTarget(), 0, frame, actions);
  if (auto match = dyn_cast<transform::ForeachMatchOp>(op)) {
    for (auto [pair, target] :
         llvm::enumerate(match.getActions().getAsRange<SymbolRefAttr>()))
      if (failed(expandCall(op, target, pair, frame, actions)))
        return failure();
    return success();
  }
  if (auto tuned = dyn_cast<transform::tune::AlternativesOp>(op)) {
    Block *selected = origins.getSelected(op, frame);
    if (!selected)
      return op->emitError() << "cannot derive actions: alternatives '"
                             << tuned.getName().getValue() << "' are not bound";
    return expand(*selected, frame, actions);
  }
  if (op->getNumRegions() > 1 && !allRegions)
    return op->emitError() << "cannot derive actions: which region of '"
                           << op->getName()
                           << "' applies depends on the payload; use "
                              "'transform.tune.alternatives' to select one";
  for (Region &region : op->getRegions())
    if (failed(expand(region.front(), frame, actions)))
      return failure();
  return success();
}

LogicalResult ActionDescriber::Impl::expand(Block &body, const CallFrame *frame,
                                            std::vector<Action> &actions) {
  for (Operation &op : body) {
    if (op.hasAttr("cwm.bind"))
      return op.emitError() << "cannot derive actions: 'cwm.bind' of '"
                            << op.getName() << "' is not resolved";
    if (auto knob = dyn_cast<transform::tune::KnobOp>(op);
        knob && !knob.getSelected())
      return op.emitError() << "cannot derive actions: knob '"
                            << knob.getName().getValue() << "' is not bound";
    if (isControl(&op)) {
      if (failed(expandControl(&op, frame, actions)))
        return failure();
      continue;
    }
    if (isAction(&op)) {
      ActionReads own;
      origins.setLog(reads ? &own : nullptr);
      actions.push_back(
          ActionWriter(&op, frame, origins, /*observed=*/nullptr).write());
      origins.setLog(nullptr);
      if (reads)
        reads->push_back(std::move(own));
      continue;
    }
    if (isa<transform::MatchOpInterface>(op))
      continue;
    WalkResult hidden = op.walk([](Operation *nested) {
      return isAction(nested) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (hidden.wasInterrupted())
      return op.emitError() << "cannot derive actions: what '" << op.getName()
                            << "' runs is not known to cwm";
  }
  return success();
}

ActionDescriber::ActionDescriber(bool allRegions,
                                 std::vector<ActionReads> *reads)
    : impl(std::make_unique<Impl>()) {
  impl->reads = reads;
  impl->allRegions = allRegions;
}
ActionDescriber::~ActionDescriber() = default;

Action ActionDescriber::describe(Operation *action, const CallFrame *frame,
                                 ObservedParams observed) {
  return ActionWriter(action, frame, impl->origins, observed).write();
}

LogicalResult ActionDescriber::expand(Block &body, const CallFrame *frame,
                                      std::vector<Action> &actions) {
  return impl->expand(body, frame, actions);
}

Operation *ActionDescriber::lookup(Operation *from, SymbolRefAttr target) {
  return impl->origins.lookup(from, target);
}

FailureOr<std::vector<Action>>
cwm::getActions(ModuleOp boundScript, StringRef entryPoint, bool allRegions,
                std::vector<ActionReads> *reads) {
  auto entry = boundScript.lookupSymbol<transform::NamedSequenceOp>(entryPoint);
  if (!entry || entry.isExternal())
    return boundScript.emitError() << "cannot derive actions: no entry point @"
                                   << entryPoint << " in the script";
  std::vector<Action> actions;
  ActionDescriber describer(allRegions, reads);
  if (failed(describer.expand(entry.getBody().front(), nullptr, actions)))
    return failure();
  return actions;
}
