//===- PartialWrites.cpp - Results that are not written whole ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Sketches/PartialWrites.h"

using namespace mlir;

namespace {
struct Term {
  int64_t factor;
  unsigned loop;
};
} // namespace

/// Takes a sum of multiples of loops apart; fails on anything else.
static LogicalResult collectTerms(AffineExpr expr, SmallVectorImpl<Term> &out) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    out.push_back({1, dim.getPosition()});
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && binary.getKind() == AffineExprKind::Add)
    return success(succeeded(collectTerms(binary.getLHS(), out)) &&
                   succeeded(collectTerms(binary.getRHS(), out)));
  if (!binary || binary.getKind() != AffineExprKind::Mul)
    return failure();
  auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!dim || !factor)
    return failure();
  out.push_back({factor.getValue(), dim.getPosition()});
  return success();
}

/// True where `map` provably takes loops of these extents to every element.
static bool isOnto(AffineMap map, ArrayRef<int64_t> loops,
                   ArrayRef<int64_t> shape) {
  if (llvm::is_contained(loops, 0))
    return llvm::is_contained(shape, 0);
  SmallVector<bool> isTaken(loops.size());
  for (auto [expr, extent] : llvm::zip_equal(map.getResults(), shape)) {
    // Nowhere else to go.
    if (extent == 1)
      continue;
    SmallVector<Term> terms;
    if (failed(collectTerms(expr, terms)))
      return false;
    llvm::erase_if(terms, [&](Term term) { return loops[term.loop] == 1; });
    llvm::sort(terms,
               [](Term one, Term two) { return one.factor < two.factor; });
    // The terms so far take all values below `reached`.
    int64_t reached = 1;
    for (Term term : terms) {
      // A loop that moves along two dimensions sees a diagonal only.
      if (isTaken[term.loop] || term.factor < 1 || term.factor > reached)
        return false;
      isTaken[term.loop] = true;
      reached += term.factor * (loops[term.loop] - 1);
    }
    if (reached < extent)
      return false;
  }
  return true;
}

bool cwm::writesInPart(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.hasDynamicShape())
    return false;
  SmallVector<int64_t> loops = op.getStaticLoopRanges();
  return llvm::any_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    return !op.payloadUsesValueFromOperand(&init) &&
           !isOnto(op.getMatchingIndexingMap(&init), loops, op.getShape(&init));
  });
}
