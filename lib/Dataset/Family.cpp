//===- Family.cpp - What kind of operators a payload has --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Dataset/Family.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace cwm {

ArrayRef<StringRef> getOperatorFamilies() {
  static constexpr StringRef families[] = {
      "matmul", "batch_matmul", "vector",      "conv1d", "conv2d",
      "conv3d", "grouped",      "depthwise",   "pool",   "softmax",
      "norm",   "reduce",       "elementwise", "layout"};
  return families;
}

/// Iterations of all loops of `op`.
static double getIterations(linalg::LinalgOp op) {
  double iterations = 1;
  for (int64_t extent : op.getStaticLoopRanges())
    iterations *= static_cast<double>(extent);
  return iterations;
}

/// Whether the body multiplies two different inputs and adds up.
static bool sumsProducts(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInputs() < 2 ||
      op->getNumRegions() == 0)
    return false;
  bool multiplies = false, adds = false;
  op->walk([&](Operation *inner) {
    multiplies |= isa<arith::MulFOp, arith::MulIOp, arith::AndIOp>(inner);
    adds |= isa<arith::AddFOp, arith::AddIOp, arith::OrIOp>(inner);
  });
  return multiplies && adds;
}

/// Loops that walk over two dimensions of an input together, as those of a
/// window do: results of the input's map that are sums.
static unsigned countWindowLoops(linalg::LinalgOp op) {
  unsigned count = 0;
  for (OpOperand *input : op.getDpsInputOperands())
    for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults())
      count += !isa<AffineDimExpr, AffineConstantExpr>(expr);
  return count;
}

static StringRef getConvolutionFamily(linalg::LinalgOp op, unsigned windows) {
  FailureOr<linalg::ConvolutionDimensions> dims =
      linalg::inferConvolutionDims(op);
  if (succeeded(dims) && !dims->depth.empty()) {
    // Groups of more than one channel are dimensions of their own.
    return dims->inputChannel.empty() ? "depthwise" : "grouped";
  }
  return windows == 1 ? "conv1d" : windows == 2 ? "conv2d" : "conv3d";
}

static StringRef getContractionFamily(linalg::LinalgOp op) {
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (failed(dims))
    return "matmul";
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  // One row or column is one, whether it has a dimension or not.
  auto getExtent = [&](ArrayRef<unsigned> loops) {
    int64_t extent = 1;
    for (unsigned loop : loops)
      extent *= extents[loop];
    return extent;
  };
  if (getExtent(dims->m) == 1 || getExtent(dims->n) == 1)
    return "vector";
  return getExtent(dims->batch) > 1 ? "batch_matmul" : "matmul";
}

/// Of payloads without sums of products and windows.
static StringRef getChainFamily(ModuleOp module) {
  bool reduces = false, exponentials = false, roots = false, computes = false;
  module.walk([&](Operation *op) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      reduces |= linalgOp.getNumReductionLoops() > 0;
    exponentials |= isa<math::ExpOp, linalg::ExpOp>(op);
    roots |=
        isa<math::RsqrtOp, math::SqrtOp, linalg::RsqrtOp, linalg::SqrtOp>(op);
    computes |= op->getNumResults() > 0 && !isa<arith::ConstantOp>(op) &&
                isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
  });
  if (reduces && exponentials)
    return "softmax";
  if (reduces && roots)
    return "norm";
  if (reduces)
    return "reduce";
  return computes ? "elementwise" : "layout";
}

/// The op with the most iterations, those that compute before those that move.
static linalg::LinalgOp getHeaviest(ModuleOp module) {
  linalg::LinalgOp heaviest;
  auto weigh = [](linalg::LinalgOp op) {
    return std::tuple(sumsProducts(op), op.getNumReductionLoops() > 0,
                      getIterations(op));
  };
  module.walk([&](linalg::LinalgOp op) {
    if (!heaviest || weigh(op) > weigh(heaviest))
      heaviest = op;
  });
  return heaviest;
}

StringRef getOperatorFamily(const Payload &payload) {
  bool hasSoftmax = false;
  payload.getModule()->walk([&](linalg::SoftmaxOp) { hasSoftmax = true; });
  linalg::LinalgOp op = getHeaviest(payload.getModule());
  if (!op)
    return hasSoftmax ? "softmax" : "layout";
  unsigned windows = countWindowLoops(op);
  if (windows > 0 && op.getNumReductionLoops() > 0) {
    if (sumsProducts(op))
      return getConvolutionFamily(op, windows);
    return "pool";
  }
  if (sumsProducts(op) && linalg::isaContractionOpInterface(op))
    return getContractionFamily(op);
  if (hasSoftmax)
    return "softmax";
  return getChainFamily(payload.getModule());
}

std::string getShapeKey(const Payload &payload) {
  SmallVector<int64_t> extents;
  if (linalg::LinalgOp op = getHeaviest(payload.getModule())) {
    extents = op.getStaticLoopRanges();
  } else {
    ArrayRef<int64_t> shape = payload.getResults().front().shape;
    extents.assign(shape.begin(), shape.end());
  }
  std::string key;
  llvm::raw_string_ostream os(key);
  llvm::interleave(extents, os, "x");
  return key;
}

WorkloadInfo makeWorkloadInfo(const Payload &payload, StringRef file) {
  WorkloadInfo info;
  info.hash = payload.getWorkloadHash().str();
  info.file = file.str();
  info.function = payload.getEntry().getName().str();
  info.family = getOperatorFamily(payload).str();
  info.shape = getShapeKey(payload);
  info.flops = payload.getFlops();
  info.bytes = payload.getBytes();
  return info;
}

} // namespace cwm
