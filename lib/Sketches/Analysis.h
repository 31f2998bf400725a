//===- Analysis.h - Payloads as contractions --------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SKETCHES_ANALYSIS_H
#define CWM_LIB_SKETCHES_ANALYSIS_H

#include "cwm/Payload/Payload.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace cwm {

/// A payload that consists of one contraction and at most one elementwise op on
/// its result, once named ops are generics and elementwise ops are fused (as
/// `@cwm_normalise` of schedules/cpu/common.mlir does it).
///
/// Dimensions are positions in the iteration space of the contraction. `m` and
/// `n` are one parallel dimension of each operand, `k` one reduction; all other
/// dimensions (batches, further m and n, unit extents) become outer loops.
/// `n` is the innermost dimension of the result. `m` is -1 for the product of a
/// vector (operand `lhs`) with a matrix (operand `rhs`).
struct ContractionPayload {
  /// Extents and iterator types of all dimensions.
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<mlir::utils::IteratorType> iterators;
  int64_t m = -1, n = -1, k = -1;
  /// Operand numbers: `lhs` has m, `rhs` has n.
  unsigned lhs = 0, rhs = 1;
  /// Elements of an operand before they are widened to those of the sum.
  struct Operand {
    mlir::Type element;
    /// Widened with zeros.
    bool isUnsigned = false;
  };
  Operand operands[2];
  mlir::Type sum;
  /// Dimensions of the operands and of the result, outermost first.
  llvm::SmallVector<int64_t> lhsDims, rhsDims, resultDims;
  /// An elementwise op follows; its iteration space is that of the result.
  bool hasElementwise = false;
  /// What patterns of ours have to do first (the knob `initial_value` of
  /// @cwm_isolate): nothing; let that op add an initial value that is not a
  /// fill; that, and let it round sums that are made in f32.
  enum Preparation { None, SeparateInitialValue, WidenSums };
  Preparation preparation = None;
  /// Unit dimensions are gone, and those that lie together are one
  /// (@cwm_normalise_collapsed).
  bool isCollapsed = false;
  /// What the function returns is a reshape of the last op's result.
  bool hasReshapedResult = false;
  /// Dimensions of the elementwise op's other operands.
  llvm::SmallVector<int64_t> elementwiseDims;

  bool isVector() const { return m < 0; }
  int64_t getM() const { return isVector() ? 1 : extents[m]; }
  int64_t getN() const { return extents[n]; }
  int64_t getK() const { return extents[k]; }
  int64_t getSumBits() const { return sum.getIntOrFloatBitWidth(); }
  /// Of the wider operand.
  int64_t getOperandBits() const {
    return std::max(operands[0].element.getIntOrFloatBitWidth(),
                    operands[1].element.getIntOrFloatBitWidth());
  }
  bool isRole(int64_t dim) const { return dim == m || dim == n || dim == k; }
};

/// nullopt when `payload` is of another kind; then `why` (may be null) receives
/// the reason, for tests and messages. In the form after what `preparation`
/// names, with `collapse` that of @cwm_normalise_collapsed.
std::optional<ContractionPayload> analyseContraction(
    const Payload &payload,
    ContractionPayload::Preparation preparation = ContractionPayload::None,
    bool collapse = false, std::string *why = nullptr);

} // namespace cwm

#endif // CWM_LIB_SKETCHES_ANALYSIS_H
