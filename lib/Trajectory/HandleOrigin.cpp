//===- HandleOrigin.cpp - Where a transform handle comes from ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HandleOrigin.h"

#include "mlir/Dialect/Linalg/TransformOps/LinalgTransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cwm;

/// A description names at most this many steps back.
static constexpr unsigned maxDepth = 3;

Operation *HandleOrigins::lookup(Operation *from, SymbolRefAttr target) {
  auto sequence =
      symbolTables.lookupNearestSymbolFrom<transform::NamedSequenceOp>(from,
                                                                       target);
  return sequence && !sequence.isExternal() ? sequence.getOperation() : nullptr;
}

//===----------------------------------------------------------------------===//
// Resolution
//===----------------------------------------------------------------------===//

/// Operand `index` of the block's terminator, null when out of range.
static Value getYielded(Block &block, unsigned index) {
  Operation *terminator = block.getTerminator();
  return index < terminator->getNumOperands() ? terminator->getOperand(index)
                                              : Value();
}

HandleOrigins::Bound HandleOrigins::resolveResult(OpResult result,
                                                  const CallFrame *frame) {
  Operation *op = result.getOwner();
  unsigned index = result.getResultNumber();
  if (auto include = dyn_cast<transform::IncludeOp>(op)) {
    Operation *callee = lookup(op, include.getTarget());
    if (!callee)
      return {};
    frames.push_back({frame, op, callee});
    return {getYielded(callee->getRegion(0).front(), index), &frames.back()};
  }
  if (isa<transform::tune::AlternativesOp>(op)) {
    Block *block = getSelected(op, frame);
    return {block ? getYielded(*block, index) : Value(), frame};
  }
  if (isa<transform::ForeachOp, transform::SequenceOp>(op))
    return {getYielded(op->getRegion(0).front(), index), frame};
  if (isa<transform::CastOp>(op))
    return {op->getOperand(0), frame};
  return {};
}

HandleOrigins::Bound HandleOrigins::resolveArgument(BlockArgument argument,
                                                    const CallFrame *frame) {
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned index = argument.getArgNumber();
  if (isa<transform::ForeachOp, transform::SequenceOp,
          transform::AlternativesOp>(parent)) {
    if (index < parent->getNumOperands())
      return {parent->getOperand(index), frame};
    return {};
  }
  if (!frame || frame->callee != parent)
    return {};
  if (isa<transform::IncludeOp>(frame->call))
    return {frame->call->getOperand(index), frame->caller};
  auto match = dyn_cast<transform::ForeachMatchOp>(frame->call);
  if (!match)
    return {};
  Operation *matcher =
      lookup(match, cast<SymbolRefAttr>(match.getMatchers()[frame->pair]));
  if (matcher && matcher != parent) {
    // An action's arguments are what its matcher yields.
    frames.push_back({frame->caller, frame->call, matcher, frame->pair});
    return {getYielded(matcher->getRegion(0).front(), index), &frames.back()};
  }
  // A matcher's first argument is the payload op, the others are forwarded.
  if (index == 0 || index > match.getForwardedInputs().size())
    return {};
  return {match.getForwardedInputs()[index - 1], frame->caller};
}

HandleOrigins::Bound HandleOrigins::resolve(Bound bound) {
  while (true) {
    Bound next;
    if (auto result = dyn_cast<OpResult>(bound.value))
      next = resolveResult(result, bound.frame);
    else
      next = resolveArgument(cast<BlockArgument>(bound.value), bound.frame);
    if (!next.value)
      return bound;
    bound = next;
  }
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

Block *HandleOrigins::getSelected(Operation *op, const CallFrame *frame) {
  auto alternatives = cast<transform::tune::AlternativesOp>(op);
  Attribute selected = alternatives.getSelectedRegionAttrAttr();
  if (!selected && alternatives.getSelectedRegionParam()) {
    auto values = getParams(alternatives.getSelectedRegionParam(), frame);
    if (values && values->size() == 1)
      selected = values->front();
  }
  auto index = dyn_cast_or_null<IntegerAttr>(selected);
  if (!index || index.getValue().isNegative() ||
      index.getValue().uge(op->getNumRegions()))
    return nullptr;
  return &op->getRegion(index.getInt()).front();
}

static bool isLoopArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument &&
         isa<transform::ForeachOp>(argument.getOwner()->getParentOp());
}

