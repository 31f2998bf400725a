//===- VectorizePlan.cpp - How structured ops become vectors ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorizePlan.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace cwm;

static bool isElementType(Type type) {
  // In memory a vector of i1 is packed, a buffer of i1 is not.
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() >= 8 && integer.getWidth() <= 64;
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

/// Has code for vectors; anything else would call libm for each element.
static bool isVectorMath(Operation *op) {
  if (isa<math::SqrtOp, math::RsqrtOp, math::AbsFOp, math::AbsIOp, math::FmaOp,
          math::FloorOp, math::CeilOp, math::TruncOp, math::RoundEvenOp,
          math::CopySignOp>(op))
    return true;
  return op->getResult(0).getType().isF32() &&
         isa<math::ExpOp, math::ExpM1Op, math::TanhOp, math::ErfOp, math::LogOp,
             math::Log2Op, math::Log1pOp>(op);
}

static bool hasVectorBody(linalg::LinalgOp op) {
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (isa<arith::ConstantOp, linalg::IndexOp>(inner))
      continue;
    if (!OpTrait::hasElementwiseMappableTraits(&inner) ||
        inner.getNumResults() != 1)
      return false;
    if (isa<math::MathDialect>(inner.getDialect()) && !isVectorMath(&inner))
      return false;
  }
  return true;
}

/// The factor of dimension `dim` in `expr`, if `expr` is linear in it, from -1
/// to 4.
static std::optional<int64_t> getFactor(AffineExpr expr, unsigned dim,
                                        unsigned numDims) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  MLIRContext *context = expr.getContext();
  AffineExpr rest = expr.replace(getAffineDimExpr(dim, context),
                                 getAffineConstantExpr(0, context));
  for (int64_t factor : {1, -1, 2, 3, 4}) {
    AffineExpr linear = rest + getAffineDimExpr(dim, context) * factor;
    if (simplifyAffineExpr(expr - linear, numDims, 0) ==
        getAffineConstantExpr(0, context))
      return factor;
  }
  return std::nullopt;
}

/// How many elements apart `operand` is accessed along `dim`; nullopt where
/// those of a vector cannot be loaded together.
static std::optional<int64_t> getStride(linalg::LinalgOp op, OpOperand &operand,
                                        unsigned dim) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return 0;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  int64_t stride = 0;
  for (auto [position, expr] : llvm::enumerate(map.getResults())) {
    std::optional<int64_t> factor = getFactor(expr, dim, map.getNumDims());
    if (factor == 0)
      continue;
    if (!factor || *factor < 0 || position + 1 != map.getNumResults())
      return std::nullopt;
    stride = *factor;
  }
  if (stride != 0 && !type.isLastDimUnitStride())
    return std::nullopt;
  // Elements between those that are wanted are loaded with them.
  if (stride > 1 &&
      (op.isDpsInit(&operand) || type.getElementTypeBitWidth() % 32 != 0))
    return std::nullopt;
  return stride;
}

//===----------------------------------------------------------------------===//
// Reductions along the vectors
//===----------------------------------------------------------------------===//

/// How lanes are combined if the result is `select(cmp(x, old), x, old)`, or
/// the op for that, with `old` the result so far.
static std::optional<ArgExtremum> matchValue(Value value, Value old,
                                             Value compared, bool isGreater) {
  using Kind = vector::CombiningKind;
  Operation *op = value.getDefiningOp();
  ArgExtremum result;
  auto isBoth = [&](Value left, Value right) {
    return (left == compared && right == old) ||
           (left == old && right == compared);
  };
  if (isa_and_present<arith::MaximumFOp, arith::MinimumFOp>(op)) {
    result.kind = isa<arith::MaximumFOp>(op) ? Kind::MAXIMUMF : Kind::MINIMUMF;
    result.propagatesNaN = true;
  } else if (isa_and_present<arith::MaxSIOp, arith::MinSIOp>(op)) {
    result.kind = isa<arith::MaxSIOp>(op) ? Kind::MAXSI : Kind::MINSI;
  } else if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    // The caller has matched the condition.
    if (select.getTrueValue() != compared || select.getFalseValue() != old)
      return std::nullopt;
    bool isFloat = isa<FloatType>(old.getType());
    result.kind = isGreater ? (isFloat ? Kind::MAXNUMF : Kind::MAXSI)
                            : (isFloat ? Kind::MINNUMF : Kind::MINSI);
    return result;
  } else {
    return std::nullopt;
  }
  bool isMax = result.kind == Kind::MAXIMUMF || result.kind == Kind::MAXSI;
  if (isMax != isGreater || !isBoth(op->getOperand(0), op->getOperand(1)))
    return std::nullopt;
  return result;
}

