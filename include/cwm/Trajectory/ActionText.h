//===- ActionText.h - Canonical text of scheduling actions ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAJECTORY_ACTIONTEXT_H
#define CWM_TRAJECTORY_ACTIONTEXT_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace cwm {

/// One payload-changing transform op of a candidate, with every parameter
/// resolved.
struct Action {
  /// Name without the dialect prefix, e.g. "structured.tile_using_for".
  std::string name;
  /// Canonical text: the name, then `key=value` of every attribute and
  /// resolved parameter in sorted order, then what the target handle stands
  /// for ("on linalg.matmul").
  std::string text;
};

/// The actions of a bound script in program order, derived without
/// interpreting it: `transform.include` and the selected region of
/// `transform.tune.alternatives` are expanded, the body of `transform.foreach`
/// counts once. Equal to what the recorder reports for the same candidate when
/// it succeeds. Fails with a diagnostic when the script is not bound.
mlir::FailureOr<std::vector<Action>> getActions(mlir::ModuleOp boundScript);

} // namespace cwm

#endif // CWM_TRAJECTORY_ACTIONTEXT_H
