//===- WindowAnalysis.cpp - Payloads as convolutions and pools  -*- C++ -*-===//
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

static bool isParallelOnly(linalg::LinalgOp op) {
  return op.getNumReductionLoops() == 0 && op.getNumDpsInits() == 1 &&
         op.hasPureTensorSemantics();
}

/// The body adds the product of the inputs to the initial value.
static bool isMultiplyAdd(linalg::GenericOp op) {
  Block &body = op.getRegion().front();
  if (body.getOperations().size() != 3)
    return false;
  auto product = dyn_cast<arith::MulFOp>(body.front());
  auto sum = dyn_cast<arith::AddFOp>(*std::next(body.begin()));
  auto isOneOf = [](Value value, Value first, Value second) {
    return value == first || value == second;
  };
  return product && sum && body.getTerminator()->getOperand(0) == sum &&
         product.getLhs() != product.getRhs() &&
         isOneOf(product.getLhs(), body.getArgument(0), body.getArgument(1)) &&
         isOneOf(product.getRhs(), body.getArgument(0), body.getArgument(1)) &&
         sum.getLhs() != sum.getRhs() &&
         isOneOf(sum.getLhs(), product, body.getArgument(2)) &&
         isOneOf(sum.getRhs(), product, body.getArgument(2));
}

namespace {
class Analysis {
public:
  explicit Analysis(func::FuncOp entry) : entry(entry) {}

  /// The reason why not, or nothing.
  std::optional<StringRef> run(WindowPayload &result) {
    for (auto step : {&Analysis::findWindow, &Analysis::orderLoops,
                      &Analysis::checkInput, &Analysis::checkInit,
                      &Analysis::checkElementwise, &Analysis::checkRest})
      if (std::optional<StringRef> why = (this->*step)(result))
        return why;
    return std::nullopt;
  }

private:
  std::optional<StringRef> findWindow(WindowPayload &result) {
    for (auto op : entry.getBody().front().getOps<linalg::GenericOp>())
      if (op.getNumReductionLoops()) {
        if (window)
          return "several reductions";
        window = op;
      }
    if (!window)
      return "no convolution and no pool";
    if (window.getNumDpsInputs() != 2 || window.getNumDpsInits() != 1 ||
        !window.hasPureTensorSemantics())
      return "a reduction of other than two operands";
    result.element = getElementTypeOrSelf(window->getResult(0).getType());
    if (!result.element.isF32() && !result.element.isF64())
      return "neither f32 nor f64";
    for (Value operand : window->getOperands())
      if (getElementTypeOrSelf(operand.getType()) != result.element)
        return "mixed element types";
    if (window.hasIndexSemantics())
      return "a reduction that reads indices";
    result.isMultiplyAdd = isMultiplyAdd(window);
    known.insert(window);
    return std::nullopt;
  }

  /// Finds what each loop of the op runs over, then numbers them.
  std::optional<StringRef> orderLoops(WindowPayload &result) {
    auto op = cast<linalg::LinalgOp>(window.getOperation());
    FailureOr<linalg::ConvolutionDimensions> dims =
        linalg::inferConvolutionDims(op);
    if (failed(dims) || dims->outputImage.empty())
      return "no window that slides";
    SmallVector<std::optional<WindowLoop>> kinds(window.getNumLoops());
    for (auto [kind, list] :
         {std::pair(WindowLoop::Batch, &dims->batch),
          std::pair(WindowLoop::Image, &dims->outputImage),
          std::pair(WindowLoop::Feature, &dims->outputChannel),
          std::pair(WindowLoop::Depth, &dims->depth),
          std::pair(WindowLoop::Channel, &dims->inputChannel),
          std::pair(WindowLoop::Window, &dims->filterLoop)})
      for (unsigned loop : *list)
        kinds[loop] = kind;
    AffineMap filterMap = window.getIndexingMapsArray()[1];
    AffineMap resultMap = window.getIndexingMapsArray()[2];
    if (!resultMap.isProjectedPermutation() ||
        !filterMap.isProjectedPermutation() ||
        resultMap.getNumResults() != window.getNumParallelLoops())
      return "operands that are not indexed by loops";
    SmallVector<int64_t> extents = window.getStaticLoopRanges();
    SmallVector<int64_t> place(window.getNumLoops(), -1);
    for (AffineMap map : {resultMap, filterMap})
      for (AffineExpr expr : map.getResults()) {
        unsigned loop = cast<AffineDimExpr>(expr).getPosition();
        if (place[loop] < 0) {
          if (!kinds[loop])
            return "a loop that is no part of a convolution";
          place[loop] = static_cast<int64_t>(result.order.size());
          result.order.push_back(loop);
          result.loops.push_back(*kinds[loop]);
          result.extents.push_back(extents[loop]);
        }
        if (map == filterMap)
          result.filter.push_back(place[loop]);
      }
    if (result.order.size() != kinds.size())
      return "a reduction that the filter lacks";
    result.iterators = window.getIteratorTypesArray();
    result.strides.assign(result.order.size(), 1);
    result.spans.assign(result.order.size(), 1);
    for (auto [image, filter, stride, dilation] :
         llvm::zip_equal(dims->outputImage, dims->filterLoop, dims->strides,
                         dims->dilations)) {
      result.strides[place[image]] = stride;
      result.spans[place[image]] = (extents[filter] - 1) * dilation + 1;
    }
    return std::nullopt;
  }

