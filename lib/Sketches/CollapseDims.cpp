//===- CollapseDims.cpp - Dimensions that lie together ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Sketches/CollapseDims.h"

#include "cwm/TransformExt/DimClasses.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace cwm;

namespace {
/// Which class always has which other one right behind it.
class Neighbours {
public:
  explicit Neighbours(const DimClasses &classes)
      : following(classes.size(), unknown), preceding(following) {}

  /// One place where dimensions appear, outermost first.
  void add(ArrayRef<unsigned> dims, ArrayRef<utils::IteratorType> kinds = {}) {
    for (unsigned at = 0; at < dims.size(); ++at) {
      bool isLast = at + 1 == dims.size();
      bool alike = isLast || kinds.empty() || kinds[at] == kinds[at + 1];
      merge(following[dims[at]], isLast || !alike ? none : dims[at + 1]);
      merge(preceding[dims[at]], at == 0 ? none : dims[at - 1]);
      // Twice in one place: never together with anything.
      if (llvm::count(dims, dims[at]) != 1)
        following[dims[at]] = preceding[dims[at]] = none;
    }
  }

  bool areTogether(unsigned dim, unsigned next) const {
    return following[dim] == next && preceding[next] == dim;
  }

private:
  static constexpr unsigned unknown = ~0U, none = ~1U;

  static void merge(unsigned &known, unsigned value) {
    known = known == unknown || known == value ? value : none;
  }

  SmallVector<unsigned> following, preceding;
};
} // namespace

/// Reshapes move to where values enter and leave the chain.
static void foldReshapes(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
  linalg::FillOp::getCanonicalizationPatterns(patterns, context);
  tensor::populateFoldTensorEmptyPatterns(patterns);
  (void)applyPatternsGreedily(function, std::move(patterns));
  // What is read twice is one value.
  IRRewriter rewriter(context);
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
}

bool cwm::collapseDims(func::FuncOp function) {
  SmallVector<linalg::GenericOp> ops;
  bool known = true;
  function.walk([&](linalg::LinalgOp op) {
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    if (!generic) {
      known &= isa<linalg::FillOp>(op);
      return;
    }
    for (AffineMap map : generic.getIndexingMapsArray())
      known &= map.isProjectedPermutation(/*allowZeroInResults=*/false);
    known &= generic.hasPureTensorSemantics() && !generic.hasDynamicShape();
    ops.push_back(generic);
  });
  if (!known)
    return false;
  DimClasses classes(ops);
  Neighbours neighbours(classes);
  for (linalg::GenericOp op : ops)
    neighbours.add(classes.getLoops(op), op.getIteratorTypesArray());
  for (Value value : classes.getValues())
    neighbours.add(classes.getDims(value));

  // All decisions first: rewriting changes the values.
  std::vector<SmallVector<ReassociationIndices>> groups;
  for (linalg::GenericOp op : ops) {
    SmallVector<ReassociationIndices> &opGroups = groups.emplace_back();
    SmallVector<unsigned> loops = classes.getLoops(op);
    ReassociationIndices group;
    for (unsigned loop = 0; loop < loops.size(); ++loop) {
      group.push_back(loop);
      if (loop + 1 < loops.size() &&
          neighbours.areTogether(loops[loop], loops[loop + 1]))
        continue;
      if (group.size() > 1)
        opGroups.push_back(group);
      group.clear();
    }
  }
  bool changed = false;
  IRRewriter rewriter(function.getContext());
  for (auto [op, opGroups] : llvm::zip_equal(ops, groups)) {
    if (opGroups.empty())
      continue;
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::CollapseResult> result =
        linalg::collapseOpIterationDims(op, opGroups, rewriter);
    if (failed(result))
      continue;
    rewriter.replaceOp(op, result->results);
    changed = true;
  }
  if (changed)
    foldReshapes(function);
  return changed;
}
