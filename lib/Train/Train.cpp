//===- Train.cpp - The driver behind cwm-train ---------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/Train.h"

#include "Commands.h"

#include "cwm/Database/Database.h"
#include "cwm/Support/CommandLine.h"
#include "cwm/Support/WriteFile.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/WithColor.h"

#include <csignal>
#include <vector>

using namespace llvm;
using namespace cwm;

ArrayRef<TrainCommand> cwm::getTrainCommands() {
  static const std::vector<TrainCommand> commands = {
      // One line a command, in the order in which they are used.
      {"collect", "records and measures random candidates of payloads",
       runCollectCommand},
      {"stats", "says what was collected, writes texts for the encoder",
       runStatsCommand},
      {"encoder", "trains the encoder E on texts", runEncoderCommand},
      {"transition", "trains the transition F on trajectories",
       runTransitionCommand},
      {"ranker", "trains the ranker G on measured candidates",
       runRankerCommand},
      {"eval", "compares scorers on fixed pools", runEvalCommand},
      {"export", "copies what a model needs to score, with a card",
       runExportCommand},
  };
  return commands;
}

TrainExit cwm::reportTrainError(Error error, TrainExit exit) {
  WithColor::error(errs(), "cwm-train")
      << nameFullDisk(toString(std::move(error))) << "\n";
  return exit;
}

static void printCommands(ArrayRef<TrainCommand> commands, raw_ostream &os) {
  os << "OVERVIEW: trains, evaluates and exports the world model\n\n"
        "exit status: 0 done, 1 usage or I/O error, 2 nothing to train on or "
        "diverged, 130 interrupted after a checkpoint\n\n"
        "USAGE: cwm-train <command> [options]\n\n"
        "COMMANDS:\n\n";
  for (const TrainCommand &command : commands)
    os << "  " << left_justify(command.name, 12) << "- " << command.summary
       << "\n";
  os << "\n  cwm-train <command> --help lists the options of a command\n";
}

TrainExit cwm::dispatchTrainCommand(ArrayRef<TrainCommand> commands, int argc,
                                    char **argv, raw_ostream &out,
                                    raw_ostream &err) {
  StringRef name = argc > 1 ? argv[1] : "";
  if (name == "--help" || name == "-help" || name == "-h") {
    printCommands(commands, out);
    return TrainExit::Done;
  }
  if (name == "--version" || name == "-version") {
    out << getToolchainVersion() << "\n";
    return TrainExit::Done;
  }
  for (const TrainCommand &command : commands) {
    if (command.name != name)
      continue;
    // LLVM prints the first argument where it names the tool.
    std::string tool = "cwm-train " + name.str();
    std::vector<char *> arguments = {tool.data()};
    arguments.insert(arguments.end(), argv + 2, argv + argc);
    arguments.push_back(nullptr);
    return command.run(argc - 1, arguments.data());
  }
  raw_ostream &os = WithColor::error(err, "cwm-train");
  if (argc < 2)
    os << "expected a command";
  else
    os << "unknown command '" << name << "'";
  os << "; known are: ";
  interleaveComma(commands, os,
                  [&](const TrainCommand &command) { os << command.name; });
  os << "\n";
  return TrainExit::Error;
}

TrainExit cwm::runTrain(int argc, char **argv) {
  removeLibraryOptions();
  cl::SetVersionPrinter(
      [](raw_ostream &os) { os << getToolchainVersion() << "\n"; });
  // A limit on file sizes is then an error of writing, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  TrainExit exit =
      dispatchTrainCommand(getTrainCommands(), argc, argv, outs(), errs());
  // Nobody reads what went to a standard error that takes nothing; LLVM would
  // end the process for it, with an exit code of its own.
  errs().clear_error();
  return exit;
}
