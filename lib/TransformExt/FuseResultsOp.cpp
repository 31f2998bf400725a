//===- FuseResultsOp.cpp - Several results in one loop ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/TransformExt/FuseResultsOp.h"

#include "cwm/TransformExt/DimClasses.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace cwm;

#define GET_OP_CLASSES
#include "cwm/TransformExt/FuseResultsOp.cpp.inc"

namespace {
/// Fuses the ops of one block into the loops around the tiles of the last one.
class ResultFusion {
public:
  ResultFusion(RewriterBase &rewriter, linalg::GenericOp target)
      : rewriter(rewriter), target(target) {}

  /// What was expected and is not so, or nothing.
  std::optional<std::string> run(ArrayRef<int64_t> tileSizes);

  Operation *getTiled() const { return tiled; }

private:
  std::optional<std::string> findOps();
  std::optional<std::string> tile(ArrayRef<int64_t> tileSizes,
                                  const DimClasses &classes);
  std::optional<std::string> fuse(OpResult result, const DimClasses &classes);
  SmallVector<tensor::ExtractSliceOp> findSlices(OpResult result,
                                                 bool asDestination);
  tensor::ExtractSliceOp createSlice(OpResult result,
                                     const DimClasses &classes);
  bool isUsedOutside(OpResult result);
  void moveReshapes();

  RewriterBase &rewriter;
  linalg::GenericOp target;
  Operation *tiled = nullptr;
  /// All but the target, in order.
  SmallVector<linalg::LinalgOp> producers;
  SmallVector<linalg::GenericOp> generics;
  SmallVector<LoopLikeOpInterface> loops;
  /// Classes of the dimensions of the target's result.
  SmallVector<unsigned> targetDims;
};
} // namespace

std::optional<std::string> ResultFusion::findOps() {
  for (Operation &op : *target->getBlock()) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (linalgOp && linalgOp.hasPureTensorSemantics()) {
      if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
        for (AffineMap map : generic.getIndexingMapsArray())
          if (!map.isProjectedPermutation())
            return "indexing maps that are projected permutations";
        generics.push_back(generic);
      }
      if (&op != target)
        producers.push_back(linalgOp);
    }
    if (&op == target)
      break;
  }
  return std::nullopt;
}

/// Reshapes between a value and the block's terminator, which may stand before
/// the target.
void ResultFusion::moveReshapes() {
  Operation *terminator = target->getBlock()->getTerminator();
  for (Value value : terminator->getOperands()) {
    Operation *op = value.getDefiningOp();
    if (isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) &&
        llvm::all_of(op->getUsers(),
                     [&](Operation *user) { return user == terminator; }))
      rewriter.moveOpBefore(op, terminator);
  }
}

std::optional<std::string> ResultFusion::tile(ArrayRef<int64_t> tileSizes,
                                              const DimClasses &classes) {
  scf::SCFTilingOptions options;
  options.setTileSizes(
      getAsIndexOpFoldResult(rewriter.getContext(), tileSizes));
  rewriter.setInsertionPoint(target);
  FailureOr<scf::SCFTilingResult> result = scf::tileUsingSCF(
      rewriter, cast<TilingInterface>(target.getOperation()), options);
  if (failed(result) || result->loops.empty())
    return "an op that can be tiled, and a tile size that tiles it";
  loops = result->loops;
  tiled = result->tiledOps.back();
  targetDims = classes.getDims(target->getResult(0));
  rewriter.replaceOp(target, result->replacements);
  return std::nullopt;
}

/// The slices that the innermost loop takes of `result`, in order; of a tensor
/// that the loop carries from `result` on, with `asDestination`.
SmallVector<tensor::ExtractSliceOp>
ResultFusion::findSlices(OpResult result, bool asDestination) {
  SmallVector<tensor::ExtractSliceOp> slices;
  for (Operation &op : *cast<scf::ForOp>(loops.back()).getBody()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
    if (!slice || slice->use_empty())
      continue;
    Value source = slice.getSource();
    bool isCarried = false;
    while (auto argument = dyn_cast<BlockArgument>(source)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
      if (!init)
        break;
      isCarried = true;
      source = init->get();
    }
    if (source == result && isCarried == asDestination)
      slices.push_back(slice);
  }
  return slices;
}

