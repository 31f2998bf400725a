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
// in registers; of some, several elements together. Values that do not vary
// along the dimension stay scalars.
//
//===----------------------------------------------------------------------===//

#include "VectorizePlan.h"

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
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
using namespace cwm;

namespace {
class Emitter {
public:
  Emitter(linalg::LinalgOp op, const VectorPlan &plan, RewriterBase &rewriter)
      : op(op), plan(plan), builder(op.getLoc(), rewriter),
        extents(op.getStaticLoopRanges()), indices(extents.size()) {}

  void run() {
    SmallVector<unsigned> outer;
    SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    for (unsigned dim = 0; dim < kinds.size(); ++dim) {
      bool isUnrolled = llvm::any_of(
          plan.unrolled, [dim](const auto &entry) { return entry.dim == dim; });
      if (dim != plan.dim && !isUnrolled)
        (kinds[dim] == utils::IteratorType::reduction ? reductions : outer)
            .push_back(dim);
    }
    emitLoops(outer, [&] {
      if (plan.isReduction)
        emitTiles(plan.unrolled, [&] { emitReduction(); });
      else if (plan.stepsOutside)
        emitSteps([&](int64_t width) {
          emitTiles(plan.unrolled, [&] { emitResults(width); });
        });
      else
        emitTiles(plan.unrolled, [&] {
          emitSteps([&](int64_t width) { emitResults(width); });
        });
    });
  }

private:
  /// The width of what is no vector.
  static constexpr int64_t scalar = 0;

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

  /// Calls `body(width)` along the vectorised dimension.
  void emitSteps(llvm::function_ref<void(int64_t)> body) {
    int64_t extent = extents[plan.dim], from = 0;
    for (int64_t width : {plan.wide, plan.lanes}) {
      int64_t to = extent / width * width;
      emitFor(from, to, width, {}, [&](Value index, ValueRange) {
        indices[plan.dim] = index;
        body(width);
        return SmallVector<Value>();
      });
      from = std::max(from, to);
    }
    if (from == extent)
      return;
    indices[plan.dim] = constant(from);
    body(extent - from);
  }

  /// Loops over `dims` in steps of several elements, the rest of them as a step
  /// of its own; `points` then are all elements of a step.
  void emitTiles(ArrayRef<VectorPlan::Unrolled> dims,
                 llvm::function_ref<void()> body) {
    if (dims.empty())
      return body();
    unsigned dim = dims.front().dim;
    int64_t factor = dims.front().factor;
    auto emitTile = [&](Value index, int64_t count) {
      std::vector<Point> outer = std::move(points);
      points.clear();
      for (const Point &point : outer)
        for (int64_t offset = 0; offset < count; ++offset) {
          Value place = offset == 0 ? index
                                    : arith::AddIOp::create(builder, index,
                                                            constant(offset));
          points.push_back(point);
          points.back().emplace_back(dim, place);
        }
      emitTiles(dims.drop_front(), body);
      points = std::move(outer);
    };
    int64_t whole = extents[dim] / factor * factor;
    emitFor(0, whole, factor, {}, [&](Value index, ValueRange) {
      emitTile(index, factor);
      return SmallVector<Value>();
    });
    if (whole < extents[dim])
      emitTile(constant(whole), extents[dim] - whole);
  }

  /// Calls `body` at each element of the tile.
  void forEachPoint(llvm::function_ref<void(size_t)> body) {
    for (auto [number, point] : llvm::enumerate(points)) {
      for (auto [dim, place] : point)
        indices[dim] = place;
      body(number);
    }
  }

  /// All values so far, of all elements of the tile.
  SmallVector<Value> emitInits(int64_t width) {
    SmallVector<Value> values;
    forEachPoint([&](size_t) {
      for (OpOperand &init : op.getDpsInitsMutable())
        values.push_back(emitLoad(init, width));
    });
    return values;
  }

  ArrayRef<Value> getValuesAt(size_t point, ArrayRef<Value> values) {
    size_t count = op.getNumDpsInits();
    return values.slice(point * count, count);
  }

  /// One step for all elements of the tile.
  SmallVector<Value> emitPoints(int64_t width, ValueRange carried) {
    SmallVector<Value> before(carried), after;
    forEachPoint([&](size_t point) {
      llvm::append_range(after, emitBody(width, getValuesAt(point, before)));
    });
    return after;
  }

  void emitAllStores(ArrayRef<Value> values, int64_t width) {
    forEachPoint(
        [&](size_t point) { emitStores(getValuesAt(point, values), width); });
  }

  /// The results of a tile, vectors along a dimension of theirs.
  void emitResults(int64_t width) {
    SmallVector<Value> values =
        emitReductions(reductions, emitInits(width), [&](ValueRange carried) {
          return emitPoints(width, carried);
        });
    emitAllStores(values, width);
  }

