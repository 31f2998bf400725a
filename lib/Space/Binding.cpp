//===- Binding.cpp - Attributes bound to knobs --------------------*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Binding.h"

#include "mlir/Dialect/Linalg/TransformOps/LinalgTransformOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace cwm;

//===----------------------------------------------------------------------===//
// Templates
//===----------------------------------------------------------------------===//

void BindTemplate::getKnobs(std::vector<unsigned> &result) const {
  if (kind == Kind::Knob)
    result.push_back(knob);
  for (const BindTemplate &child : children)
    child.getKnobs(result);
}

void BindTemplate::renumberKnobs(
    llvm::function_ref<unsigned(unsigned)> number) {
  if (kind == Kind::Knob)
    knob = number(knob);
  for (BindTemplate &child : children)
    child.renumberKnobs(number);
}

Attribute
BindTemplate::resolve(MLIRContext *context,
                      llvm::function_ref<Attribute(unsigned)> option) const {
  switch (kind) {
  case Kind::Literal:
    return literal;
  case Kind::Knob:
    return option(knob);
  case Kind::Array: {
    SmallVector<Attribute> elements;
    for (const BindTemplate &child : children)
      elements.push_back(child.resolve(context, option));
    return ArrayAttr::get(context, elements);
  }
  case Kind::Dictionary: {
    SmallVector<NamedAttribute> entries;
    for (auto [name, child] : llvm::zip_equal(names, children))
      entries.emplace_back(name, child.resolve(context, option));
    return DictionaryAttr::get(context, entries);
  }
  }
  llvm_unreachable("unknown kind");
}

bool cwm::isKnobDictionary(DictionaryAttr dictionary) {
  return dictionary.getAs<StringAttr>("knob") != nullptr;
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

static std::optional<int64_t> getInteger(Attribute attr) {
  if (auto boolean = dyn_cast<BoolAttr>(attr))
    return boolean.getValue();
  auto integer = dyn_cast<IntegerAttr>(attr);
  if (!integer || !integer.getValue().isSignedIntN(64))
    return std::nullopt;
  return integer.getValue().getSExtValue();
}

/// The integers of any kind of array.
static std::optional<SmallVector<int64_t>> getIntegers(Attribute attr) {
  SmallVector<int64_t> result;
  if (auto array = dyn_cast<ArrayAttr>(attr)) {
    for (Attribute element : array) {
      std::optional<int64_t> value = getInteger(element);
      if (!value)
        return std::nullopt;
      result.push_back(*value);
    }
    return result;
  }
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attr))
    return llvm::to_vector(array.asArrayRef());
  if (auto array = dyn_cast<DenseI32ArrayAttr>(attr))
    return SmallVector<int64_t>(array.asArrayRef());
  if (auto array = dyn_cast<DenseBoolArrayAttr>(attr))
    return SmallVector<int64_t>(array.asArrayRef());
  return std::nullopt;
}

static IntegerAttr makeInteger(Type type, int64_t value) {
  if (!type.isIndex() && !llvm::isIntN(type.getIntOrFloatBitWidth(), value))
    return {};
  return IntegerAttr::get(type, value);
}

static Attribute makeDenseArray(Type elementType, ArrayRef<int64_t> values) {
  MLIRContext *context = elementType.getContext();
  if (elementType.isInteger(64))
    return DenseI64ArrayAttr::get(context, values);
  if (elementType.isInteger(32)) {
    SmallVector<int32_t> narrow;
    for (int64_t value : values) {
      if (!llvm::isInt<32>(value))
        return {};
      narrow.push_back(static_cast<int32_t>(value));
    }
    return DenseI32ArrayAttr::get(context, narrow);
  }
  if (elementType.isInteger(1)) {
    SmallVector<bool> flags;
    for (int64_t value : values) {
      if (value != 0 && value != 1)
        return {};
      flags.push_back(value);
    }
    return DenseBoolArrayAttr::get(context, flags);
  }
  return {};
}

