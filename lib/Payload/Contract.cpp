//===- Contract.cpp - Rules that make a module a payload --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contract.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace cwm;

FailureOr<func::FuncOp> cwm::findEntry(ModuleOp module, StringRef name) {
  if (!name.empty()) {
    if (auto function = module.lookupSymbol<func::FuncOp>(name))
      return function;
    InFlightDiagnostic diagnostic = module.emitError()
                                    << "has no func.func @" << name;
    diagnostic << "; it has: ";
    llvm::interleaveComma(module.getOps<func::FuncOp>(), diagnostic,
                          [&](func::FuncOp function) {
                            diagnostic << "@" << function.getName();
                          });
    return failure();
  }

  func::FuncOp entry;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic())
      continue;
    if (entry) {
      function.emitOpError()
          << "@" << function.getName()
          << " is a second public function beside @" << entry.getName()
          << ": a payload has one entry; choose it with --function";
      return failure();
    }
    entry = function;
  }
  if (!entry) {
    module.emitError() << "has no public func.func: a payload needs an entry "
                          "function";
    return failure();
  }
  return entry;
}

/// Why `type` cannot be an element of a tensor or a scalar of a payload; empty
/// when it can.
static StringRef getElementTypeProblem(Type type) {
  if (type.isF32() || type.isF64() || type.isF16() || type.isBF16())
    return {};
  for (unsigned width : {1U, 8U, 16U, 32U, 64U})
    if (type.isSignlessInteger(width))
      return {};
  return "supported element types are f16, bf16, f32, f64, i1, i8, i16, i32 "
         "and i64";
}

static constexpr StringLiteral sizeRule =
    "tensors must have at most 2^40 elements";

/// Sizes in bytes must stay far below 2^63 for everybody who adds them up.
static bool isTooLarge(ShapedType type) {
  double elements = 1;
  for (int64_t extent : type.getShape())
    elements *= static_cast<double>(extent);
  return elements > 0x1p40;
}

/// Checks the type of one argument or result, called `what` in messages.
static LogicalResult checkTensor(func::FuncOp entry, Location loc,
                                 const Twine &what, Type type,
                                 TensorSpec &spec) {
  auto refuse = [&](StringRef rule) {
    return emitError(loc) << "'func.func' op @" << entry.getName() << ": "
                          << what << " of type " << type << ": " << rule;
  };
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return refuse("payloads take and return ranked tensors only");
  if (!tensor.hasStaticShape())
    return refuse("every extent must be static");
  if (tensor.getEncoding())
    return refuse("tensors must not have an encoding");
  if (llvm::is_contained(tensor.getShape(), 0))
    return refuse("every extent must be at least 1");
  if (isTooLarge(tensor))
    return refuse(sizeRule);
  if (StringRef problem = getElementTypeProblem(tensor.getElementType());
      !problem.empty())
    return refuse(problem);
  spec.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
  llvm::raw_string_ostream(spec.elementType) << tensor.getElementType();
  return success();
}

/// "... argument #0 has ".
static InFlightDiagnostic emitArgumentError(func::FuncOp entry,
                                            unsigned index) {
  return emitError(entry.getArgument(index).getLoc())
         << "'func.func' op @" << entry.getName() << ": argument #" << index
         << " has ";
}

static LogicalResult readDomain(func::FuncOp entry, unsigned index,
                                TensorSpec &spec) {
  Attribute domain = entry.getArgAttr(index, domainAttrName);
  if (!domain)
    return success();
  auto name = dyn_cast<StringAttr>(domain);
  if (name && name.getValue() == "nonnegative") {
    spec.domain = InputDomain::Nonnegative;
    return success();
  }
  if (name && name.getValue() == "any")
    return success();
  if (name && name.getValue() == "index") {
    spec.domain = InputDomain::Index;
    return success();
  }
  return emitArgumentError(entry, index)
         << domainAttrName << " = " << domain
         << R"(: known domains are "any", "nonnegative" and "index")";
}

/// The bound comes with the domain "index", and only with it.
static LogicalResult readUpperBound(func::FuncOp entry, unsigned index,
                                    TensorSpec &spec) {
  Attribute bound = entry.getArgAttr(index, upperBoundAttrName);
  bool isIndex = spec.domain == InputDomain::Index;
  if (!bound && !isIndex)
    return success();
  if (!isIndex)
    return emitArgumentError(entry, index) << upperBoundAttrName << " without "
                                           << domainAttrName << R"( = "index")";
  Type type = getElementTypeOrSelf(entry.getArgument(index));
  if (!type.isInteger() || type.isInteger(1))
    return emitArgumentError(entry, index)
           << domainAttrName << R"( = "index" and elements of type )" << type
           << ": indices are i8, i16, i32 or i64";
  // The largest index must be a positive number of the type.
  double limit = std::ldexp(1.0, int(type.getIntOrFloatBitWidth()) - 1);
  if (!bound)
    return emitArgumentError(entry, index)
           << domainAttrName << R"( = "index" and no )" << upperBoundAttrName;
  auto number = dyn_cast<IntegerAttr>(bound);
  if (!number || !number.getType().isSignlessInteger(64) ||
      number.getInt() < 1 || double(number.getInt()) > limit)
    return emitArgumentError(entry, index)
           << upperBoundAttrName << " = " << bound
           << ": expected an integer from 1 to what the element type holds";
  spec.upperBound = number.getInt();
  return success();
}

