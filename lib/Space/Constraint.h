//===- Constraint.h - Constraints over knobs --------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `transform.smt.constrain_params` has no interpreted semantics upstream. Its
// regions are compiled here into expressions over knobs.
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SPACE_CONSTRAINT_H
#define CWM_LIB_SPACE_CONSTRAINT_H

#include "Expr.h"

namespace cwm {

/// One `smt.assert`, applied when `guard` holds.
struct Constraint {
  std::vector<std::pair<unsigned, uint64_t>> guard;
  unsigned root = 0;
  Program program;
  mlir::Location location;
};

/// Compiles the region of a constraint whose arguments are `args`. Appends the
/// asserted expressions and the yielded ones; emits an error and fails on an
/// operation that cannot be evaluated.
mlir::LogicalResult
compileRegion(mlir::Region &region, llvm::ArrayRef<unsigned> args,
              ExprPool &pool,
              std::vector<std::pair<unsigned, mlir::Location>> &asserted,
              std::vector<unsigned> &yielded);

} // namespace cwm

#endif // CWM_LIB_SPACE_CONSTRAINT_H