std::optional<SmallVector<Attribute, 2>>
HandleOrigins::getParams(Value value, const CallFrame *frame) {
  using Params = SmallVector<Attribute, 2>;
  // A loop sees one parameter at a time, so its argument is known only where
  // there is just one.
  if (isLoopArgument(value)) {
    Bound outer = resolveArgument(cast<BlockArgument>(value), frame);
    auto params = outer.value ? getParams(outer.value, outer.frame)
                              : std::optional<Params>();
    return params && params->size() == 1 ? params : std::nullopt;
  }
  Bound next;
  if (auto result = dyn_cast<OpResult>(value)) {
    // The results of a loop are gathered over its iterations.
    if (isa<transform::ForeachOp>(result.getOwner()))
      return std::nullopt;
    next = resolveResult(result, frame);
  } else {
    next = resolveArgument(cast<BlockArgument>(value), frame);
  }
  if (next.value)
    return getParams(next.value, next.frame);

  Operation *op = value.getDefiningOp();
  if (op)
    noteRead(op, ActionRead::How::Values);
  if (auto knob = dyn_cast_or_null<transform::tune::KnobOp>(op)) {
    if (!knob.getSelected())
      return std::nullopt;
    return Params{*knob.getSelected()};
  }
  if (auto constant = dyn_cast_or_null<transform::ParamConstantOp>(op))
    return Params{constant.getValue()};
  if (auto merge = dyn_cast_or_null<transform::MergeHandlesOp>(op)) {
    if (merge.getDeduplicate())
      return std::nullopt;
    Params all;
    for (Value handle : merge.getHandles()) {
      auto params = getParams(handle, frame);
      if (!params)
        return std::nullopt;
      llvm::append_range(all, *params);
    }
    return all;
  }
  if (auto split = dyn_cast_or_null<transform::SplitHandleOp>(op)) {
    auto params = getParams(split.getHandle(), frame);
    if (!params || params->size() != op->getNumResults())
      return std::nullopt;
    return Params{(*params)[cast<OpResult>(value).getResultNumber()]};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

/// "each of 4, 2" for the argument of a loop over known parameters.
std::string HandleOrigins::describeEach(BlockArgument argument,
                                        const CallFrame *frame) {
  Bound outer = resolveArgument(argument, frame);
  auto params = getParams(outer.value, outer.frame);
  if (!params)
    return "each of " + describe(outer.value, outer.frame, maxDepth);
  std::string text = "each of ";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(*params, os, [&](Attribute value) {
    os << getActionAttributeText(value);
  });
  return text;
}

static StringRef getShortName(Operation *op) {
  StringRef name = op->getName().getStringRef();
  name.consume_front("transform.");
  return name;
}

/// The payload op name that the type of a handle promises; else empty.
static StringRef getTypedName(Value value) {
  auto type = dyn_cast<transform::OperationType>(value.getType());
  return type ? type.getOperationName() : StringRef();
}

/// Ops whose first result is their target, changed.
static bool keepsTarget(Operation *op) {
  static const llvm::StringSet<> names = {
      "transform.structured.tile_using_for",
      "transform.structured.tile_using_forall",
      "transform.structured.fuse",
      "transform.structured.interchange",
      "transform.structured.specialize",
      "transform.structured.vectorize_children_and_apply_patterns",
      "transform.bufferization.one_shot_bufferize",
      "transform.apply_registered_pass",
      "transform.annotate",
      "transform.alternatives",
      "transform.foreach_match"};
  return names.contains(op->getName().getStringRef());
}

static bool isTiling(Operation *op) {
  return isa<transform::TileUsingForOp, transform::TileUsingForallOp,
             transform::FuseOp>(op);
}

static std::string describeMatch(transform::MatchOp match) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (ArrayAttr names = match.getOpsAttr())
    llvm::interleave(
        names.getAsRange<StringAttr>(), os,
        [&](StringAttr name) { os << name.getValue(); }, "|");
  if (Attribute interface = match.getInterfaceAttr())
    os << (text.empty() ? "" : " ") << getActionAttributeText(interface);
  if (DictionaryAttr attributes = match.getOpAttrsAttr())
    os << getActionAttributeText(attributes);
  if (Attribute type = match.getFilterResultTypeAttr())
    os << " of " << getActionAttributeText(type);
  if (Attribute types = match.getFilterOperandTypesAttr())
    os << " from " << getActionAttributeText(types);
  return text.empty() ? "any op" : text;
}

/// What a matcher asks of the op it is given.
std::string HandleOrigins::describeMatched(BlockArgument argument) {
  for (Operation *user : argument.getUsers())
    if (auto named = dyn_cast<transform::MatchOperationNameOp>(user)) {
      noteRead(named, ActionRead::How::Values);
      std::string text;
      llvm::raw_string_ostream os(text);
      llvm::interleave(
          named.getOpNames().getAsRange<StringAttr>(), os,
          [&](StringAttr name) { os << name.getValue(); }, "|");
      return text;
    }
  return "matched op";
}

std::string HandleOrigins::describeResult(OpResult result,
                                          const CallFrame *frame,
                                          unsigned depth) {
  Operation *op = result.getOwner();
  unsigned index = result.getResultNumber();
  noteRead(op, isTiling(op) ? ActionRead::How::Kind : ActionRead::How::Values);
  if (auto match = dyn_cast<transform::MatchOp>(op))
    return describeMatch(match);
  if (auto merge = dyn_cast<transform::MergeHandlesOp>(op)) {
    SmallVector<std::string> parts;
    for (Value handle : merge.getHandles())
      if (std::string part = describe(handle, frame, depth + 1);
          !llvm::is_contained(parts, part))
        parts.push_back(std::move(part));
    return llvm::join(parts, " + ");
  }
  if (isTiling(op) && index > 0)
    return (isa<transform::TileUsingForallOp>(op)
                ? "forall"
                : "loop " + std::to_string(index - 1)) +
           " of " + getShortName(op).str();
  if (op->getNumOperands() == 0)
    return (getShortName(op) + "#" + Twine(index)).str();

  // From here on in terms of the op's own target.
  auto target = [&] { return describe(op->getOperand(0), frame, depth + 1); };
  if (index == 0 && keepsTarget(op)) {
    std::string text = target();
    return isTiling(op) && !StringRef(text).starts_with("tiled ")
               ? "tiled " + text
               : text;
  }
  std::string typed = getTypedName(result).str();
  auto typedOr = [&](StringRef role) {
    return typed.empty() ? role.str() : typed;
  };
  if (auto producer = dyn_cast<transform::GetProducerOfOperand>(op))
    return typedOr("producer") + " for operand " +
           std::to_string(producer.getOperandNumber()) + " of " + target();
  if (auto consumer = dyn_cast<transform::GetConsumersOfResult>(op))
    return typedOr("consumer") + " of result " +
           std::to_string(consumer.getResultNumber()) + " of " + target();
  if (auto parent = dyn_cast<transform::GetParentOp>(op)) {
    std::string role =
        parent.getOpName() ? parent.getOpName()->str() : typedOr("parent");
    if (parent.getNthParent() != 1)
      role += "^" + std::to_string(parent.getNthParent());
    return role + " around " + target();
  }
  if (auto select = dyn_cast<transform::SelectOp>(op))
    return select.getOpName().str() + " in " + target();
  if (isa<transform::SplitHandleOp>(op))
    return "part " + std::to_string(index) + " of " + target();
  std::string role = (getShortName(op) + "#" + Twine(index)).str();
  return typed.empty() ? role : typed + " from " + role;
}

std::string HandleOrigins::describe(Value value, const CallFrame *frame,
                                    unsigned depth) {
  if (isa<transform::TransformParamTypeInterface>(value.getType()) &&
      isLoopArgument(value))
    return describeEach(cast<BlockArgument>(value), frame);
  Bound origin = resolve({value, frame});
  if (auto argument = dyn_cast<BlockArgument>(origin.value)) {
    if (origin.frame)
      return describeMatched(argument);
    return "root";
  }
  if (depth > maxDepth) {
    StringRef typed = getTypedName(origin.value);
    return typed.empty() ? "..." : typed.str();
  }
  return describeResult(cast<OpResult>(origin.value), origin.frame, depth);
}
