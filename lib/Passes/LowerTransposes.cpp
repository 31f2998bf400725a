//===- LowerTransposes.cpp - Transposes of vectors to shuffles --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

namespace cwm {
#define GEN_PASS_DEF_LOWERTRANSPOSES
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

namespace {
/// Transposes one matrix. The matrix is cut into square blocks whose sides are
/// powers of two, at most a register wide; each block of side b takes
/// b log2(b) shuffles of two registers. Blocks at the ends may reach beyond the
/// matrix, with poison there.
class Transposer {
public:
  Transposer(IRRewriter &rewriter, Location loc, int64_t maxSide)
      : rewriter(rewriter), loc(loc), maxSide(maxSide) {}

  /// `rows` are the rows of the matrix; returns its columns.
  SmallVector<Value> transpose(ArrayRef<Value> rows) const;

private:
  /// Shuffle of two vectors; `mask` counts through both.
  Value shuffle(Value first, Value second, ArrayRef<int64_t> mask) const {
    return vector::ShuffleOp::create(rewriter, loc, first, second, mask);
  }
  Value slice(Value vector, int64_t offset, int64_t size) const;
  SmallVector<Value> transposeBlock(SmallVector<Value> rows) const;
  SmallVector<Value> transposeLanes(ArrayRef<Value> vectors,
                                    int64_t lane) const;

  IRRewriter &rewriter;
  Location loc;
  int64_t maxSide;
};
} // namespace

static int64_t getLength(Value vector) {
  return cast<VectorType>(vector.getType()).getDimSize(0);
}

/// Elements [offset, offset + size) of `vector`; those behind its end are
/// poison.
Value Transposer::slice(Value vector, int64_t offset, int64_t size) const {
  int64_t length = getLength(vector);
  if (offset == 0 && size == length)
    return vector;
  if (offset + size <= length)
    return vector::ExtractStridedSliceOp::create(
        rewriter, loc, vector, ArrayRef<int64_t>{offset},
        ArrayRef<int64_t>{size}, ArrayRef<int64_t>{1});
  SmallVector<int64_t> mask;
  for (int64_t at = offset; at < offset + size; ++at)
    mask.push_back(at < length ? at : vector::ShuffleOp::kPoisonIndex);
  return shuffle(vector, vector, mask);
}

/// Transposes the matrix whose elements are the lanes, `lane` elements each, of
/// `vectors`: as many lanes as there are vectors.
SmallVector<Value> Transposer::transposeLanes(ArrayRef<Value> vectors,
                                              int64_t lane) const {
  if (vectors.size() == 1)
    return {vectors.front()};
  int64_t length = getLength(vectors.front());
  SmallVector<int64_t> masks[2];
  for (int64_t odd : {0, 1})
    for (int64_t start = odd * lane; start < 2 * length; start += 2 * lane)
      for (int64_t i = 0; i < lane; ++i)
        masks[odd].push_back(start + i);
  SmallVector<Value> halves[2];
  for (int64_t odd : {0, 1}) {
    SmallVector<Value> picked;
    for (size_t i = 0; i + 1 < vectors.size(); i += 2)
      picked.push_back(shuffle(vectors[i], vectors[i + 1], masks[odd]));
    halves[odd] = transposeLanes(picked, lane);
  }
  SmallVector<Value> result;
  for (auto [even, odd] : llvm::zip_equal(halves[0], halves[1]))
    result.append({even, odd});
  return result;
}

/// Transposes a square block. Within 128-bit lanes of four elements first, by
/// the interleaving shuffles that x86 has in one fast instruction each, then
/// whole lanes.
SmallVector<Value> Transposer::transposeBlock(SmallVector<Value> rows) const {
  int64_t side = static_cast<int64_t>(rows.size());
  if (side == 1)
    return rows;
  int64_t lane = std::min<int64_t>(4, side);
  // Interleaves units of `unit` elements of rows that are `unit` apart.
  for (int64_t unit = 1; unit < lane; unit *= 2) {
    SmallVector<int64_t> masks[2];
    for (int64_t high : {0, 1})
      for (int64_t start = high * lane / 2; start < side; start += lane)
        for (int64_t piece = 0; piece < lane / 2; piece += unit)
          for (int64_t source : {int64_t(0), side})
            for (int64_t i = 0; i < unit; ++i)
              masks[high].push_back(source + start + piece + i);
    // The two results of a pair belong to neighbouring columns.
    SmallVector<Value> next(side);
    for (int64_t group = 0; group < side; group += 2 * unit)
      for (int64_t i = 0; i < unit; ++i)
        for (int64_t high : {0, 1})
          next[group + 2 * i + high] =
              shuffle(rows[group + i], rows[group + unit + i], masks[high]);
    rows = std::move(next);
  }
  if (lane == side)
    return rows;
  SmallVector<Value> result(side);
  for (int64_t j = 0; j < lane; ++j) {
    SmallVector<Value> group;
    for (int64_t i = j; i < side; i += lane)
      group.push_back(rows[i]);
    for (auto [i, column] : llvm::enumerate(transposeLanes(group, lane)))
      result[static_cast<int64_t>(i) * lane + j] = column;
  }
  return result;
}

/// The side of the next block where `left` rows or columns are left: a block
/// that a quarter at most of which is filled up beats several smaller ones.
static int64_t getSide(int64_t left, int64_t maxSide) {
  auto below =
      static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(left)));
  int64_t side = 2 * left > 3 * below - 1 && left != below ? 2 * below : below;
  return std::min(side, maxSide);
}

