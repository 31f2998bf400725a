//===- SplitBoxOp.cpp - A box of an op's result and its rest ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/TransformExt/SplitBoxOp.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace cwm;

#define GET_OP_CLASSES
#include "cwm/TransformExt/SplitBoxOp.cpp.inc"

namespace {
struct Box {
  SmallVector<int64_t> offsets, sizes;
};
} // namespace

/// `inside`, then what is around it.
static SmallVector<Box> cutAround(ArrayRef<int64_t> shape, const Box &inside) {
  SmallVector<Box> parts{inside};
  Box rest{SmallVector<int64_t>(shape.size(), 0), SmallVector<int64_t>(shape)};
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    int64_t begin = inside.offsets[dim], end = begin + inside.sizes[dim];
    for (auto [from, to] :
         {std::pair<int64_t, int64_t>(0, begin), {end, shape[dim]}}) {
      if (from == to)
        continue;
      Box &slab = parts.emplace_back(rest);
      slab.offsets[dim] = from;
      slab.sizes[dim] = to - from;
    }
    rest.offsets[dim] = begin;
    rest.sizes[dim] = inside.sizes[dim];
  }
  return parts;
}

/// Computes what `slices` take of the results of ops that can be tiled.
static void fuseProducers(RewriterBase &rewriter,
                          SmallVector<Operation *> slices) {
  while (!slices.empty()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(slices.pop_back_val());
    auto result = slice ? dyn_cast<OpResult>(slice.getSource()) : OpResult();
    if (!result || !isa<TilingInterface>(result.getOwner()))
      continue;
    rewriter.setInsertionPoint(slice);
    FailureOr<TilingResult> tile =
        tensor::replaceExtractSliceWithTiledProducer(rewriter, slice, result);
    if (failed(tile) || tile->tiledValues.size() != 1)
      continue;
    rewriter.replaceOp(slice, tile->tiledValues);
    slices.append(tile->generatedSlices);
  }
}

DiagnosedSilenceableFailure
SplitBoxOp::apply(transform::TransformRewriter &rewriter,
                  transform::TransformResults &results,
                  transform::TransformState &state) {
  SmallVector<Operation *> parts;
  Box inside{SmallVector<int64_t>(getOffsets()),
             SmallVector<int64_t>(getSizes())};
  for (Operation *target : state.getPayloadOps(getTarget())) {
    auto fail = [&](const Twine &what) {
      DiagnosedSilenceableFailure diag = emitSilenceableError()
                                         << "expected " << what;
      diag.attachNote(target->getLoc()) << "target op";
      return diag;
    };
    auto op = dyn_cast<TilingInterface>(target);
    auto type = target->getNumResults() == 1
                    ? dyn_cast<RankedTensorType>(target->getResult(0).getType())
                    : RankedTensorType();
    if (!op || !type || !type.hasStaticShape())
      return fail("an op that can be tiled, with one result of static shape");
    ArrayRef<int64_t> shape = type.getShape();
    if (inside.offsets.size() != shape.size() ||
        inside.sizes.size() != shape.size())
      return fail("an offset and a size for each of the " +
                  Twine(shape.size()) + " dimensions of the result");
    for (auto [offset, size, extent] :
         llvm::zip_equal(inside.offsets, inside.sizes, shape))
      if (offset < 0 || size < 1 || size > extent || offset > extent - size)
        return fail("a box within the result, which is not empty");

    rewriter.setInsertionPoint(target);
    Location loc = target->getLoc();
    Value whole =
        tensor::EmptyOp::create(rewriter, loc, shape, type.getElementType());
    SmallVector<OpFoldResult> strides(shape.size(), rewriter.getIndexAttr(1));
    for (const Box &box : cutAround(shape, inside)) {
      rewriter.setInsertionPoint(target);
      auto offsets = getAsIndexOpFoldResult(getContext(), box.offsets);
      auto sizes = getAsIndexOpFoldResult(getContext(), box.sizes);
      FailureOr<TilingResult> tile =
          op.generateResultTileValue(rewriter, 0, offsets, sizes);
      if (failed(tile) || tile->tiledOps.size() != 1)
        return fail("an op whose result can be computed in parts");
      parts.push_back(tile->tiledOps.front());
      rewriter.setInsertionPoint(target);
      whole = tensor::InsertSliceOp::create(rewriter, loc,
                                            tile->tiledValues.front(), whole,
                                            offsets, sizes, strides);
      fuseProducers(rewriter, tile->generatedSlices);
    }
    rewriter.replaceOp(target, whole);
  }
  results.set(cast<OpResult>(getParts()), parts);
  return DiagnosedSilenceableFailure::success();
}

void SplitBoxOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::consumesHandle(getTargetMutable(), effects);
  transform::producesHandle(getOperation()->getOpResults(), effects);
  transform::modifiesPayload(effects);
}
