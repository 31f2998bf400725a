//===- VectorizePlan.h - How structured ops become vectors ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_PASSES_VECTORIZEPLAN_H
#define CWM_LIB_PASSES_VECTORIZEPLAN_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <optional>

namespace cwm {

/// A reduction with two results, the least or greatest value and the first
/// index where it is.
struct ArgExtremum {
  /// Numbers of the results.
  unsigned value = 0, index = 0;
  /// How values of lanes are combined.
  mlir::vector::CombiningKind kind = mlir::vector::CombiningKind::MAXNUMF;
  /// A NaN makes the value NaN and lets no index after it in, which lanes do
  /// not know of each other.
  bool propagatesNaN = false;
};

/// How an op on buffers is vectorised.
struct VectorPlan {
  unsigned dim = 0;
  bool isReduction = false;
  /// Elements of one vector, and of a wide step.
  int64_t lanes = 0, wide = 0;
  /// For each operand: how many elements apart it is read along the dimension;
  /// 0 where it does not vary.
  llvm::SmallVector<int64_t> strides;
  /// For a reduction along the dimension: how each result is combined, unless
  /// there is an `argExtremum`.
  llvm::SmallVector<mlir::Operation *> combiners;
  std::optional<ArgExtremum> argExtremum;
  /// Parallel dimensions of which several elements are computed together, so
  /// that what does not depend on them is loaded once for all.
  struct Unrolled {
    unsigned dim = 0;
    int64_t factor = 1;
  };
  llvm::SmallVector<Unrolled, 2> unrolled;
  /// Loops over those are inside of the one along the dimension: then what they
  /// share comes from memory once.
  bool stepsOutside = false;
};

/// The best plan for vectors of `vectorBytes`, nullopt where there is none.
std::optional<VectorPlan> planVectors(mlir::linalg::LinalgOp op,
                                      int64_t vectorBytes);

} // namespace cwm

#endif // CWM_LIB_PASSES_VECTORIZEPLAN_H