/// The index of `dim`, maybe as another integer.
static bool isIndexOf(Value value, unsigned dim) {
  while (auto cast = value.getDefiningOp<arith::IndexCastOp>())
    value = cast.getIn();
  auto index = value.getDefiningOp<linalg::IndexOp>();
  return index && index.getDim() == dim;
}

/// Matches `c = x > value; value = max(x, value); index = c ? i : index`.
static std::optional<ArgExtremum> matchArgExtremum(linalg::LinalgOp op,
                                                   unsigned dim) {
  if (op.getNumDpsInits() != 2)
    return std::nullopt;
  Operation *yield = op.getBlock()->getTerminator();
  for (unsigned number : {0, 1}) {
    BlockArgument oldIndex = op.getRegionOutputArgs()[1 - number];
    BlockArgument oldValue = op.getRegionOutputArgs()[number];
    auto select =
        yield->getOperand(1 - number).getDefiningOp<arith::SelectOp>();
    if (!select || select.getFalseValue() != oldIndex ||
        !isIndexOf(select.getTrueValue(), dim) ||
        !isa<IntegerType>(oldIndex.getType()) || !oldIndex.hasOneUse())
      continue;
    Operation *compare = select.getCondition().getDefiningOp();
    bool isGreater = false;
    if (auto floats = dyn_cast_or_null<arith::CmpFOp>(compare)) {
      isGreater = floats.getPredicate() == arith::CmpFPredicate::OGT;
      if (!isGreater && floats.getPredicate() != arith::CmpFPredicate::OLT)
        continue;
    } else if (auto integers = dyn_cast_or_null<arith::CmpIOp>(compare)) {
      isGreater = integers.getPredicate() == arith::CmpIPredicate::sgt;
      if (!isGreater && integers.getPredicate() != arith::CmpIPredicate::slt)
        continue;
    } else {
      continue;
    }
    Value compared = compare->getOperand(0);
    Value value = yield->getOperand(number);
    if (compare->getOperand(1) != oldValue || compared == oldValue)
      continue;
    if (auto chosen = value.getDefiningOp<arith::SelectOp>();
        chosen && chosen.getCondition() != select.getCondition())
      continue;
    // Nothing else may depend on what came before.
    for (Operation *user : oldValue.getUsers())
      if (user != compare && user != value.getDefiningOp())
        return std::nullopt;
    std::optional<ArgExtremum> result =
        matchValue(value, oldValue, compared, isGreater);
    if (!result)
      continue;
    result->value = number;
    result->index = 1 - number;
    return result;
  }
  return std::nullopt;
}