Attribute AttributeForm::convert(Attribute value) const {
  MLIRContext *context = value.getContext();
  switch (kind) {
  case Kind::Raw:
    return value;
  case Kind::Integer:
    if (std::optional<int64_t> integer = getInteger(value))
      return makeInteger(elementType, *integer);
    return {};
  case Kind::Bool:
  case Kind::Unit: {
    if (kind == Kind::Unit && isa<UnitAttr>(value))
      return value;
    std::optional<int64_t> integer = getInteger(value);
    if (!integer || (*integer != 0 && *integer != 1))
      return {};
    if (kind == Kind::Unit && *integer == 1)
      return UnitAttr::get(context);
    return BoolAttr::get(context, *integer == 1);
  }
  case Kind::Float: {
    if (auto number = dyn_cast<FloatAttr>(value))
      return FloatAttr::get(elementType, number.getValueAsDouble());
    if (std::optional<int64_t> integer = getInteger(value))
      return FloatAttr::get(elementType, static_cast<double>(*integer));
    return {};
  }
  case Kind::DenseArray: {
    std::optional<SmallVector<int64_t>> values = getIntegers(value);
    return values ? makeDenseArray(elementType, *values) : Attribute();
  }
  case Kind::IntegerArray: {
    std::optional<SmallVector<int64_t>> values = getIntegers(value);
    if (!values)
      return {};
    SmallVector<Attribute> elements;
    for (int64_t integer : *values) {
      elements.push_back(makeInteger(elementType, integer));
      if (!elements.back())
        return {};
    }
    return ArrayAttr::get(context, elements);
  }
  }
  llvm_unreachable("unknown kind");
}

//===----------------------------------------------------------------------===//
// Attributes of operations
//===----------------------------------------------------------------------===//

bool cwm::acceptsAttribute(Operation *op, StringAttr name, Attribute value) {
  // A unit attribute that shall be absent.
  if (auto flag = dyn_cast<BoolAttr>(value); flag && !flag.getValue()) {
    NamedAttrList unit;
    unit.append(name, UnitAttr::get(op->getContext()));
    ScopedDiagnosticHandler quiet(op->getContext(),
                                  [](Diagnostic &) { return success(); });
    if (succeeded(op->getName().verifyInherentAttrs(
            unit, [&] { return op->emitError(); })))
      return true;
  }
  NamedAttrList attributes;
  attributes.append(name, value);
  ScopedDiagnosticHandler quiet(op->getContext(),
                                [](Diagnostic &) { return success(); });
  return succeeded(op->getName().verifyInherentAttrs(
      attributes, [&] { return op->emitError(); }));
}

static AttributeForm getFormOf(Attribute attr) {
  using Kind = AttributeForm::Kind;
  if (isa<UnitAttr>(attr))
    return {Kind::Unit, {}};
  if (isa<BoolAttr>(attr))
    return {Kind::Bool, {}};
  if (auto integer = dyn_cast<IntegerAttr>(attr))
    return {Kind::Integer, integer.getType()};
  if (auto number = dyn_cast<FloatAttr>(attr))
    return {Kind::Float, number.getType()};
  if (auto array = dyn_cast<DenseArrayAttr>(attr))
    return {Kind::DenseArray, array.getElementType()};
  if (auto array = dyn_cast<ArrayAttr>(attr); array && !array.empty())
    if (auto element = dyn_cast<IntegerAttr>(array[0]))
      return {Kind::IntegerArray, element.getType()};
  return {Kind::Raw, {}};
}

std::optional<AttributeForm> cwm::findForm(Operation *op, StringAttr name,
                                           Attribute value) {
  using Kind = AttributeForm::Kind;
  Builder builder(op->getContext());
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  SmallVector<AttributeForm> candidates;
  if (std::optional<Attribute> present = op->getInherentAttr(name);
      present && *present)
    candidates.push_back(getFormOf(*present));
  candidates.append({{Kind::DenseArray, i64},
                     {Kind::IntegerArray, i64},
                     {Kind::DenseArray, i32},
                     {Kind::IntegerArray, i32},
                     {Kind::DenseArray, builder.getI1Type()},
                     {Kind::Integer, i64},
                     {Kind::Integer, i32},
                     {Kind::Integer, builder.getIndexType()},
                     {Kind::Unit, {}},
                     {Kind::Bool, {}},
                     {Kind::Raw, {}}});
  for (const AttributeForm &form : candidates)
    if (Attribute converted = form.convert(value);
        converted && acceptsAttribute(op, name, converted))
      return form;
  return std::nullopt;
}

void cwm::setBoundAttribute(Operation *op, const BoundAttribute &bound,
                            Attribute converted) {
  if (bound.form.kind == AttributeForm::Kind::Unit && isa<BoolAttr>(converted))
    op->removeAttr(bound.name);
  else
    op->setAttr(bound.name, converted);
}

