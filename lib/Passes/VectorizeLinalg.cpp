//===- VectorizeLinalg.cpp - What no schedule has vectorised ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One dimension of each op becomes the vectorised one: walked along in wide
// steps, then in steps of one vector, then by a shorter vector for the rest.
// Loops around it: parallel ones first, reductions inside, so that results stay
// in registers. Values that do not vary along the dimension stay scalars.
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace cwm {
#define GEN_PASS_DEF_VECTORIZELINALG
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

namespace {
/// How an op is vectorised.
struct Plan {
  unsigned dim = 0;
  bool isReduction = false;
  /// Elements of one vector, and of a wide step.
  int64_t lanes = 0, wide = 0;
  /// For each operand: it varies along the dimension.
  SmallVector<bool> varies;
  /// For a reduction along the dimension: how each result is combined.
  SmallVector<Operation *> combiners;
};
} // namespace

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

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

/// The factor of dimension `dim` in `expr`, if `expr` is linear in it.
static std::optional<int64_t> getFactor(AffineExpr expr, unsigned dim,
                                        unsigned numDims) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  MLIRContext *context = expr.getContext();
  AffineExpr rest = expr.replace(getAffineDimExpr(dim, context),
                                 getAffineConstantExpr(0, context));
  for (int64_t factor : {1, -1}) {
    AffineExpr linear = rest + getAffineDimExpr(dim, context) * factor;
    if (simplifyAffineExpr(expr - linear, numDims, 0) ==
        getAffineConstantExpr(0, context))
      return factor;
  }
  return std::nullopt;
}

/// Whether `operand` varies along `dim`; nullopt when it does, but its elements
/// are not contiguous.
static std::optional<bool> getVariation(linalg::LinalgOp op, OpOperand &operand,
                                        unsigned dim) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  bool varies = false;
  for (auto [position, expr] : llvm::enumerate(map.getResults())) {
    std::optional<int64_t> factor = getFactor(expr, dim, map.getNumDims());
    if (factor == 0)
      continue;
    if (factor != 1 || position + 1 != map.getNumResults())
      return std::nullopt;
    varies = true;
  }
  if (varies &&
      !cast<MemRefType>(operand.get().getType()).isLastDimUnitStride())
    return std::nullopt;
  return varies;
}

static std::optional<Plan> makePlan(linalg::LinalgOp op, unsigned dim,
                                    int64_t vectorBytes) {
  Plan plan;
  plan.dim = dim;
  plan.isReduction =
      op.getIteratorTypesArray()[dim] == utils::IteratorType::reduction;
  int64_t bits = 8;
  for (OpOperand &operand : op->getOpOperands()) {
    Type element = getElementTypeOrSelf(operand.get().getType());
    bits = std::max<int64_t>(bits, element.getIntOrFloatBitWidth());
    if (!isa<MemRefType>(operand.get().getType())) {
      plan.varies.push_back(false);
      continue;
    }
    std::optional<bool> varies = getVariation(op, operand, dim);
    if (!varies || (op.isDpsInit(&operand) && *varies == plan.isReduction))
      return std::nullopt;
    plan.varies.push_back(*varies);
  }
  plan.lanes = std::max<int64_t>(vectorBytes * 8 / bits, 2);
  bool costly = llvm::any_of(*op.getBlock(), [](Operation &inner) {
    return isa<math::MathDialect>(inner.getDialect());
  });
  plan.wide = plan.lanes * (costly ? 2 : 4);
  if (!plan.isReduction)
    return plan;
  for (auto [index, arg] : llvm::enumerate(op.getRegionOutputArgs())) {
    SmallVector<Operation *, 4> combiners;
    if (!matchReduction(op.getRegionOutputArgs(), index, combiners) ||
        combiners.size() != 1 ||
        !linalg::getCombinerOpKind(combiners.front()) ||
        !arith::getNeutralElement(combiners.front()))
      return std::nullopt;
    plan.combiners.push_back(combiners.front());
  }
  return plan;
}