  /// What is computed from `value` by reshapes only; its source.
  Value skipReshapes(Value value) {
    Operation *op = value.getDefiningOp();
    while (isReshape(op)) {
      known.insert(op);
      value = op->getOperand(0);
      op = value.getDefiningOp();
    }
    return value;
  }
  /// Or of a constant.
  bool isReshapedArgument(Value value) {
    Value source = skipReshapes(value);
    return isa<BlockArgument>(source) ||
           source.getDefiningOp<arith::ConstantOp>();
  }

  /// The padding of each dimension of the input belongs to the loop that, alone
  /// or with one over the window, indexes it.
  void setPadding(tensor::PadOp pad, WindowPayload &result) {
    AffineMap map = window.getIndexingMapsArray()[0];
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      for (auto [place, loop] : llvm::enumerate(result.order))
        if (result.loops[place] == WindowLoop::Image &&
            expr.isFunctionOfDim(loop)) {
          result.low[place] = pad.getStaticLow()[dim];
          result.high[place] = pad.getStaticHigh()[dim];
          result.paddedExtents[place] = pad.getResultType().getDimSize(dim);
        }
  }

  std::optional<StringRef> checkInput(WindowPayload &result) {
    Value input = window.getDpsInputs()[0];
    result.low.assign(result.order.size(), 0);
    result.high.assign(result.order.size(), 0);
    result.paddedExtents.assign(result.order.size(), 0);
    result.inputElements =
        cast<RankedTensorType>(input.getType()).getNumElements();
    Value source = skipReshapes(input);
    if (auto pad = source.getDefiningOp<tensor::PadOp>()) {
      if (!pad.getConstantPaddingValue() || !pad->hasOneUse() ||
          !pad.getLow().empty() || !pad.getHigh().empty())
        return "padding that is not constant";
      known.insert(pad);
      result.paddedRank = pad.getResultType().getRank();
      result.isReshapedPadding = source != input;
      if (source == input)
        setPadding(pad, result);
      source = pad.getSource();
    }
    if (!isReshapedArgument(source))
      return "an input that is computed";
    Value filter = window.getDpsInputs()[1];
    // The window of a pool is a tensor without contents.
    if (Operation *empty = filter.getDefiningOp<tensor::EmptyOp>())
      known.insert(empty);
    else if (!isReshapedArgument(filter))
      return "a filter that is computed";
    return std::nullopt;
  }

  std::optional<StringRef> checkInit(WindowPayload &result) {
    Operation *init = window.getDpsInits()[0].getDefiningOp();
    if (!init || !init->hasOneUse())
      return "an initial value that is not computed for this use";
    known.insert(init);
    if (isa<linalg::FillOp>(init))
      return std::nullopt;
    auto bias = dyn_cast<linalg::GenericOp>(init);
    if (!bias || !isParallelOnly(bias) || bias.getNumDpsInputs() > 1 ||
        bias.hasIndexSemantics() ||
        !bias.getDpsInits()[0].getDefiningOp<tensor::EmptyOp>())
      return "an initial value that is neither a fill nor a bias";
    if (bias.getNumDpsInputs() == 0)
      return std::nullopt; // a fill that lost its name
    if (!isReshapedArgument(bias.getDpsInputs()[0]))
      return "an initial value that is neither a fill nor a bias";
    AffineMap map = bias.getIndexingMapsArray()[0];
    if (!map.isProjectedPermutation() ||
        !bias.getIndexingMapsArray()[1].isIdentity())
      return "a bias that is not a value for each channel";
    for (AffineExpr expr : map.getResults())
      result.bias.push_back(cast<AffineDimExpr>(expr).getPosition());
    if (result.bias.empty() || !llvm::is_sorted(result.bias) ||
        llvm::any_of(result.bias, [&](int64_t loop) {
          return result.loops[loop] == WindowLoop::Image;
        }))
      return "a bias that is not a value for each channel";
    return std::nullopt;
  }

  std::optional<StringRef> checkElementwise(WindowPayload &result) {
    auto returned = entry.getBody().front().getTerminator()->getOperands();
    if (returned.size() != 1)
      return "several results";
    Value value = skipReshapes(returned.front());
    result.isReshaped = value != returned.front();
    Operation *last = value.getDefiningOp();
    if (result.isReshaped &&
        returned.front().getDefiningOp()->getOperand(0) != value)
      return "several reshapes of the result";
    if (last == window)
      return std::nullopt;
    auto elementwise = dyn_cast_or_null<linalg::GenericOp>(last);
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

  std::optional<StringRef> checkRest(WindowPayload &) {
    for (Operation &op : entry.getBody().front())
      if (!isa<tensor::EmptyOp, arith::ConstantOp, func::ReturnOp>(op) &&
          !known.contains(&op))
        return "further operations";
    return std::nullopt;
  }

  func::FuncOp entry;
  linalg::GenericOp window;
  llvm::SmallPtrSet<Operation *, 8> known;
};
} // namespace

std::optional<WindowPayload> cwm::analyseWindow(const Payload &payload,
                                                std::string *why) {
  return analyseNormalForm<Analysis>(
      normalise(payload, [](linalg::LinalgOp) { return false; }), payload,
      WindowPayload(), why);
}
