//===- LowerCopies.cpp - Copies of strided buffers --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

namespace cwm {
#define GEN_PASS_DEF_LOWERCOPIES
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

namespace {
struct LowerCopies : cwm::impl::LowerCopiesBase<LowerCopies> {
  using LowerCopiesBase::LowerCopiesBase;

  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp op) { copies.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (memref::CopyOp copy : copies) {
      auto source = dyn_cast<MemRefType>(copy.getSource().getType());
      auto target = dyn_cast<MemRefType>(copy.getTarget().getType());
      // Unranked copies are left to memrefCopy; payloads have none.
      if (!source || !target ||
          (source.getLayout().isIdentity() && target.getLayout().isIdentity()))
        continue;
      rewriter.setInsertionPoint(copy);
      if (isVectorizable(source) && isVectorizable(target) &&
          succeeded(linalg::vectorizeCopy(rewriter, copy)))
        continue;
      linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(),
                               copy.getTarget());
      rewriter.eraseOp(copy);
    }
  }

  bool isVectorizable(MemRefType type) const {
    if (!type.hasStaticShape() || type.getRank() == 0 ||
        !type.isLastDimUnitStride() ||
        !VectorType::isValidElementType(type.getElementType()))
      return false;
    // In memory a vector of i1 is packed, a buffer of i1 is not.
    if (type.getElementType().isInteger(1))
      return false;
    int64_t elements = type.getNumElements();
    return elements <= maxElements &&
           elements <= maxRows * type.getShape().back();
  }
};
} // namespace