/// The best dimension: vectors as full as possible; sums across the lanes of a
/// vector cost about two of its loads.
static std::optional<Plan> choosePlan(linalg::LinalgOp op,
                                      int64_t vectorBytes) {
  if (!op.hasPureBufferSemantics() || op.hasDynamicShape() ||
      op->getNumRegions() != 1 || !hasVectorBody(op) ||
      op.getNumDpsInits() == 0)
    return std::nullopt;
  for (Value operand : op->getOperands())
    if (!isElementType(getElementTypeOrSelf(operand.getType())))
      return std::nullopt;
  std::optional<Plan> best;
  double bestScore = 0;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (unsigned dim = 0; dim < extents.size(); ++dim) {
    std::optional<Plan> plan = makePlan(op, dim, vectorBytes);
    if (!plan)
      continue;
    double extent = static_cast<double>(extents[dim]);
    double lanes = static_cast<double>(plan->lanes);
    double score = std::min(extent, lanes) / lanes;
    if (plan->isReduction)
      score *= extent / (extent + 2 * lanes);
    // Short vectors lose against what LLVM makes of scalar loops.
    if (score * 8 >= 1 && score > bestScore) {
      best = plan;
      bestScore = score;
    }
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

namespace {
class Emitter {
public:
  Emitter(linalg::LinalgOp op, const Plan &plan, RewriterBase &rewriter)
      : op(op), plan(plan), builder(op.getLoc(), rewriter),
        extents(op.getStaticLoopRanges()), indices(extents.size()) {}

  void run() {
    SmallVector<unsigned> outer, inner;
    for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
      if (dim != plan.dim)
        (kind == utils::IteratorType::reduction ? inner : outer).push_back(dim);
    reductions = inner;
    emitLoops(outer, [&] { emitResults(); });
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, value);
  }

  /// Loops over all of `dims` around what `body` emits.
  void emitLoops(ArrayRef<unsigned> dims, llvm::function_ref<void()> body) {
    if (dims.empty())
      return body();
    emitFor(0, extents[dims.front()], 1, {}, [&](Value index, ValueRange) {
      indices[dims.front()] = index;
      emitLoops(dims.drop_front(), body);
      return SmallVector<Value>();
    });
  }

  using Body = llvm::function_ref<SmallVector<Value>(Value, ValueRange)>;

  /// A loop, or its body once or not at all.
  SmallVector<Value> emitFor(int64_t from, int64_t to, int64_t step,
                             ValueRange init, Body body) {
    if (from >= to)
      return llvm::to_vector(init);
    if (from + step >= to)
      return body(constant(from), init);
    auto loop = scf::ForOp::create(builder, constant(from), constant(to),
                                   constant(step), init);
    OpBuilder::InsertionGuard guard(builder);
    // Without carried values the builder has made the terminator.
    if (init.empty())
      builder.setInsertionPoint(loop.getBody()->getTerminator());
    else
      builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> results =
        body(loop.getInductionVar(), loop.getRegionIterArgs());
    if (!init.empty())
      scf::YieldOp::create(builder, results);
    return SmallVector<Value>(loop.getResults());
  }

  /// Calls `body(index, width)` along the vectorised dimension.
  SmallVector<Value>
  emitSteps(ValueRange init,
            llvm::function_ref<SmallVector<Value>(int64_t, ValueRange)> body) {
    int64_t extent = extents[plan.dim], from = 0;
    SmallVector<Value> values = llvm::to_vector(init);
    for (int64_t width : {plan.wide, plan.lanes}) {
      int64_t to = extent / width * width;
      values = emitFor(from, to, width, values,
                       [&](Value index, ValueRange carried) {
                         indices[plan.dim] = index;
                         return body(width, carried);
                       });
      from = std::max(from, to);
    }
    if (from == extent)
      return values;
    indices[plan.dim] = constant(from);
    return body(extent - from, values);
  }

  /// All results for one setting of the parallel loops.
  void emitResults() {
    if (plan.isReduction) {
      SmallVector<Value> values;
      for (OpOperand &init : op.getDpsInitsMutable())
        values.push_back(emitLoad(init, 1));
      values = emitReductions(reductions, values, [&](ValueRange carried) {
        return emitAlong(carried);
      });
      emitStores(values, 1);
      return;
    }
    emitSteps({}, [&](int64_t width, ValueRange) {
      SmallVector<Value> values;
      for (OpOperand &init : op.getDpsInitsMutable())
        values.push_back(emitLoad(init, width));
      values = emitReductions(reductions, values, [&](ValueRange carried) {
        return emitBody(width, carried);
      });
      emitStores(values, width);
      return SmallVector<Value>();
    });
  }

  SmallVector<Value>
  emitReductions(ArrayRef<unsigned> dims, ValueRange init,
                 llvm::function_ref<SmallVector<Value>(ValueRange)> body) {
    if (dims.empty())
      return body(init);
    return emitFor(0, extents[dims.front()], 1, init,
                   [&](Value index, ValueRange carried) {
                     indices[dims.front()] = index;
                     return emitReductions(dims.drop_front(), carried, body);
                   });
  }

  /// The reduction along the vectorised dimension, on top of `init`.
  SmallVector<Value> emitAlong(ValueRange init) {
    SmallVector<Value> values = llvm::to_vector(init);
    int64_t extent = extents[plan.dim], from = 0;
    for (int64_t width : {plan.wide, plan.lanes, extent % plan.lanes}) {
      int64_t to = width ? from + (extent - from) / width * width : from;
      if (to == from)
        continue;
      SmallVector<Value> partial;
      for (Operation *combiner : plan.combiners) {
        auto type = VectorType::get(width, combiner->getResult(0).getType());
        TypedAttr neutral = *arith::getNeutralElement(combiner);
        partial.push_back(arith::ConstantOp::create(
            builder, SplatElementsAttr::get(type, neutral)));
      }
      partial = emitFor(from, to, width, partial,
                        [&](Value index, ValueRange carried) {
                          indices[plan.dim] = index;
                          return emitBody(width, carried);
                        });
      for (auto [index, combiner] : llvm::enumerate(plan.combiners))
        values[index] = vector::ReductionOp::create(
            builder, *linalg::getCombinerOpKind(combiner), partial[index],
            values[index]);
      from = to;
    }
    return values;
  }

  SmallVector<Value> getIndices(OpOperand &operand) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<Value> result;
    for (AffineExpr expr : map.getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        result.push_back(indices[dim.getPosition()]);
        continue;
      }
      // The index of a dimension that is not used may be out of scope.
      SmallVector<Value> operands;
      for (auto [dim, index] : llvm::enumerate(indices))
        operands.push_back(expr.isFunctionOfDim(dim) ? index : constant(0));
      result.push_back(affine::AffineApplyOp::create(
          builder, AffineMap::get(map.getNumDims(), 0, expr), operands));
    }
    return result;
  }

  Value emitLoad(OpOperand &operand, int64_t width) {
    Value source = operand.get();
    auto type = dyn_cast<MemRefType>(source.getType());
    if (!type)
      return source;
    if (!plan.varies[operand.getOperandNumber()])
      return memref::LoadOp::create(builder, source, getIndices(operand));
    return vector::LoadOp::create(builder,
                                  VectorType::get(width, type.getElementType()),
                                  source, getIndices(operand));
  }

  void emitStores(ValueRange values, int64_t width) {
    for (auto [value, init] :
         llvm::zip_equal(values, op.getDpsInitsMutable())) {
      if (!plan.varies[init.getOperandNumber()]) {
        memref::StoreOp::create(builder, value, init.get(), getIndices(init));
        continue;
      }
      vector::StoreOp::create(builder, widen(value, width), init.get(),
                              getIndices(init));
    }
  }

  Value widen(Value value, int64_t width) {
    if (isa<VectorType>(value.getType()))
      return value;
    return vector::BroadcastOp::create(
        builder, VectorType::get(width, value.getType()), value);
  }

  /// One step: `carried` are the results so far.
  SmallVector<Value> emitBody(int64_t width, ValueRange carried) {
    IRMapping mapping;
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument arg = op.getMatchingBlockArgument(input);
      if (!arg.use_empty())
        mapping.map(arg, emitLoad(*input, width));
    }
    for (auto [arg, value] : llvm::zip_equal(op.getRegionOutputArgs(), carried))
      mapping.map(arg, value);
    for (Operation &inner : op.getBlock()->without_terminator())
      emitInner(inner, mapping, width);
    SmallVector<Value> results;
    for (auto [value, old] : llvm::zip_equal(
             op.getBlock()->getTerminator()->getOperands(), carried)) {
      Value result = mapping.lookupOrDefault(value);
      results.push_back(isa<VectorType>(old.getType()) ? widen(result, width)
                                                       : result);
    }
    return results;
  }

  void emitInner(Operation &inner, IRMapping &mapping, int64_t width) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      Value value = indices[index.getDim()];
      if (index.getDim() == plan.dim) {
        auto type = VectorType::get(width, builder.getIndexType());
        value = arith::AddIOp::create(builder, widen(value, width),
                                      vector::StepOp::create(builder, type));
      }
      mapping.map(index.getResult(), value);
      return;
    }
    auto isVector = [&](Value operand) {
      return isa<VectorType>(mapping.lookupOrDefault(operand).getType());
    };
    if (llvm::none_of(inner.getOperands(), isVector)) {
      builder.clone(inner, mapping);
      return;
    }
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(widen(mapping.lookupOrDefault(operand), width));
    Type type = VectorType::get(width, inner.getResult(0).getType());
    Operation *wide =
        builder.create(inner.getLoc(), inner.getName().getIdentifier(),
                       operands, type, inner.getAttrs());
    mapping.map(inner.getResult(0), wide->getResult(0));
  }

  linalg::LinalgOp op;
  const Plan &plan;
  ImplicitLocOpBuilder builder;
  SmallVector<int64_t> extents;
  /// Current index of each dimension; null outside its loop.
  SmallVector<Value> indices;
  SmallVector<unsigned> reductions;
};

