//===- Train.h - The driver behind cwm-train ------------------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAIN_TRAIN_H
#define CWM_TRAIN_TRAIN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace cwm {

/// Exit codes of cwm-train.
enum class TrainExit : int {
  Done = 0,
  Error = 1,        ///< usage, input, I/O
  NoResult = 2,     ///< nothing to train on, or training that diverged
  Interrupted = 130 ///< after a checkpoint
};

/// One subcommand of cwm-train. Each has a file of its own in lib/Train; the
/// table is in Train.cpp.
struct TrainCommand {
  llvm::StringLiteral name;
  /// One line for the list of commands.
  llvm::StringLiteral summary;
  /// Parses its own flags from `argv`, whose first entry is
  /// "cwm-train <name>", and runs.
  TrainExit (*run)(int argc, char **argv);
};

/// The subcommands, in the order in which they are used.
llvm::ArrayRef<TrainCommand> getTrainCommands();

/// Runs the command that argv[1] names, or prints the list of commands
/// (--help), or an error. `out` and `err` take what the dispatcher itself says.
TrainExit dispatchTrainCommand(llvm::ArrayRef<TrainCommand> commands, int argc,
                               char **argv, llvm::raw_ostream &out,
                               llvm::raw_ostream &err);

/// Main of cwm-train.
TrainExit runTrain(int argc, char **argv);

/// "cwm-train: error: <message>" on standard error; returns `exit`.
TrainExit reportTrainError(llvm::Error error,
                           TrainExit exit = TrainExit::Error);

} // namespace cwm

#endif // CWM_TRAIN_TRAIN_H
