//===- ChainAnalysis.cpp - Payloads of elementwise ops and reductions -----===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Chain.h"

#include "NormalForm.h"

#include "cwm/Sketches/CollapseDims.h"
#include "cwm/TransformExt/DimClasses.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace cwm;

/// What @cwm_normalise_chain leaves as it is; it is not part of a chain.
static bool staysNamed(linalg::LinalgOp op) {
  return isa<linalg::ConvolutionOpInterface, linalg::QuantizedMatmulOp,
             linalg::QuantizedBatchMatmulOp>(op.getOperation());
}

static bool isElementType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() == 1 ||
           (integer.getWidth() >= 8 && integer.getWidth() <= 64);
  return type.isF32() || type.isF64();
}

/// Combiners for which upstream knows the neutral element.
static bool isCombiner(Operation *op) {
  return isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp,
             arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
             arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp,
             arith::MinUIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op);
}

namespace {
class Analysis {
public:
  explicit Analysis(func::FuncOp entry) : entry(entry) {}

  /// The reason why not, or nothing.
  std::optional<StringRef> run(ChainPayload &result) {
    if (std::optional<StringRef> why = findOps(result))
      return why;
    classify(result);
    return std::nullopt;
  }

private:
  std::optional<StringRef> findOps(ChainPayload &result) {
    Operation *terminator = entry.getBody().front().getTerminator();
    for (Value value : terminator->getOperands()) {
      Operation *op = value.getDefiningOp();
      ChainPayload::Result &entry = result.results.emplace_back();
      entry.isReshaped = isReshape(op);
      if (entry.isReshaped)
        value = op->getOperand(0);
      if (!value.getDefiningOp<linalg::GenericOp>())
        return "a result that no operation of the chain gives";
      results.push_back(value);
    }
    for (Operation &op : entry.getBody().front()) {
      if (isa<tensor::EmptyOp, arith::ConstantOp, linalg::FillOp>(op) ||
          &op == terminator)
        continue;
      if (isReshape(&op)) {
        if (isa<BlockArgument>(op.getOperand(0)) ||
            (op.hasOneUse() && *op.user_begin() == terminator))
          continue;
        return "a reshape between the operations";
      }
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (!generic)
        return "an operation that is neither elementwise nor a reduction";
      if (std::optional<StringRef> why = checkOp(generic, result))
        return why;
      generics.push_back(generic);
    }
    auto isOfLast = [&](Value value) {
      return !generics.empty() && value.getDefiningOp() == generics.back();
    };
    const auto *last = llvm::find_if(results, isOfLast);
    if (last == results.end())
      return "the result is not that of the last operation";
    result.lastResult = last - results.begin();
    result.hasResultsOfSeveralOps = !llvm::all_of(results, isOfLast);
    return std::nullopt;
  }

  std::optional<StringRef> checkOp(linalg::GenericOp op, ChainPayload &result) {
    for (AffineMap map : op.getIndexingMapsArray())
      if (!map.isProjectedPermutation(/*allowZeroInResults=*/false))
        return "an operation with computed indices";
    for (Value operand : op->getOperands()) {
      Type type = getElementTypeOrSelf(operand.getType());
      if (!isElementType(type))
        return "an element type that is not vectorised";
      // In memory, a boolean takes a byte.
      result.elementBits = std::max<int64_t>(
          {result.elementBits, type.getIntOrFloatBitWidth(), 8});
    }
    // An argument would be overwritten: bufferisation takes arguments for
    // writable.
    for (Value init : op.getDpsInits())
      if (!init.getDefiningOp<tensor::EmptyOp>() &&
          !init.getDefiningOp<linalg::FillOp>())
        return "an initial value that is neither a fill nor empty";
    for (Operation &inner : op.getRegion().front().without_terminator())
      if (!OpTrait::hasElementwiseMappableTraits(&inner) &&
          !isa<arith::ConstantOp>(inner))
        return "a body that is not elementwise";
    if (op.getNumReductionLoops() == 0)
      return std::nullopt;
    for (unsigned index = 0; index < op.getNumDpsInits(); ++index) {
      SmallVector<Operation *, 4> combiners;
      if (!matchReduction(op.getRegionOutputArgs(), index, combiners) ||
          combiners.size() != 1 || !isCombiner(combiners.front()))
        return "a reduction of an unknown kind";
    }
    return std::nullopt;
  }

  void classify(ChainPayload &result) {
    DimClasses classes(generics);
    for (unsigned dimClass = 0; dimClass < classes.size(); ++dimClass)
      result.classes.push_back({classes.getExtent(dimClass), false});
    for (linalg::GenericOp op : generics) {
      result.ops.push_back({classes.getLoops(op), op.getIteratorTypesArray(),
                            op->getNumResults()});
      const ChainPayload::Op &entry = result.ops.back();
      for (auto [loop, iterator] :
           llvm::zip_equal(entry.loops, entry.iterators))
        if (iterator == utils::IteratorType::reduction)
          result.classes[loop].isReduced = true;
    }
    for (Value value : classes.getValues())
      result.values.push_back(classes.getDims(value));
    for (auto [value, entry] : llvm::zip_equal(results, result.results))
      entry.dims = classes.getDims(value);
  }

  func::FuncOp entry;
  std::vector<linalg::GenericOp> generics;
  /// What is returned, below reshapes.
  SmallVector<Value> results;
};
} // namespace

std::optional<ChainPayload> cwm::analyseChain(const Payload &payload,
                                              bool collapse,
                                              bool separateInitialValues,
                                              std::string *why) {
  ChainPayload result;
  result.separatesInitialValues = separateInitialValues;
  result.hasSoftmax = hasSoftmax(payload);
  NormalFormOptions options;
  options.foldUnitExtents = true;
  options.separateInitialValues = options.splitResults = separateInitialValues;
  OwningOpRef<ModuleOp> module = normalise(payload, staysNamed, options);
  if (module && collapse)
    module->walk([&](func::FuncOp function) {
      result.isCollapsed |= collapseDims(function);
    });
  return analyseNormalForm<Analysis>(std::move(module), payload,
                                     std::move(result), why);
}