/// How results of lanes are combined; false when that is not known.
static bool setCombiners(linalg::LinalgOp op, VectorPlan &plan) {
  for (unsigned index = 0; index < op.getNumDpsInits(); ++index) {
    SmallVector<Operation *, 4> combiners;
    if (!matchReduction(op.getRegionOutputArgs(), index, combiners) ||
        combiners.size() != 1 ||
        !linalg::getCombinerOpKind(combiners.front()) ||
        !arith::getNeutralElement(combiners.front())) {
      plan.combiners.clear();
      plan.argExtremum = matchArgExtremum(op, plan.dim);
      return plan.argExtremum.has_value();
    }
    plan.combiners.push_back(combiners.front());
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Tiles in registers
//===----------------------------------------------------------------------===//

static bool dependsOn(linalg::LinalgOp op, OpOperand &operand, unsigned dim) {
  return isa<MemRefType>(operand.get().getType()) &&
         op.getMatchingIndexingMap(&operand).isFunctionOfDim(dim);
}

/// A factor up to `most`, with nothing left over if possible.
static int64_t chooseFactor(int64_t extent, int64_t most) {
  for (int64_t factor = most; factor > most / 2; --factor)
    if (extent % factor == 0)
      return factor;
  return std::min(extent, most);
}

/// Bytes of the operands that vary along `along` and do not depend on `other`.
static double getBytes(linalg::LinalgOp op, unsigned along, unsigned other) {
  double bytes = 0;
  for (OpOperand *input : op.getDpsInputOperands())
    if (dependsOn(op, *input, along) && !dependsOn(op, *input, other)) {
      auto type = cast<MemRefType>(input->get().getType());
      bytes += static_cast<double>(type.getNumElements()) *
               type.getElementTypeBitWidth() / 8;
    }
  return bytes;
}

/// Sums of products and the like: each vector that is loaded serves several
/// rows of the result.
static void chooseUnrolled(linalg::LinalgOp op, VectorPlan &plan) {
  constexpr int64_t accumulators = 24;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  if (op.getNumReductionLoops() == 0 || plan.argExtremum)
    return;
  auto isShared = [&](unsigned dim) {
    return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
      return plan.strides[input->getOperandNumber()] != 0 &&
             !dependsOn(op, *input, dim);
    });
  };
  SmallVector<unsigned> dims;
  for (unsigned dim = 0; dim < extents.size(); ++dim)
    if (dim != plan.dim && kinds[dim] == utils::IteratorType::parallel &&
        extents[dim] > 1 && isShared(dim))
      dims.push_back(dim);
  if (dims.empty())
    return;
  // The longest ones.
  llvm::sort(dims, [&](unsigned left, unsigned right) {
    return std::tie(extents[right], left) < std::tie(extents[left], right);
  });
  if (plan.isReduction && dims.size() > 1) {
    plan.wide = plan.lanes;
    for (unsigned dim : ArrayRef(dims).take_front(2))
      plan.unrolled.push_back({dim, chooseFactor(extents[dim], 4)});
    return;
  }
  unsigned dim = dims.front();
  int64_t vectors =
      std::min(plan.wide, std::max(extents[plan.dim], plan.lanes)) / plan.lanes;
  int64_t most = std::clamp<int64_t>(accumulators / vectors, 1, 12);
  plan.unrolled.push_back({dim, chooseFactor(extents[dim], most)});
  // What is read again in each iteration of the outer loop: all that varies
  // along the inner one only.
  auto steps =
      static_cast<double>(llvm::divideCeilSigned(extents[plan.dim], plan.wide));
  auto rows = static_cast<double>(
      llvm::divideCeilSigned(extents[dim], plan.unrolled.front().factor));
  plan.stepsOutside =
      !plan.isReduction &&
      getBytes(op, plan.dim, dim) * rows > getBytes(op, dim, plan.dim) * steps;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static std::optional<VectorPlan> makePlan(linalg::LinalgOp op, unsigned dim,
                                          int64_t vectorBytes) {
  VectorPlan plan;
  plan.dim = dim;
  plan.isReduction =
      op.getIteratorTypesArray()[dim] == utils::IteratorType::reduction;
  int64_t bits = 8;
  for (OpOperand &operand : op->getOpOperands()) {
    Type element = getElementTypeOrSelf(operand.get().getType());
    bits = std::max<int64_t>(bits, element.getIntOrFloatBitWidth());
    std::optional<int64_t> stride = getStride(op, operand, dim);
    if (!stride ||
        (op.isDpsInit(&operand) && (*stride != 0) == plan.isReduction))
      return std::nullopt;
    plan.strides.push_back(*stride);
  }
  plan.lanes = std::max<int64_t>(vectorBytes * 8 / bits, 2);
  bool costly = llvm::any_of(*op.getBlock(), [](Operation &inner) {
    return isa<math::MathDialect>(inner.getDialect());
  });
  plan.wide = plan.lanes * (costly ? 2 : 4);
  if (plan.isReduction && !setCombiners(op, plan))
    return std::nullopt;
  if (!costly)
    chooseUnrolled(op, plan);
  return plan;
}

std::optional<VectorPlan> cwm::planVectors(linalg::LinalgOp op,
                                           int64_t vectorBytes) {
  if (!op.hasPureBufferSemantics() || op.hasDynamicShape() ||
      op->getNumRegions() != 1 || !hasVectorBody(op) ||
      op.getNumDpsInits() == 0)
    return std::nullopt;
  for (Value operand : op->getOperands())
    if (!isElementType(getElementTypeOrSelf(operand.getType())))
      return std::nullopt;
  std::optional<VectorPlan> best;
  double bestScore = 0;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (unsigned dim = 0; dim < extents.size(); ++dim) {
    std::optional<VectorPlan> plan = makePlan(op, dim, vectorBytes);
    if (!plan)
      continue;
    // Vectors as full as possible; sums across the lanes of a vector cost about
    // two of its loads, and so do elements that are picked out of vectors.
    auto extent = static_cast<double>(extents[dim]);
    auto lanes = static_cast<double>(plan->lanes);
    double score = std::min(extent, lanes) / lanes;
    if (plan->isReduction)
      score *= extent / (extent + 2 * lanes);
    for (int64_t stride : plan->strides)
      if (stride > 1)
        score /= 2.0;
    // Short vectors lose against what LLVM makes of scalar loops.
    if (score * 8 >= 1 && score > bestScore) {
      best = std::move(plan);
      bestScore = score;
    }
  }
  return best;
}