  /// The results of a tile, which are reduced along the vectors.
  void emitReduction() {
    SmallVector<Value> values =
        emitReductions(reductions, emitInits(1),
                       [&](ValueRange carried) { return emitAlong(carried); });
    emitAllStores(values, 1);
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

  /// What a lane starts with: nothing, or where a lane cannot tell, `value`.
  Value emitLaneInit(size_t result, Value value, int64_t width) {
    if (plan.argExtremum)
      return widen(value, width);
    Operation *combiner = plan.combiners[result];
    auto type = VectorType::get(width, combiner->getResult(0).getType());
    TypedAttr neutral = *arith::getNeutralElement(combiner);
    return arith::ConstantOp::create(builder,
                                     SplatElementsAttr::get(type, neutral));
  }

  /// The reduction along the vectorised dimension, on top of `init`.
  SmallVector<Value> emitAlong(ValueRange init) {
    SmallVector<Value> values = llvm::to_vector(init);
    size_t numResults = op.getNumDpsInits();
    int64_t extent = extents[plan.dim], from = 0;
    for (int64_t width : {plan.wide, plan.lanes, extent % plan.lanes}) {
      int64_t to = width ? from + (extent - from) / width * width : from;
      if (to == from)
        continue;
      SmallVector<Value> partial;
      for (auto [number, value] : llvm::enumerate(values))
        partial.push_back(emitLaneInit(number % numResults, value, width));
      partial = emitFor(from, to, width, partial,
                        [&](Value index, ValueRange carried) {
                          indices[plan.dim] = index;
                          return emitPoints(width, carried);
                        });
      if (plan.argExtremum)
        values = combineExtremum(partial, width);
      else
        for (auto [number, lanes] : llvm::enumerate(partial))
          values[number] = vector::ReductionOp::create(
              builder,
              *linalg::getCombinerOpKind(plan.combiners[number % numResults]),
              lanes, values[number]);
      from = to;
    }
    if (plan.argExtremum && plan.argExtremum->propagatesNaN)
      return emitIfNaN(values, init);
    return values;
  }

  /// Each lane has the first of its indices: the first of all is the least of
  /// those whose lanes have the value.
  SmallVector<Value> combineExtremum(ArrayRef<Value> lanes, int64_t width) {
    const ArgExtremum &extremum = *plan.argExtremum;
    Value values = lanes[extremum.value], places = lanes[extremum.index];
    Value value = vector::ReductionOp::create(builder, extremum.kind, values);
    Value everywhere = widen(value, width);
    Value isThere =
        isa<FloatType>(value.getType())
            ? Value(arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ,
                                          values, everywhere))
            : Value(arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                          values, everywhere));
    auto type = cast<VectorType>(places.getType());
    auto element = cast<IntegerType>(type.getElementType());
    Value nowhere = arith::ConstantOp::create(
        builder, DenseElementsAttr::get(
                     type, APInt::getSignedMaxValue(element.getWidth())));
    places = arith::SelectOp::create(builder, isThere, places, nowhere);
    SmallVector<Value> result(2);
    result[extremum.value] = value;
    result[extremum.index] = vector::ReductionOp::create(
        builder, vector::CombiningKind::MINSI, places);
    return result;
  }

  /// `values`, or where the extremum is NaN what single steps from `init` give.
  SmallVector<Value> emitIfNaN(ArrayRef<Value> values, ValueRange init) {
    Value value = values[plan.argExtremum->value];
    Value isNaN =
        arith::CmpFOp::create(builder, arith::CmpFPredicate::UNO, value, value);
    auto choice = scf::IfOp::create(builder, TypeRange(ValueRange(values)),
                                    isNaN, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(choice.thenBlock());
    SmallVector<Value> steps = emitFor(0, extents[plan.dim], 1, init,
                                       [&](Value index, ValueRange carried) {
                                         indices[plan.dim] = index;
                                         return emitPoints(scalar, carried);
                                       });
    scf::YieldOp::create(builder, steps);
    builder.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(builder, values);
    return SmallVector<Value>(choice.getResults());
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
    int64_t stride = plan.strides[operand.getOperandNumber()];
    if (stride == 0 || width == scalar)
      return memref::LoadOp::create(builder, source, getIndices(operand));
    // No further than the last element: what lies behind it may not be ours.
    int64_t span = (width - 1) * stride + 1;
    Value loaded = vector::LoadOp::create(
        builder, VectorType::get(span, type.getElementType()), source,
        getIndices(operand));
    if (stride == 1)
      return loaded;
    SmallVector<int64_t> picked;
    for (int64_t lane = 0; lane < width; ++lane)
      picked.push_back(lane * stride);
    return vector::ShuffleOp::create(builder, loaded, loaded, picked);
  }

  void emitStores(ValueRange values, int64_t width) {
    for (auto [value, init] :
         llvm::zip_equal(values, op.getDpsInitsMutable())) {
      if (plan.strides[init.getOperandNumber()] == 0) {
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
      if (index.getDim() == plan.dim && width != scalar) {
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
  const VectorPlan &plan;
  ImplicitLocOpBuilder builder;
  SmallVector<int64_t> extents;
  /// Current index of each dimension; null outside its loop.
  SmallVector<Value> indices;
  SmallVector<unsigned> reductions;
  /// Indices of some dimensions.
  using Point = SmallVector<std::pair<unsigned, Value>, 2>;
  std::vector<Point> points{Point()};
};

struct VectorizeLinalg : cwm::impl::VectorizeLinalgBase<VectorizeLinalg> {
  using VectorizeLinalgBase::VectorizeLinalgBase;

  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      op = collapse(op, rewriter);
      std::optional<VectorPlan> plan = planVectors(op, vectorBytes);
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
