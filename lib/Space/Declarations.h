//===- Declarations.h - The knobs that a schedule declares ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SPACE_DECLARATIONS_H
#define CWM_LIB_SPACE_DECLARATIONS_H

#include "cwm/Space/Space.h"

namespace cwm {

/// The knobs declared anywhere in a schedule, in the order of their first
/// declaration.
struct Declarations {
  std::vector<Knob> knobs;
  llvm::StringMap<unsigned> index;
};

/// Reads all declarations of `schedule`, after the options of the knobs named
/// in `options` were replaced in the IR itself, so that a bound script still
/// names the option it selects.
mlir::LogicalResult
readDeclarations(llvm::StringRef space, mlir::ModuleOp schedule,
                 const llvm::StringMap<mlir::ArrayAttr> &options,
                 const llvm::StringMap<uint64_t> &defaults,
                 Declarations &result);

} // namespace cwm

#endif // CWM_LIB_SPACE_DECLARATIONS_H
