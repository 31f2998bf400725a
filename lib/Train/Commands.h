//===- Commands.h - The subcommands of cwm-train -------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRAIN_COMMANDS_H
#define CWM_LIB_TRAIN_COMMANDS_H

#include "cwm/Train/Train.h"

namespace cwm {

// One function a command, each in a file of its own. Flags are local to the
// function, so that each command has its own `--help`; see CommandLine.cpp of
// cwm-tune for the style. `argv[0]` is "cwm-train <command>".
TrainExit runEncoderCommand(int argc, char **argv);
TrainExit runTransitionCommand(int argc, char **argv);

/// Samples, records and measures candidates of payloads.
TrainExit runCollectCommand(int argc, char **argv);
/// Says what a database of trajectories has, and writes the texts in it.
TrainExit runStatsCommand(int argc, char **argv);
/// Trains the ranker on measured candidates.
TrainExit runRankerCommand(int argc, char **argv);
/// Compares scorers on fixed pools.
TrainExit runEvalCommand(int argc, char **argv);
/// Copies what a model needs to score, with a card.
TrainExit runExportCommand(int argc, char **argv);

} // namespace cwm

#endif // CWM_LIB_TRAIN_COMMANDS_H
