//===- StateText.h - Canonical text of a program state ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAJECTORY_STATETEXT_H
#define CWM_TRAJECTORY_STATETEXT_H

#include "mlir/IR/Operation.h"

#include <string>

namespace cwm {

/// Canonical, compact text of the IR under `root`: no locations, SSA values and
/// symbols numbered by first use, attributes sorted, repeated long types and
/// maps shortened, dense constants above 16 elements replaced by their content
/// hash (scalars and splats kept). Structurally equal IR gives equal text
/// whatever names, locations, attribute or alias order it was written with.
std::string getStateText(mlir::Operation *root);

/// Hex of a 128-bit content hash of `text`; stable across processes and
/// machines.
std::string hashText(llvm::StringRef text);

} // namespace cwm

#endif // CWM_TRAJECTORY_STATETEXT_H