LogicalResult cwm::checkSignature(func::FuncOp entry,
                                  std::vector<TensorSpec> &inputs,
                                  std::vector<TensorSpec> &results) {
  if (entry.isExternal())
    return entry.emitOpError()
           << "@" << entry.getName() << " has no body: nothing to optimise";
  for (auto [index, argument] : llvm::enumerate(entry.getArguments())) {
    TensorSpec &spec = inputs.emplace_back();
    Attribute constant = entry.getArgAttr(index, constantAttrName);
    spec.isConstant = static_cast<bool>(constant);
    if (constant && !isa<UnitAttr>(constant))
      return emitArgumentError(entry, index)
             << constantAttrName << " = " << constant
             << ": it is there or not, and has no value";
    if (failed(checkTensor(entry, argument.getLoc(),
                           "argument #" + Twine(index), argument.getType(),
                           spec)) ||
        failed(readDomain(entry, index, spec)) ||
        failed(readUpperBound(entry, index, spec)))
      return failure();
  }
  if (entry.getNumResults() == 0)
    return entry.emitOpError() << "@" << entry.getName()
                               << " has no results: a payload returns tensors";
  for (auto [index, type] : llvm::enumerate(entry.getResultTypes()))
    if (failed(checkTensor(entry, entry.getLoc(), "result #" + Twine(index),
                           type, results.emplace_back())))
      return failure();
  return success();
}

/// Checks the type of one value inside of the payload.
static LogicalResult checkValue(Operation *op, Location loc, Type type) {
  auto refuse = [&](StringRef rule) {
    return emitError(loc) << "'" << op->getName() << "' op has a value of type "
                          << type << ": " << rule;
  };
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    if (!isa<RankedTensorType>(type))
      return refuse("payloads compute on ranked tensors and scalars only");
    if (!shaped.hasStaticShape())
      return refuse("every extent must be static");
    if (isTooLarge(shaped))
      return refuse(sizeRule);
  }
  Type element = getElementTypeOrSelf(type);
  if (isa<IndexType>(element))
    return success();
  if (StringRef problem = getElementTypeProblem(element); !problem.empty())
    return refuse(problem);
  return success();
}

static LogicalResult checkOperation(Operation *op) {
  if (isa<CallOpInterface>(op))
    return op->emitOpError()
           << "is not allowed in a payload: inline the callee";
  if (op->getName().getStringRef().starts_with("linalg.winograd_"))
    return op->emitOpError() << "is not allowed in a payload: upstream cannot "
                                "bufferize it; decompose it";
  if (isa<tensor::GatherOp, tensor::ScatterOp>(op))
    return op->emitOpError() << "is not allowed in a payload: upstream cannot "
                                "bufferize it; read elements by tensor.extract "
                                "in a linalg.generic";
  StringRef dialect = op->getName().getDialectNamespace();
  if (!isa_and_nonnull<BuiltinDialect, func::FuncDialect, linalg::LinalgDialect,
                       tensor::TensorDialect, arith::ArithDialect,
                       math::MathDialect>(op->getDialect()))
    return op->emitOpError() << "is of dialect '" << dialect
                             << "': payloads use builtin, func, linalg, "
                                "tensor, arith and math only";
  for (Type type : op->getResultTypes())
    if (failed(checkValue(op, op->getLoc(), type)))
      return failure();
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      if (failed(checkValue(op, argument.getLoc(), argument.getType())))
        return failure();
  return success();
}

LogicalResult cwm::checkOperations(ModuleOp module, func::FuncOp entry) {
  bool hasLinalg = false;
  WalkResult walk = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == module || op == entry)
      return WalkResult::advance();
    if (op->getParentOp() == module) {
      op->emitOpError() << "is not allowed beside the payload's function";
      return WalkResult::interrupt();
    }
    if (failed(checkOperation(op)))
      return WalkResult::interrupt();
    hasLinalg |= isa<linalg::LinalgDialect>(op->getDialect());
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  if (!hasLinalg)
    return entry.emitOpError()
           << "@" << entry.getName()
           << " contains no linalg operation: there is nothing to optimise";
  return success();
}