//===----------------------------------------------------------------------===//
// Loop results
//===----------------------------------------------------------------------===//

bool cwm::getTileSizes(Operation *op, SmallVectorImpl<int64_t> &sizes,
                       SmallVectorImpl<int64_t> &interchange) {
  if (auto tile = dyn_cast<transform::TileUsingForOp>(op)) {
    sizes.assign(tile.getStaticSizes().begin(), tile.getStaticSizes().end());
    interchange.assign(tile.getInterchange().begin(),
                       tile.getInterchange().end());
    return true;
  }
  auto fuse = dyn_cast<transform::FuseOp>(op);
  if (!fuse)
    return false;
  sizes.assign(fuse.getStaticTileSizes().begin(),
               fuse.getStaticTileSizes().end());
  interchange.assign(fuse.getStaticTileInterchange().begin(),
                     fuse.getStaticTileInterchange().end());
  // One scf.forall stands for all loops.
  if (fuse.getUseForall())
    sizes.assign(1, 1);
  return true;
}

/// The tiled dimension of each loop, outermost first. Dimensions beyond the
/// interchange keep their place, as upstream fills it up.
static SmallVector<int64_t> getLoopDims(ArrayRef<int64_t> sizes,
                                        ArrayRef<int64_t> interchange) {
  SmallVector<int64_t> dims(interchange);
  for (size_t dim = dims.size(); dim < sizes.size(); ++dim)
    dims.push_back(static_cast<int64_t>(dim));
  llvm::erase_if(dims, [&](int64_t dim) {
    return dim < 0 || dim >= static_cast<int64_t>(sizes.size()) ||
           sizes[dim] == 0;
  });
  return dims;
}

FailureOr<Operation *> cwm::fixLoopResults(Operation *op,
                                           ArrayRef<int64_t> oldSizes) {
  SmallVector<int64_t> sizes, interchange;
  getTileSizes(op, sizes, interchange);
  // The scalable flags go with the sizes.
  if (auto tile = dyn_cast<transform::TileUsingForOp>(op)) {
    SmallVector<bool> scalable(tile.getScalableSizes());
    if (scalable.size() != sizes.size()) {
      scalable.resize(sizes.size(), false);
      tile.setScalableSizes(scalable);
    }
  }
  SmallVector<int64_t> newDims = getLoopDims(sizes, interchange);
  SmallVector<int64_t> oldDims = getLoopDims(oldSizes, interchange);
  unsigned oldLoops = op->getNumResults() - 1;
  if (newDims == oldDims && newDims.size() == oldLoops)
    return op;

  // A handle follows its dimension as long as both lists name the same
  // dimensions; a list of another rank is taken by position.
  bool byDim = sizes.size() == oldSizes.size() && oldDims.size() == oldLoops;
  SmallVector<std::optional<unsigned>> newResult(oldLoops);
  for (unsigned loop = 0; loop < oldLoops; ++loop) {
    if (byDim) {
      auto *it = llvm::find(newDims, oldDims[loop]);
      if (it != newDims.end())
        newResult[loop] = it - newDims.begin();
    } else if (loop < newDims.size()) {
      newResult[loop] = loop;
    }
    if (newResult[loop] || op->getResult(loop + 1).use_empty())
      continue;
    InFlightDiagnostic diag =
        op->emitError() << "loop #" << loop
                        << " is used but does not exist with tile sizes [";
    llvm::interleaveComma(sizes, diag);
    diag << "]";
    return diag << "; a handle that is used needs a size other than 0";
  }

  SmallVector<Type> types{op->getResult(0).getType()};
  Type loopType = oldLoops ? op->getResult(1).getType()
                           : transform::AnyOpType::get(op->getContext());
  types.append(newDims.size(), loopType);
  OperationState state(op->getLoc(), op->getName(), op->getOperands(), types,
                       op->getAttrDictionary().getValue());
  OpBuilder builder(op);
  Operation *rebuilt = builder.create(state);
  op->getResult(0).replaceAllUsesWith(rebuilt->getResult(0));
  for (unsigned loop = 0; loop < oldLoops; ++loop)
    if (newResult[loop])
      op->getResult(loop + 1).replaceAllUsesWith(
          rebuilt->getResult(*newResult[loop] + 1));
  op->erase();
  return rebuilt;
}
