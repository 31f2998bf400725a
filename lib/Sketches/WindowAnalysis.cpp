//===- WindowAnalysis.cpp - Payloads as convolutions and pools --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WindowAnalysis.h"

#include "NormalForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace cwm;

/// Named ops that slide a window say so by their attributes.
static bool isWindow(linalg::LinalgOp op) {
  return op->hasAttr("strides") && op->hasAttr("dilations");
}

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static bool isParallelOnly(linalg::LinalgOp op) {
  return op.getNumReductionLoops() == 0 && op.getNumDpsInits() == 1 &&
         op.hasPureTensorSemantics();
}

namespace {
class Analysis {
public:
  explicit Analysis(func::FuncOp entry) : entry(entry) {}

  /// The reason why not, or nothing.
  std::optional<StringRef> run(WindowPayload &result) {
    if (std::optional<StringRef> why = findWindow())
      return why;
    for (auto check : {&Analysis::checkInput, &Analysis::checkInit,
                       &Analysis::checkElementwise, &Analysis::checkRest})
      if (std::optional<StringRef> why = (this->*check)())
        return why;
    result.operation = window->getName().getStringRef().str();
    llvm::append_range(result.input, getShape(window.getDpsInputs()[0]));
    llvm::append_range(result.filter, getShape(window.getDpsInputs()[1]));
    llvm::append_range(result.output, getShape(window->getResult(0)));
    for (auto [name, values] : {std::pair("strides", &result.strides),
                                std::pair("dilations", &result.dilations)})
      llvm::append_range(*values,
                         window->getAttrOfType<DenseIntElementsAttr>(name)
                             .getValues<int64_t>());
    result.element = getElementTypeOrSelf(window->getResult(0).getType());
    result.isPadded = pad;
    result.hasBias = bias;
    result.hasElementwise = elementwise;
    return std::nullopt;
  }

private:
  std::optional<StringRef> findWindow() {
    for (auto op : entry.getBody().front().getOps<linalg::LinalgOp>())
      if (isWindow(op)) {
        if (window)
          return "several convolutions or pools";
        window = op;
      }
    if (!window)
      return "no convolution and no pool";
    if (window.getNumDpsInputs() != 2 || window.getNumDpsInits() != 1 ||
        !window.hasPureTensorSemantics())
      return "an operation with other than two operands";
    Type element = getElementTypeOrSelf(window->getResult(0).getType());
    if (!element.isF32() && !element.isF64())
      return "neither f32 nor f64";
    for (Value operand : window->getOperands())
      if (getElementTypeOrSelf(operand.getType()) != element)
        return "mixed element types";
    known.insert(window);
    return std::nullopt;
  }

  /// What is computed from arguments by reshapes only.
  bool isReshapedArgument(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
        return false;
      known.insert(op);
      value = op->getOperand(0);
    }
    return true;
  }

  std::optional<StringRef> checkInput() {
    Value input = window.getDpsInputs()[0];
    pad = input.getDefiningOp<tensor::PadOp>();
    if (pad) {
      if (!pad.getConstantPaddingValue() || !pad->hasOneUse() ||
          !pad.getLow().empty() || !pad.getHigh().empty())
        return "padding that is not constant";
      known.insert(pad);
      input = pad.getSource();
    }
    if (!isReshapedArgument(input))
      return "an input that is computed";
    Value filter = window.getDpsInputs()[1];
    // The window of a pool is a tensor without contents.
    if (Operation *empty = filter.getDefiningOp<tensor::EmptyOp>())
      known.insert(empty);
    else if (!isReshapedArgument(filter))
      return "a filter that is computed";
    return std::nullopt;
  }

  std::optional<StringRef> checkInit() {
    Operation *init = window.getDpsInits()[0].getDefiningOp();
    if (!init || !init->hasOneUse())
      return "an initial value that is not computed for this use";
    known.insert(init);
    if (isa<linalg::FillOp>(init))
      return std::nullopt;
    auto generic = dyn_cast<linalg::GenericOp>(init);
    if (!generic || !isParallelOnly(generic) ||
        generic.getNumDpsInputs() != 1 ||
        !isReshapedArgument(generic.getDpsInputs()[0]) ||
        !generic.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>())
      return "an initial value that is neither a fill nor a bias";
    AffineMap map = generic.getIndexingMapsArray()[0];
    if (map.getNumResults() != 1 || !map.isProjectedPermutation() ||
        !generic.getIndexingMapsArray()[1].isIdentity())
      return "a bias that is not a value for each channel";
    bias = generic;
    return std::nullopt;
  }

  std::optional<StringRef> checkElementwise() {
    auto returned = entry.getBody().front().getTerminator()->getOperands();
    if (returned.size() != 1)
      return "several results";
    Operation *last = returned.front().getDefiningOp();
    if (last == window)
      return std::nullopt;
    elementwise = dyn_cast_or_null<linalg::GenericOp>(last);
    if (!elementwise || !isParallelOnly(elementwise) ||
        !window->getResult(0).hasOneUse() ||
        !elementwise.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>())
      return "a result that is not the operation's or of one elementwise op";
    known.insert(elementwise);
    for (OpOperand &operand : elementwise->getOpOperands()) {
      AffineMap map = elementwise.getMatchingIndexingMap(&operand);
      bool isOwn = operand.get() == window->getResult(0);
      if (!map.isProjectedPermutation() ||
          ((isOwn || elementwise.isDpsInit(&operand)) && !map.isIdentity()))
        return "an elementwise operation that permutes dimensions";
      if (!isOwn && !elementwise.isDpsInit(&operand) &&
          !isReshapedArgument(operand.get()))
        return "an elementwise operation with a computed operand";
    }
    return std::nullopt;
  }

  std::optional<StringRef> checkRest() {
    for (Operation &op : entry.getBody().front())
      if (!isa<tensor::EmptyOp, arith::ConstantOp, func::ReturnOp>(op) &&
          !known.contains(&op))
        return "further operations";
    return std::nullopt;
  }

  func::FuncOp entry;
  linalg::LinalgOp window;
  tensor::PadOp pad;
  linalg::GenericOp bias, elementwise;
  llvm::SmallPtrSet<Operation *, 8> known;
};
} // namespace

std::optional<WindowPayload> cwm::analyseWindow(const Payload &payload,
                                                std::string *why) {
  return analyseNormalForm<Analysis>(normalise(payload, isWindow), payload,
                                     WindowPayload(), why);
}
