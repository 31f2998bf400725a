//===- Analysis.cpp - Payloads as contractions ------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis.h"

#include "NormalForm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace cwm;

/// The dimensions of a map that is a permutation of some of them.
static std::optional<SmallVector<int64_t>> getDims(AffineMap map) {
  if (!map.isProjectedPermutation(/*allowZeroInResults=*/false))
    return std::nullopt;
  SmallVector<int64_t> dims;
  for (AffineExpr expr : map.getResults())
    dims.push_back(cast<AffineDimExpr>(expr).getPosition());
  return dims;
}

/// How `value`, an argument of the body of `op` or one that is widened, comes
/// to be of type `sum`; nullopt when otherwise.
static std::optional<ContractionPayload::Operand> getOperand(Value value) {
  ContractionPayload::Operand operand;
  if (Operation *extension = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(extension))
      return std::nullopt;
    operand.isUnsigned = isa<arith::ExtUIOp>(extension);
    value = extension->getOperand(0);
  }
  if (!isa<BlockArgument>(value))
    return std::nullopt;
  operand.element = value.getType();
  return operand;
}

/// True for sums of products of operands that may be widened before; sets their
/// types in `result`.
static bool isMultiplyAdd(linalg::GenericOp op, ContractionPayload &result) {
  Type type = getElementTypeOrSelf(op.getOutputs().front().getType());
  if (!type.isF32() && !type.isF64() && !type.isInteger(32) &&
      !type.isInteger(64))
    return false;
  Block &body = op.getRegion().front();
  Operation *multiply = nullptr;
  for (Operation &inner : body)
    if (isa<arith::MulFOp, arith::MulIOp>(inner))
      multiply = &inner;
  if (!multiply || !linalg::isaContractionOpInterface(
                       cast<linalg::LinalgOp>(op.getOperation())))
    return false;
  size_t numOps = 3;
  for (Value factor : multiply->getOperands()) {
    std::optional<ContractionPayload::Operand> operand = getOperand(factor);
    if (!operand)
      return false;
    numOps += operand->element != type;
    Operation *extension = factor.getDefiningOp();
    Value source = extension ? extension->getOperand(0) : factor;
    auto number = cast<BlockArgument>(source).getArgNumber();
    if (number > 1)
      return false;
    result.operands[number] = *operand;
  }
  result.sum = type;
  // Anything else in the body, a square or an operand that is widened twice.
  return body.getOperations().size() == numOps && result.operands[0].element &&
         result.operands[1].element;
}

namespace {
class Analysis {
public:
  explicit Analysis(func::FuncOp entry) : entry(entry) {}

  /// The reason why not, or nothing.
  std::optional<StringRef> run(ContractionPayload &result) {
    if (std::optional<StringRef> why = findOps())
      return why;
    if (!isMultiplyAdd(contraction, result))
      return "not a sum of products in f32, f64, i32 or i64";
    if (std::optional<StringRef> why = checkElementwise(result))
      return why;
    if (std::optional<StringRef> why = checkInit())
      return why;
    result.hasElementwise = static_cast<bool>(elementwise);
    result.iterators = contraction.getIteratorTypesArray();
    result.extents = contraction.getStaticLoopRanges();
    return chooseRoles(result);
  }

private:
  std::optional<StringRef> findOps() {
    for (Operation &op : entry.getBody().front()) {
      if (isa<tensor::EmptyOp, arith::ConstantOp, func::ReturnOp>(op))
        continue;
      if (auto candidate = dyn_cast<linalg::FillOp>(op)) {
        if (fill)
          return "several fills";
        fill = candidate;
        continue;
      }
      // Where values enter and leave.
      if (isReshape(&op) && (isa<BlockArgument>(op.getOperand(0)) ||
                             llvm::all_of(op.getUsers(), [](Operation *user) {
                               return isa<func::ReturnOp>(user);
                             })))
        continue;
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (!generic)
        return "an operation that is neither a contraction nor elementwise";
      linalg::GenericOp &slot =
          generic.getNumReductionLoops() ? contraction : elementwise;
      if (slot)
        return "several reductions or several elementwise operations";
      slot = generic;
    }
    if (!contraction)
      return "no reduction";
    if (contraction.getNumDpsInputs() != 2 || contraction.getNumDpsInits() != 1)
      return "a reduction of other than two operands";
    return std::nullopt;
  }

