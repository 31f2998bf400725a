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
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>
#include <vector>

namespace cwm {

/// One payload-changing transform op of a candidate, with every parameter
/// resolved.
struct Action {
  /// Name without the dialect prefix, e.g. "structured.tile_using_for".
  std::string name;
  /// Canonical text: the name, then `key=value` of every attribute and
  /// resolved parameter in sorted order, then what the target handles stand
  /// for: `structured.tile_using_for sizes=[6, 64, 0] on linalg.matmul`.
  std::string text;
};

/// The addresses of `actions`.
inline std::vector<const Action *> getPointers(llvm::ArrayRef<Action> actions) {
  std::vector<const Action *> pointers;
  pointers.reserve(actions.size());
  for (const Action &action : actions)
    pointers.push_back(&action);
  return pointers;
}

/// True for a transform op that may change the payload by itself: it writes
/// the payload according to its memory effects and is neither a matcher nor
/// one of the ops that only say which others run (see isControl). An op that
/// states no effects counts as an action.
bool isAction(mlir::Operation *op);

/// True for the ops that run others: `include`, `sequence`, `foreach`,
/// `foreach_match`, `alternatives`, `tune.alternatives`.
bool isControl(mlir::Operation *op);

/// An operation that has a part in the text of an action.
struct ActionRead {
  enum class How : uint8_t {
    Values, ///< by its attributes, or the parameter that it defines
    Kind,   ///< it made a handle, and which of its results that is, is all
  };
  mlir::Operation *op;
  How how;
};
/// Those of one action, each of them at least once.
using ActionReads = llvm::SmallVector<ActionRead, 8>;

/// The actions of a bound script in program order, derived without
/// interpreting it: `transform.include` and the selected region of
/// `transform.tune.alternatives` are expanded; the body of
/// `transform.foreach`, and of each pair of `transform.foreach_match`, counts
/// once, however often it runs. Equal to the effective history that the
/// recorder reports for the same candidate when each of its actions succeeds.
///
/// `reads`, if given, receives what each action's text was made from.
///
/// Fails with one diagnostic when the script is not bound (a knob without a
/// selection, a `cwm.bind` left), when an include is recursive or external,
/// and on `transform.alternatives` with several regions, whose path only the
/// payload decides; with `allRegions` those contribute the actions of each
/// region in order, which tells candidates apart but is no history.
mlir::FailureOr<std::vector<Action>>
getActions(mlir::ModuleOp boundScript,
           llvm::StringRef entryPoint = "__transform_main",
           bool allRegions = false, std::vector<ActionReads> *reads = nullptr);

/// How control reached a named sequence; null for the entry point.
struct CallFrame {
  const CallFrame *caller = nullptr;
  /// `transform.include` or `transform.foreach_match`.
  mlir::Operation *call = nullptr;
  /// The `transform.named_sequence`.
  mlir::Operation *callee = nullptr;
  /// Which pair of a `foreach_match`.
  unsigned pair = 0;
};

/// The values that a parameter was seen to hold.
using ObservedParams =
    llvm::function_ref<llvm::ArrayRef<mlir::Attribute>(mlir::Value)>;

/// Derives the texts of the actions of one script; keeps the script's symbol
/// look-ups, so use one object for all actions of a script.
class ActionDescriber {
public:
  /// With `allRegions`, expand() takes all regions of alternatives that the
  /// payload decides; see getActions().
  /// `reads` as for getActions().
  explicit ActionDescriber(bool allRegions = false,
                           std::vector<ActionReads> *reads = nullptr);
  ~ActionDescriber();

  /// The text of one action reached through `frame`. Where a parameter is
  /// known from the script alone, its value is taken from `observed` when
  /// that is given: the recorder's way. A parameter that depends on the
  /// payload is described by its origin in both cases.
  Action describe(mlir::Operation *action, const CallFrame *frame,
                  ObservedParams observed = nullptr);

  /// Appends the actions of a block, as getActions() does for the entry point.
  mlir::LogicalResult expand(mlir::Block &body, const CallFrame *frame,
                             std::vector<Action> &actions);

  /// The named sequence that `target` means at `from`; null when there is
  /// none with a body.
  mlir::Operation *lookup(mlir::Operation *from, mlir::SymbolRefAttr target);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace cwm

#endif // CWM_TRAJECTORY_ACTIONTEXT_H