/// The slice of a value that the target does not read: along the dimensions
/// that the target's result has as well, what one iteration computes of that.
tensor::ExtractSliceOp ResultFusion::createSlice(OpResult result,
                                                 const DimClasses &classes) {
  tensor::InsertSliceOp insert;
  for (Operation *user : tiled->getResult(0).getUsers())
    if (auto candidate = dyn_cast<tensor::InsertSliceOp>(user))
      if (candidate.getSource() == tiled->getResult(0))
        insert = candidate;
  SmallVector<unsigned> dims = classes.getDims(result);
  if (!insert || !isa<linalg::GenericOp>(result.getOwner()))
    return {};
  SmallVector<OpFoldResult> offsets, sizes;
  auto type = cast<RankedTensorType>(result.getType());
  for (auto [dim, extent] : llvm::zip_equal(dims, type.getShape())) {
    const auto *it = llvm::find(targetDims, dim);
    if (it == targetDims.end()) {
      offsets.push_back(rewriter.getIndexAttr(0));
      sizes.push_back(rewriter.getIndexAttr(extent));
    } else {
      size_t position = it - targetDims.begin();
      offsets.push_back(insert.getMixedOffsets()[position]);
      sizes.push_back(insert.getMixedSizes()[position]);
    }
  }
  SmallVector<OpFoldResult> strides(offsets.size(), rewriter.getIndexAttr(1));
  // Behind what computes the sizes.
  rewriter.setInsertionPoint(insert);
  return tensor::ExtractSliceOp::create(rewriter, result.getLoc(), result,
                                        offsets, sizes, strides);
}

bool ResultFusion::isUsedOutside(OpResult result) {
  return llvm::any_of(result.getUsers(), [&](Operation *user) {
    return !loops.front()->isAncestor(user);
  });
}

std::optional<std::string> ResultFusion::fuse(OpResult result,
                                              const DimClasses &classes) {
  // Slices of one tile are equal, and one computation is enough.
  DominanceInfo dominance(loops.front());
  eliminateCommonSubExpressions(rewriter, dominance, loops.front());

  // Initial values of what the loop carries.
  for (tensor::ExtractSliceOp slice :
       findSlices(result, /*asDestination=*/true)) {
    if (!scf::tileAndFuseProducerOfSlice(rewriter, slice, loops))
      return "ops that can be tiled";
    rewriter.eraseOp(slice);
  }
  SmallVector<tensor::ExtractSliceOp> slices =
      findSlices(result, /*asDestination=*/false);
  bool isResult = isUsedOutside(result);
  if (isResult && slices.empty())
    if (tensor::ExtractSliceOp slice = createSlice(result, classes))
      slices.push_back(slice);
  if (isResult && slices.size() != 1)
    return "the same slice of a result wherever it is read";
  for (tensor::ExtractSliceOp slice : slices) {
    std::optional<scf::SCFFuseProducerOfSliceResult> fused =
        scf::tileAndFuseProducerOfSlice(rewriter, slice, loops);
    if (!fused || fused->tiledOps.size() != 1)
      return "ops that can be tiled";
    if (isResult) {
      if (failed(scf::yieldReplacementForFusedProducer(
              rewriter, slice, *fused, loops, result.getResultNumber())))
        return "results that the loop can carry";
      Operation *outermost = loops.front();
      rewriter.replaceUsesWithIf(
          result, outermost->getResults().back(), [&](OpOperand &use) {
            return outermost->getBlock() == use.getOwner()->getBlock() &&
                   outermost->isBeforeInBlock(use.getOwner());
          });
    }
    rewriter.eraseOp(slice);
  }
  return std::nullopt;
}

std::optional<std::string> ResultFusion::run(ArrayRef<int64_t> tileSizes) {
  if (std::optional<std::string> why = findOps())
    return why;
  DimClasses classes(generics);
  moveReshapes();
  if (std::optional<std::string> why = tile(tileSizes, classes))
    return why;
  // An op comes after all that read it, so that all of its slices are there.
  for (linalg::LinalgOp op : llvm::reverse(producers)) {
    for (OpResult result : op->getResults())
      if (std::optional<std::string> why = fuse(result, classes))
        return why;
    if (isOpTriviallyDead(op))
      rewriter.eraseOp(op);
    else if (llvm::any_of(op->getResults(), [&](OpResult result) {
               return isUsedOutside(result);
             }))
      return "no use of a result before the last op";
  }
  return std::nullopt;
}

DiagnosedSilenceableFailure
FuseResultsOp::apply(transform::TransformRewriter &rewriter,
                     transform::TransformResults &results,
                     transform::TransformState &state) {
  SmallVector<Operation *> tiled;
  for (Operation *op : state.getPayloadOps(getTarget())) {
    auto fail = [&](const Twine &what, Location loc) {
      DiagnosedSilenceableFailure diag = emitSilenceableError()
                                         << "expected " << what;
      diag.attachNote(loc) << "target op";
      return diag;
    };
    Location loc = op->getLoc();
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || !generic.hasPureTensorSemantics() ||
        generic.hasDynamicShape())
      return fail("a linalg.generic on tensors of static shape", loc);
    if (getTileSizes().size() > generic.getNumLoops())
      return fail("at most " + Twine(generic.getNumLoops()) + " tile sizes",
                  loc);
    ResultFusion fusion(rewriter, generic);
    if (std::optional<std::string> what = fusion.run(getTileSizes()))
      return fail(*what, loc);
    tiled.push_back(fusion.getTiled());
  }
  results.set(cast<OpResult>(getTiled()), tiled);
  return DiagnosedSilenceableFailure::success();
}

void FuseResultsOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::consumesHandle(getTargetMutable(), effects);
  transform::producesHandle(getOperation()->getOpResults(), effects);
  transform::modifiesPayload(effects);
}