SmallVector<Value> Transposer::transpose(ArrayRef<Value> rows) const {
  auto numRows = static_cast<int64_t>(rows.size());
  int64_t numColumns = getLength(rows.front());
  Type element = cast<VectorType>(rows.front().getType()).getElementType();
  auto type = VectorType::get(numRows, element);
  SmallVector<Value> columns(numColumns);
  for (int64_t row = 0; row < numRows;) {
    int64_t height = getSide(numRows - row, maxSide);
    for (int64_t column = 0; column < numColumns;) {
      int64_t side = std::min(height, getSide(numColumns - column, maxSide));
      // A block that is higher than wide is several square ones.
      for (int64_t top = row; top < std::min(numRows, row + height);
           top += side) {
        int64_t numPieces = std::min(side, numRows - top);
        SmallVector<Value> block;
        for (Value source : rows.slice(top, numPieces))
          block.push_back(slice(source, column, side));
        block.resize(side, ub::PoisonOp::create(
                               rewriter, loc, VectorType::get(side, element)));
        block = transposeBlock(block);
        for (int64_t i = 0; i < std::min(side, numColumns - column); ++i) {
          Value &into = columns[column + i];
          Value piece = slice(block[i], 0, numPieces);
          if (numPieces == numRows) {
            into = piece;
            continue;
          }
          if (!into)
            into = ub::PoisonOp::create(rewriter, loc, type);
          into = vector::InsertStridedSliceOp::create(
              rewriter, loc, piece, into, ArrayRef<int64_t>{top},
              ArrayRef<int64_t>{1});
        }
      }
      column += side;
    }
    row += height;
  }
  return columns;
}

/// Height and width of the matrix that `op` transposes; nullopt if it does
/// something else. Dimensions of extent 1 do not count.
static std::optional<std::pair<int64_t, int64_t>>
getMatrix(vector::TransposeOp op) {
  VectorType type = op.getSourceVectorType();
  unsigned width = type.getElementType().getIntOrFloatBitWidth();
  if (type.isScalable() || (width != 32 && width != 64))
    return std::nullopt;
  SmallVector<int64_t> dims;
  for (int64_t dim : op.getPermutation())
    if (type.getDimSize(dim) != 1)
      dims.push_back(dim);
  if (dims.size() != 2 || dims[0] < dims[1])
    return std::nullopt;
  return std::pair(type.getDimSize(dims[1]), type.getDimSize(dims[0]));
}

namespace {
struct LowerTransposes : cwm::impl::LowerTransposesBase<LowerTransposes> {
  using LowerTransposesBase::LowerTransposesBase;

  void runOnOperation() override {
    SmallVector<vector::TransposeOp> ops;
    getOperation()->walk([&](vector::TransposeOp op) {
      if (op.getSourceVectorType().getElementType().isIntOrFloat() &&
          getMatrix(op))
        ops.push_back(op);
    });
    for (vector::TransposeOp op : ops)
      lower(op);
  }

  void lower(vector::TransposeOp op) {
    auto [height, width] = *getMatrix(op);
    IRRewriter rewriter(op);
    Location loc = op.getLoc();
    Type element = op.getSourceVectorType().getElementType();
    int64_t lanes = std::max<int64_t>(
        2, vectorBits / static_cast<int64_t>(element.getIntOrFloatBitWidth()));
    // Unit dimensions: what reads and writes the vector folds with these.
    Value source = rewriter.createOrFold<vector::ShapeCastOp>(
        loc, VectorType::get({height, width}, element), op.getVector());
    SmallVector<Value> rows;
    for (int64_t row = 0; row < height; ++row)
      rows.push_back(vector::ExtractOp::create(rewriter, loc, source, row));
    Value result = ub::PoisonOp::create(
        rewriter, loc, VectorType::get({width, height}, element));
    for (auto [i, column] :
         llvm::enumerate(Transposer(rewriter, loc, lanes).transpose(rows)))
      result = vector::InsertOp::create(rewriter, loc, column, result,
                                        static_cast<int64_t>(i));
    rewriter.replaceOp(op, rewriter.createOrFold<vector::ShapeCastOp>(
                               loc, op.getResultVectorType(), result));
  }
};
} // namespace
