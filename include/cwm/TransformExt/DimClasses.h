//===- DimClasses.h - Dimensions that go together ---------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRANSFORMEXT_DIMCLASSES_H
#define CWM_TRANSFORMEXT_DIMCLASSES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/MapVector.h"

namespace cwm {

/// Sorts the loops of some linalg.generic ops and the dimensions of the tensors
/// that they read and give into classes: a loop and the dimension that it walks
/// along are of one class. Loops of reductions count as well.
class DimClasses {
public:
  /// All maps must be projected permutations.
  explicit DimClasses(llvm::ArrayRef<mlir::linalg::GenericOp> ops);

  unsigned size() const { return classes.getNumClasses(); }
  int64_t getExtent(unsigned dimClass) const { return extents[dimClass]; }
  llvm::SmallVector<unsigned> getLoops(mlir::linalg::GenericOp op) const;
  /// The tensors that the ops read or give (not their initial values).
  auto getValues() const { return llvm::make_first_range(values); }
  llvm::SmallVector<unsigned> getDims(mlir::Value value) const;

private:
  llvm::ArrayRef<unsigned> number(mlir::Value value);
  unsigned addDim(int64_t extent);
  llvm::SmallVector<unsigned> translate(llvm::ArrayRef<unsigned> numbers) const;

  llvm::MapVector<mlir::Value, llvm::SmallVector<unsigned>> values;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned>> loops;
  std::vector<int64_t> extents;
  llvm::IntEqClasses classes;
};

} // namespace cwm

#endif // CWM_TRANSFORMEXT_DIMCLASSES_H
