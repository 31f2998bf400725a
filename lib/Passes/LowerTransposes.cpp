//===- LowerTransposes.cpp - Transpositions of any size ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace cwm {
#define GEN_PASS_DEF_LOWERTRANSPOSES
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

/// Rows and columns of the blocks for which upstream has a network of shuffles.
static constexpr int64_t blockSize = 16;

/// Elements [start, start + 16) of `row`; those behind its end are poison.
static Value getPiece(OpBuilder &builder, Location loc, Value row,
                      int64_t start) {
  int64_t size = cast<VectorType>(row.getType()).getDimSize(0);
  SmallVector<int64_t> mask;
  for (int64_t at = start; at < start + blockSize; ++at)
    mask.push_back(at < size ? at : vector::ShuffleOp::kPoisonIndex);
  return vector::ShuffleOp::create(builder, loc, row, row, mask);
}

namespace {
/// A transposition of a matrix becomes transpositions of 16 x 16, incomplete
/// ones at the ends filled up with poison.
struct SplitTranspose : OpRewritePattern<vector::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getSourceVectorType();
    if (type.getRank() != 2 || type.isScalable() ||
        op.getPermutation() != ArrayRef<int64_t>{1, 0})
      return rewriter.notifyMatchFailure(op, "not a transposed matrix");
    if (!type.getElementType().isIntOrFloat() ||
        type.getElementTypeBitWidth() != 32)
      return rewriter.notifyMatchFailure(op, "not of 32-bit elements");
    int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
    // With a side of at most two, plain shuffles do as well.
    if (rows <= 2 || columns <= 2 ||
        (rows == blockSize && columns == blockSize))
      return rewriter.notifyMatchFailure(op, "small, or one block");
    Location loc = op.getLoc();
    auto block = VectorType::get({blockSize, blockSize}, type.getElementType());
    Value poison = ub::PoisonOp::create(rewriter, loc, block);
    Value result = ub::PoisonOp::create(rewriter, loc, op.getType());
    for (int64_t column = 0; column < columns; column += blockSize) {
      SmallVector<Value> blocks;
      for (int64_t row = 0; row < rows; row += blockSize) {
        Value pieces = poison;
        for (int64_t at = row; at < std::min(rows, row + blockSize); ++at) {
          Value whole =
              vector::ExtractOp::create(rewriter, loc, op.getVector(), at);
          pieces = vector::InsertOp::create(
              rewriter, loc, getPiece(rewriter, loc, whole, column), pieces,
              at - row);
        }
        blocks.push_back(vector::TransposeOp::create(rewriter, loc, pieces,
                                                     ArrayRef<int64_t>{1, 0}));
      }
      for (int64_t at = column; at < std::min(columns, column + blockSize);
           ++at) {
        Value whole = ub::PoisonOp::create(
            rewriter, loc, VectorType::get({rows}, type.getElementType()));
        for (auto [index, transposed] : llvm::enumerate(blocks)) {
          int64_t row = static_cast<int64_t>(index) * blockSize;
          Value piece =
              vector::ExtractOp::create(rewriter, loc, transposed, at - column);
          int64_t size = std::min(blockSize, rows - row);
          if (size < blockSize)
            piece = vector::ExtractStridedSliceOp::create(
                rewriter, loc, piece, ArrayRef<int64_t>{0},
                ArrayRef<int64_t>{size}, ArrayRef<int64_t>{1});
          whole = rows == size
                      ? piece
                      : vector::InsertStridedSliceOp::create(
                            rewriter, loc, piece, whole, ArrayRef<int64_t>{row},
                            ArrayRef<int64_t>{1});
        }
        result = vector::InsertOp::create(rewriter, loc, whole, result, at);
      }
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct LowerTransposes : cwm::impl::LowerTransposesBase<LowerTransposes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SplitTranspose>(&getContext(), /*benefit=*/10);
    vector::populateVectorTransposeLoweringPatterns(
        patterns, vector::VectorTransposeLowering::Shuffle16x16);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
