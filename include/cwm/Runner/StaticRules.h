//===- StaticRules.h - Refuse known killers by rule -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_STATICRULES_H
#define CWM_RUNNER_STATICRULES_H

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace cwm {

/// Largest accepted factor of loop.unroll and loop.unroll_and_jam, and product
/// of the vector sizes of one structured.vectorize: the code of anything
/// larger does not fit the instruction cache, and upstream's unrolling has no
/// limit of its own (a factor of 2^63-1 never returns).
inline constexpr int64_t maxUnrollFactor = 64;
inline constexpr int64_t maxVectorElements = 16384;

/// Looks at a bound script for what is known to crash, hang or silently
/// miscompile in MLIR 22.1 (docs/Runner.md lists each with the observed
/// effect): sizes that are negative or no integers, zero divisors, and so on.
/// Sees literal attributes, constants of `transform.param.constant` and the
/// selected values of knobs. Returns one line that names the op, its line, and
/// the rule; nullopt when nothing is known against the script.
std::optional<std::string> findRuleViolation(mlir::ModuleOp script);

} // namespace cwm

#endif // CWM_RUNNER_STATICRULES_H
