//===- PatternOps.h - Patterns for schedules --------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRANSFORMEXT_PATTERNOPS_H
#define CWM_TRANSFORMEXT_PATTERNOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpImplementation.h"

#define GET_OP_CLASSES
#include "cwm/TransformExt/PatternOps.h.inc"

namespace cwm {

/// The patterns of `transform.apply_patterns.cwm.separate_initial_values`.
void populateSeparateInitialValuesPatterns(mlir::RewritePatternSet &patterns);

/// The patterns of `transform.apply_patterns.cwm.split_results`.
void populateSplitResultsPatterns(mlir::RewritePatternSet &patterns);

/// The patterns of `transform.apply_patterns.cwm.widen_sums`.
void populateWidenSumsPatterns(mlir::RewritePatternSet &patterns);

/// Adds the `transform.apply_patterns.cwm.*` and `transform.cwm.*` ops to the
/// transform dialect.
void registerTransformExtension(mlir::DialectRegistry &registry);

} // namespace cwm

#endif // CWM_TRANSFORMEXT_PATTERNOPS_H
