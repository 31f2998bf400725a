//===- ParallelLoops.cpp - Check of parallel loops --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/TransformExt/ParallelLoops.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/IR/AffineValueMap.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace cwm;

#define GET_OP_CLASSES
#include "cwm/TransformExt/ParallelLoops.cpp.inc"

using Bounds = ValueBoundsConstraintSet;

const llvm::StringLiteral cwm::sharedElementsRule =
    "threads may touch the same elements: ";

/// Iterations of an induction variable; nullopt when that is not known.
static std::optional<int64_t> getNumIterations(scf::ForallOp loop,
                                               unsigned dim) {
  std::optional<int64_t> lower =
      getConstantIntValue(loop.getMixedLowerBound()[dim]);
  std::optional<int64_t> upper =
      getConstantIntValue(loop.getMixedUpperBound()[dim]);
  std::optional<int64_t> step = getConstantIntValue(loop.getMixedStep()[dim]);
  if (!lower || !upper || !step || *step <= 0)
    return std::nullopt;
  return *upper <= *lower ? 0 : llvm::divideCeil(*upper - *lower, *step);
}

namespace {
/// An offset as a sum: `factor` times one induction variable of the loop, and
/// what is the same in all iterations.
struct Movement {
  unsigned variable;
  int64_t factor;
};
} // namespace

/// How the iterations of `loop` move an offset; nothing when none does, when
/// several variables do or when the offset is not linear in it.
static std::optional<Movement> getMovement(scf::ForallOp loop,
                                           OpFoldResult offset) {
  auto value = dyn_cast<Value>(offset);
  if (!value)
    return std::nullopt;
  SmallVector<Value> operands{value};
  AffineMap map = AffineMap::getMultiDimIdentityMap(1, loop.getContext());
  affine::fullyComposeAffineMapAndOperands(&map, &operands);
  std::optional<Movement> movement;
  for (auto [position, operand] : llvm::enumerate(operands)) {
    AffineExpr symbol = position < map.getNumDims()
                            ? getAffineDimExpr(position, loop.getContext())
                            : getAffineSymbolExpr(position - map.getNumDims(),
                                                  loop.getContext());
    if (!map.getResult(0).isFunctionOfDim(position) &&
        position < map.getNumDims())
      continue;
    auto argument = dyn_cast<BlockArgument>(operand);
    bool isVariable = argument && argument.getOwner() == loop.getBody();
    if (!isVariable) {
      // The same in all iterations only if it comes from outside.
      if (loop->isAncestor(operand.getParentBlock()->getParentOp()))
        return std::nullopt;
      continue;
    }
    // The difference of two neighbours must be a constant.
    AffineExpr next = map.getResult(0).replace(symbol, symbol + 1);
    AffineExpr difference = simplifyAffineExpr(
        next - map.getResult(0), map.getNumDims(), map.getNumSymbols());
    auto factor = dyn_cast<AffineConstantExpr>(difference);
    if (!factor || movement)
      return std::nullopt;
    if (factor.getValue() != 0)
      movement = Movement{argument.getArgNumber(), factor.getValue()};
  }
  return movement;
}

/// Elements from the first to the last of a dimension of a slice.
static std::optional<int64_t> getSpan(OpFoldResult size, OpFoldResult stride) {
  std::optional<int64_t> step = getConstantIntValue(stride);
  FailureOr<int64_t> extent = Bounds::computeConstantBound(
      presburger::BoundType::UB, Bounds::Variable(size),
      /*stopCondition=*/nullptr, /*closedUB=*/true);
  if (failed(extent) || !step || *step < 1)
    return std::nullopt;
  return *extent == 0 ? 0 : (*extent - 1) * *step + 1;
}

namespace {
/// A dimension in which an induction variable keeps iterations apart, and how
/// far from the offset its region reaches.
struct Lane {
  unsigned dim;
  int64_t width;
};
} // namespace

/// The dimension of `slice` in which iterations of `variable` are apart.
static std::optional<Lane> findLane(scf::ForallOp loop,
                                    tensor::ParallelInsertSliceOp slice,
                                    unsigned variable) {
  std::optional<int64_t> step =
      getConstantIntValue(loop.getMixedStep()[variable]);
  if (!step)
    return std::nullopt;
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes(),
                       slice.getMixedStrides())) {
    std::optional<Movement> movement = getMovement(loop, offset);
    std::optional<int64_t> span = getSpan(size, stride);
    if (movement && span && movement->variable == variable &&
        std::abs(movement->factor) * *step >= *span)
      return Lane{static_cast<unsigned>(dim),
                  std::abs(movement->factor) * *step};
  }
  return std::nullopt;
}

/// True when [offset, offset + size) of a dimension lies within the `width`
/// elements from `begin`.
static bool isWithin(OpFoldResult offset, OpFoldResult size, int64_t strideSpan,
                     OpFoldResult begin, int64_t width) {
  if (isEqualConstantIntOrValue(offset, begin))
    return strideSpan <= width;
  MLIRContext *context = offset.getContext();
  AffineExpr d0, d1, d2;
  bindDims(context, d0, d1, d2);
  Bounds::Variable distance(
      AffineMap::get(2, 0, d0 - d1),
      ArrayRef<Bounds::Variable>{Bounds::Variable(offset),
                                 Bounds::Variable(begin)});
  FailureOr<int64_t> least =
      Bounds::computeConstantBound(presburger::BoundType::LB, distance);
  if (failed(least) || *least < 0)
    return false;
  FailureOr<int64_t> most = Bounds::computeConstantBound(
      presburger::BoundType::UB,
      Bounds::Variable(AffineMap::get(3, 0, d0 + d2 - d1),
                       ArrayRef<Bounds::Variable>{Bounds::Variable(offset),
                                                  Bounds::Variable(begin),
                                                  Bounds::Variable(size)}),
      /*stopCondition=*/nullptr, /*closedUB=*/true);
  return succeeded(most) && *most <= width;
}

