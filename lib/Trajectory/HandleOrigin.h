//===- HandleOrigin.h - Where a transform handle comes from -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRAJECTORY_HANDLEORIGIN_H
#define CWM_LIB_TRAJECTORY_HANDLEORIGIN_H

#include "cwm/Trajectory/ActionText.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

#include <deque>

namespace cwm {

/// Follows the handles and parameters of a script to their origin, through
/// includes, loops and selected alternatives, without a payload.
class HandleOrigins {
public:
  /// A value together with the call that its definition belongs to.
  struct Bound {
    mlir::Value value;
    const CallFrame *frame = nullptr;
  };

  /// Where noteRead() writes; null: nowhere.
  void setLog(ActionReads *reads) { log = reads; }
  /// Says that `op` has a part in the text that is being made.
  void noteRead(mlir::Operation *op, ActionRead::How how) const {
    if (log)
      log->push_back({op, how});
  }

  mlir::Operation *lookup(mlir::Operation *from, mlir::SymbolRefAttr target);

  /// The block that a control op with several regions runs, by its selection;
  /// null when there is none or it is out of range.
  mlir::Block *getSelected(mlir::Operation *alternatives,
                           const CallFrame *frame);

  /// The values of a parameter when the script alone decides them.
  std::optional<llvm::SmallVector<mlir::Attribute, 2>>
  getParams(mlir::Value value, const CallFrame *frame);

  /// Short text that says what the handle or parameter stands for.
  std::string describe(mlir::Value value, const CallFrame *frame,
                       unsigned depth = 0);

private:
  Bound resolve(Bound bound);
  Bound resolveResult(mlir::OpResult result, const CallFrame *frame);
  Bound resolveArgument(mlir::BlockArgument argument, const CallFrame *frame);
  std::string describeResult(mlir::OpResult result, const CallFrame *frame,
                             unsigned depth);
  std::string describeEach(mlir::BlockArgument argument,
                           const CallFrame *frame);
  std::string describeMatched(mlir::BlockArgument argument);

  ActionReads *log = nullptr;
  mlir::SymbolTableCollection symbolTables;
  /// Frames made while following results of includes.
  std::deque<CallFrame> frames;
};

/// Text of an attribute inside an action: like the state text's, with integers
/// bare and enums by their case alone; long values by their hash.
std::string getActionAttributeText(mlir::Attribute attribute);

} // namespace cwm

#endif // CWM_LIB_TRAJECTORY_HANDLEORIGIN_H