struct VectorizeLinalg : cwm::impl::VectorizeLinalgBase<VectorizeLinalg> {
  using VectorizeLinalgBase::VectorizeLinalgBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      op = collapse(op, rewriter);
      std::optional<Plan> plan = choosePlan(op, vectorBytes);
      if (!plan)
        continue;
      rewriter.setInsertionPoint(op);
      Emitter(op, *plan, rewriter).run();
      rewriter.eraseOp(op);
    }
  }

  /// Merges loops that walk along neighbouring dimensions in all operands.
  static linalg::LinalgOp collapse(linalg::LinalgOp op,
                                   RewriterBase &rewriter) {
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic || !generic.hasPureBufferSemantics() ||
        generic.hasDynamicShape())
      return op;
    SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
    for (AffineMap map : maps)
      if (!map.isProjectedPermutation())
        return op;
    SmallVector<utils::IteratorType> kinds = generic.getIteratorTypesArray();
    SmallVector<ReassociationIndices> groups;
    for (unsigned dim = 0; dim < kinds.size(); ++dim) {
      int64_t last = dim;
      if (!groups.empty() && kinds[groups.back().back()] == kinds[dim]) {
        ReassociationIndices longer = groups.back();
        longer.push_back(last);
        if (linalg::areDimSequencesPreserved(maps, longer)) {
          groups.back() = longer;
          continue;
        }
      }
      groups.push_back({last});
    }
    llvm::erase_if(groups, [](const auto &group) { return group.size() < 2; });
    if (groups.empty())
      return op;
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::CollapseResult> result =
        linalg::collapseOpIterationDims(op, groups, rewriter);
    if (failed(result))
      return op;
    rewriter.eraseOp(op);
    return result->collapsedOp;
  }
};
} // namespace
