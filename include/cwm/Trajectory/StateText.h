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

/// Canonical, compact text of the IR under `root`: structurally equal IR gives
/// equal text whatever names, locations, syntax, attribute or alias order it
/// was written with. One line an operation:
///
///     results = op.name operands [successors] key=value... : result-types
///
/// - No locations. SSA values are numbered by first appearance, from zero in
///   each isolated region; blocks by position, where a region has several.
/// - Symbols defined under `root` become `@N` by first appearance; declarations
///   without a body keep their name, which says what is called.
/// - Operand groups (`operandSegmentSizes`) are divided by semicolons;
///   attributes come sorted, properties included, those that hold the value of
///   their absence (`fastmath<none>`) left out.
/// - Types and foreign attributes longer than 12 characters are written once
///   and abbreviated `!N` and `#N` from then on.
/// - Dense constants above 16 elements and resources are replaced by a content
///   hash; scalars and splats are kept. Numbers are the shortest decimals that
///   read back exactly.
/// - Schedules that travel along (named sequences, modules that hold them) are
///   left out.
/// - Bodies of named linalg ops, which their names imply, are left out.
///
/// The text is not meant to be parsed back. The unit of identity: the hash of
/// this text is a workload's key.
std::string getStateText(mlir::Operation *root);

/// Hex of a 128-bit content hash of `text`; stable across processes and
/// machines.
std::string hashText(llvm::StringRef text);

} // namespace cwm

#endif // CWM_TRAJECTORY_STATETEXT_H
