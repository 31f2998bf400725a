//===- SplitResults.cpp - One reduction for each result ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/TransformExt/PatternOps.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace {
struct SplitResults : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  /// What of the body computes `value`; nullopt where that takes the value so
  /// far of another result than number `result`.
  static std::optional<llvm::SetVector<Operation *>>
  getSlice(linalg::LinalgOp op, Value value, unsigned result) {
    llvm::SetVector<Operation *> slice;
    SmallVector<Value> worklist{value};
    Block *body = op.getBlock();
    while (!worklist.empty()) {
      Value next = worklist.pop_back_val();
      if (auto argument = dyn_cast<BlockArgument>(next)) {
        if (argument.getOwner() == body &&
            llvm::is_contained(op.getRegionOutputArgs(), argument) &&
            argument != op.getRegionOutputArgs()[result])
          return std::nullopt;
        continue;
      }
      Operation *inner = next.getDefiningOp();
      if (inner->getBlock() != body)
        continue;
      if (inner->getNumRegions())
        return std::nullopt;
      if (slice.insert(inner))
        llvm::append_range(worklist, inner->getOperands());
    }
    return slice;
  }

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 ||
        op.getNumDpsInits() < 2 || op->getNumRegions() != 1)
      return rewriter.notifyMatchFailure(op, "not several reductions");
    Operation *yield = op.getBlock()->getTerminator();
    SmallVector<llvm::SetVector<Operation *>> slices;
    for (auto [number, value] : llvm::enumerate(yield->getOperands())) {
      auto slice = getSlice(op, value, number);
      if (!slice)
        return rewriter.notifyMatchFailure(op, "results depend on each other");
      slices.push_back(std::move(*slice));
    }

    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<Value> results;
    for (auto [number, init] : llvm::enumerate(op.getDpsInits())) {
      SmallVector<AffineMap> own(maps.begin(),
                                 maps.begin() + op.getNumDpsInputs());
      own.push_back(op.getMatchingIndexingMap(
          op.getDpsInitOperand(static_cast<int64_t>(number))));
      auto emitBody = [&, number = number](OpBuilder &builder, Location loc,
                                           ValueRange args) {
        IRMapping mapping;
        for (auto [old, arg] :
             llvm::zip(op.getRegionInputArgs(), args.drop_back()))
          mapping.map(old, arg);
        mapping.map(op.getRegionOutputArgs()[number], args.back());
        for (Operation &inner : op.getBlock()->without_terminator())
          if (slices[number].contains(&inner))
            builder.clone(inner, mapping);
        linalg::YieldOp::create(
            builder, loc, mapping.lookupOrDefault(yield->getOperand(number)));
      };
      results.push_back(linalg::GenericOp::create(
                            rewriter, op.getLoc(), TypeRange{init.getType()},
                            op.getDpsInputs(), ValueRange{init}, own,
                            op.getIteratorTypesArray(), emitBody)
                            .getResult(0));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

void cwm::populateSplitResultsPatterns(RewritePatternSet &patterns) {
  patterns.add<SplitResults>(patterns.getContext());
}
