//===- Rewrites.h - Other texts of the same program ------------ -*- C++-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Positives for the encoder's contrastive training: texts that differ and mean
// the same. The canonical text is free of names, locations and the order of
// attributes; what is left to vary is the order of operations, the numbers of
// values, and how far the program was simplified.
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAJECTORY_REWRITES_H
#define CWM_TRAJECTORY_REWRITES_H

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cwm {

/// Gives the numbered values (`%0`, `%1`, ...) of a state's text each other's
/// numbers, by a permutation that `seed` decides: one for the whole text.
/// Strings are left alone.
std::string renameValues(llvm::StringRef stateText, uint64_t seed);

/// Puts the operations of each block under `root` into another order that the
/// values they use allow. Operations with memory effects keep their order
/// among themselves, terminators their place. The choice is decided by `seed`.
void reorderOperations(mlir::Operation *root, uint64_t seed);

/// At most `count` different texts, none of them getStateText(root), of copies
/// of `root` that were reordered, and of one that was canonicalised as well
/// (the first, if it differs). Fewer where the program leaves no choice.
std::vector<std::string> getRewrittenTexts(mlir::Operation *root,
                                           unsigned count, uint64_t seed);

} // namespace cwm

#endif // CWM_TRAJECTORY_REWRITES_H