  std::optional<StringRef> checkElementwise(ContractionPayload &result) {
    auto returned = entry.getBody().front().getTerminator()->getOperands();
    Operation *last = elementwise ? elementwise : contraction;
    Operation *producer =
        returned.size() == 1 ? returned.front().getDefiningOp() : nullptr;
    result.hasReshapedResult = isReshape(producer);
    if (result.hasReshapedResult)
      producer = producer->getOperand(0).getDefiningOp();
    if (producer != last || !last->hasOneUse())
      return "not exactly one result, from the last operation";
    if (!elementwise)
      return std::nullopt;
    if (elementwise.getNumDpsInits() != 1 ||
        !contraction->getResult(0).hasOneUse())
      return "the contraction has several uses";
    for (OpOperand &operand : elementwise->getOpOperands()) {
      bool isInput = operand.get() == contraction->getResult(0);
      if (isInput && elementwise.isDpsInit(&operand))
        return "an elementwise operation in place";
      if ((isInput || elementwise.isDpsInit(&operand)) &&
          !elementwise.getMatchingIndexingMap(&operand).isIdentity())
        return "an elementwise operation that permutes dimensions";
      if (!elementwise.getMatchingIndexingMap(&operand)
               .isProjectedPermutation())
        return "an elementwise operation with computed indices";
    }
    // Its init becomes a tile of its own.
    if (!elementwise.getDpsInits().front().getDefiningOp<tensor::EmptyOp>())
      return "an elementwise operation in place";
    return std::nullopt;
  }

  std::optional<StringRef> checkInit() {
    Value init = contraction.getDpsInits().front();
    // An argument would be overwritten: bufferisation takes arguments for
    // writable.
    if (fill && init.getDefiningOp() == fill && fill->hasOneUse())
      return std::nullopt;
    return "an initial value that is not a fill";
  }

  std::optional<StringRef> chooseRoles(ContractionPayload &result) {
    SmallVector<int64_t> dims[3];
    for (unsigned operand = 0; operand < 3; ++operand) {
      auto map = getDims(contraction.getIndexingMapsArray()[operand]);
      if (!map)
        return "operands are not permutations of the dimensions";
      dims[operand] = *map;
    }
    auto has = [&](unsigned operand, int64_t dim) {
      return llvm::is_contained(dims[operand], dim);
    };
    auto isReal = [&](int64_t dim) { return result.extents[dim] > 1; };

    // n: the innermost dimension of the result that is not a unit; it must
    // belong to one operand only.
    for (int64_t dim : dims[2])
      if (isReal(dim))
        result.n = dim;
    if (result.n < 0)
      return "a result of one element";
    if (has(0, result.n) == has(1, result.n))
      return "the innermost dimension of the result is a batch";
    result.rhs = has(1, result.n) ? 1 : 0;
    result.lhs = 1 - result.rhs;

    // m: the biggest of the other operand. k: the innermost reduction of the
    // left operand, so that its rows are contiguous where possible.
    for (int64_t dim : dims[2])
      if (isReal(dim) && has(result.lhs, dim) && !has(result.rhs, dim) &&
          (result.m < 0 || result.extents[dim] >= result.extents[result.m]))
        result.m = dim;
    for (int64_t dim : dims[result.lhs])
      if (isReal(dim) && has(result.rhs, dim) && !has(2, dim))
        result.k = dim;
    for (int64_t dim = 0, end = int64_t(result.extents.size()); dim < end;
         ++dim)
      if (isReal(dim) && dim != result.k &&
          result.iterators[dim] == utils::IteratorType::reduction)
        return "several reductions";
    if (result.k < 0)
      return "no dimension k: an outer product";
    result.lhsDims = dims[result.lhs];
    result.rhsDims = dims[result.rhs];
    result.resultDims = dims[2];
    // The iteration space of the elementwise op is that of the result.
    if (elementwise)
      for (OpOperand *operand : elementwise.getDpsInputOperands())
        if (operand->get() != contraction->getResult(0))
          for (AffineExpr expr :
               elementwise.getMatchingIndexingMap(operand).getResults())
            result.elementwiseDims.push_back(
                dims[2][cast<AffineDimExpr>(expr).getPosition()]);
    return std::nullopt;
  }

  func::FuncOp entry;
  linalg::FillOp fill;
  linalg::GenericOp contraction, elementwise;
};
} // namespace

std::optional<ContractionPayload>
cwm::analyseContraction(const Payload &payload,
                        ContractionPayload::Preparation preparation,
                        bool collapse, std::string *why) {
  ContractionPayload result;
  result.preparation = preparation;
  result.isCollapsed = collapse;
  NormalFormOptions options;
  options.foldUnitExtents = options.collapseDims = collapse;
  options.separateInitialValues = preparation != ContractionPayload::None;
  options.widenSums = preparation == ContractionPayload::WidenSums;
  // Convolutions and the like become generics too; they fail later.
  return analyseNormalForm<Analysis>(
      normalise(
          payload, [](linalg::LinalgOp) { return false; }, options),
      payload, std::move(result), why);
}