/// True when `op`, which reads a shared output, stays within the lanes of
/// `slice`.
static bool readsOwnRegion(Operation *op, tensor::ParallelInsertSliceOp slice,
                           ArrayRef<Lane> lanes) {
  SmallVector<OpFoldResult> begin = slice.getMixedOffsets();
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op)) {
    SmallVector<OpFoldResult> offsets = extract.getMixedOffsets();
    SmallVector<OpFoldResult> sizes = extract.getMixedSizes();
    SmallVector<OpFoldResult> strides = extract.getMixedStrides();
    return llvm::all_of(lanes, [&](Lane lane) {
      std::optional<int64_t> span = getSpan(sizes[lane.dim], strides[lane.dim]);
      return isConstantIntValue(strides[lane.dim], 1) && span &&
             isWithin(offsets[lane.dim], sizes[lane.dim], *span,
                      begin[lane.dim], lane.width);
    });
  }
  if (auto read = dyn_cast<vector::TransferReadOp>(op)) {
    // A vector reaches from its indices as far as its shape.
    AffineMap map = read.getPermutationMap();
    Builder builder(op->getContext());
    return llvm::all_of(lanes, [&](Lane lane) {
      int64_t extent = 1;
      for (auto [position, expr] : llvm::enumerate(map.getResults()))
        if (expr.isFunctionOfDim(lane.dim))
          extent = read.getVectorType().getDimSize(position);
      return isWithin(read.getIndices()[lane.dim], builder.getIndexAttr(extent),
                      extent, begin[lane.dim], lane.width);
    });
  }
  return isa<tensor::DimOp>(op);
}

/// Of one result: its insertions, and what reads it in the loop.
static std::optional<std::string>
checkOutput(scf::ForallOp loop, BlockArgument output,
            ArrayRef<tensor::ParallelInsertSliceOp> slices) {
  if (slices.empty())
    return std::nullopt;
  auto describe = [&](const Twine &what) {
    return (sharedElementsRule + "in result #" +
            Twine(output.getArgNumber() - loop.getRank()) +
            " of a parallel loop " + what)
        .str();
  };
  if (slices.size() > 1)
    return describe("each iteration inserts " + Twine(slices.size()) +
                    " slices; one is expected");
  tensor::ParallelInsertSliceOp slice = slices.front();
  SmallVector<Lane> lanes;
  for (unsigned variable = 0, rank = static_cast<unsigned>(loop.getRank());
       variable < rank; ++variable) {
    std::optional<int64_t> count = getNumIterations(loop, variable);
    if (count && *count <= 1)
      continue;
    std::optional<Lane> lane = findLane(loop, slice, variable);
    if (!lane)
      return describe("iterations of its dimension #" + Twine(variable) +
                      " do not insert next to each other; a dimension of a "
                      "reduction cannot be parallel");
    lanes.push_back(*lane);
  }
  for (Operation *user : output.getUsers())
    if (user != slice && !readsOwnRegion(user, slice, lanes))
      return describe("'" + user->getName().getStringRef() +
                      "' reads what other iterations may write");
  return std::nullopt;
}

std::optional<std::string> cwm::findSharedElements(scf::ForallOp loop) {
  llvm::DenseMap<Value, SmallVector<tensor::ParallelInsertSliceOp>> insertions;
  for (Operation &op : loop.getTerminator().getYieldingOps()) {
    auto slice = dyn_cast<tensor::ParallelInsertSliceOp>(op);
    if (!slice)
      return (sharedElementsRule + "'" + op.getName().getStringRef() +
              "' ends a parallel loop; tensor.parallel_insert_slice is "
              "expected")
          .str();
    insertions[slice.getDest()].push_back(slice);
  }
  for (BlockArgument output : loop.getRegionIterArgs())
    if (std::optional<std::string> why =
            checkOutput(loop, output, insertions.lookup(output)))
      return why;
  return std::nullopt;
}

std::optional<std::pair<scf::ForallOp, std::string>>
cwm::findSharedElementsWithin(Operation *root) {
  std::optional<std::pair<scf::ForallOp, std::string>> found;
  root->walk([&](scf::ForallOp loop) {
    std::optional<std::string> why = findSharedElements(loop);
    if (!why)
      return WalkResult::advance();
    found.emplace(loop, *why);
    return WalkResult::interrupt();
  });
  return found;
}

DiagnosedSilenceableFailure
CheckParallelLoopsOp::apply(transform::TransformRewriter &,
                            transform::TransformResults &,
                            transform::TransformState &state) {
  auto found = findSharedElementsWithin(state.getTopLevel());
  if (!found)
    return DiagnosedSilenceableFailure::success();
  InFlightDiagnostic diag = emitError() << found->second;
  diag.attachNote(found->first.getLoc()) << "the loop";
  return DiagnosedSilenceableFailure::definiteFailure();
}

void CheckParallelLoopsOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsPayload(effects);
}
