//===- EvalCommand.cpp - Command line of cwm-train eval ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "EvalRun.h"
#include "StageFlags.h"

#include "cwm/Support/CommandLine.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace cwm;

/// What was typed, to be repeated.
static std::string joinArguments(int argc, char **argv) {
  std::string text = argv[0];
  for (int i = 1; i < argc; ++i)
    text += " " + std::string(argv[i]);
  return text;
}

TrainExit cwm::runEvalCommand(int argc, char **argv) {
  EvalOptions options;
  options.command = joinArguments(argc, argv);
  cl::OptionCategory input("Input"), split("Split"), evaluating("Evaluation"),
      learning("Training"), output("Output");
  cl::list<std::string> pools(cl::Positional, cl::OneOrMore, cl::cat(input),
                              cl::desc("<pools, or folders of pools>"));
  cl::opt<std::string> model(
      "model", cl::value_desc("folder"), cl::cat(input),
      cl::desc("Model directory whose ranker is evaluated, and whose encoder "
               "and transition the trained methods use"));
  cl::opt<std::string> database(
      "database", cl::value_desc("file"), cl::cat(input),
      cl::desc("Measured candidates that the methods which are compared are "
               "trained on (default: none, nothing is trained)"));
  MeasuredFlags measured(input);
  SplitFlags splitFlags(input, split);
  cl::list<std::string> methods(
      "methods", cl::value_desc("names"), cl::CommaSeparated,
      cl::cat(evaluating),
      cl::desc("Only these, of: model, full, phi-only, initial-state, "
               "final-state, no-action-features, regression, online, random, "
               "oracle (default: all that there is something for)"));
  auto seeds = makeNumberFlag("seeds", 5, evaluating,
                              "Seeds of training and search (default: 5)");
  auto trials = makeNumberFlag("trials", 128, evaluating,
                               "Trials of simulated searches (default: 128)");
  auto bootstrap =
      makeNumberFlag("bootstrap", 10000, evaluating,
                     "Samples of a bootstrap interval (default: 10000)");
  cl::opt<bool> rollouts(
      "rollouts", cl::cat(evaluating),
      cl::desc("Also compare predicted with true states, which encodes every "
               "state of pools and database"));
  TreeFlags tree(learning);
  cl::opt<std::string> out(
      "o", cl::value_desc("prefix"), cl::init("evaluation"), cl::cat(output),
      cl::desc("Write <prefix>.md and <prefix>.json (default: evaluation)"));
  cl::opt<std::string> workDir(
      "work-dir", cl::value_desc("folder"), cl::cat(output),
      cl::desc("Trained rankers, latent states, searches: an evaluation that "
               "was interrupted goes on (default: <prefix>.work)"));
  cl::opt<std::string> commit("commit", cl::value_desc("text"), cl::cat(output),
                              cl::desc("Named in the head of the report"));
  cl::ParseCommandLineOptions(
      argc, argv,
      "evaluates scorers on fixed pools and prints a report\n\n"
      "exit status: 0 done, 1 usage or I/O error, 2 nothing to train or "
      "evaluate on, 130 interrupted; the same command goes on\n");
  if (Error error = checkEmptyFlag(
          findEmptyFlag({&model, &database, &measured.target, &measured.latents,
                         &splitFlags.workloads, &out, &workDir, &commit})))
    return reportTrainError(std::move(error));
  options.pools.assign(pools.begin(), pools.end());
  options.model = model;
  options.database = database;
  options.target = measured.target;
  options.latents = measured.latents;
  options.methods.assign(methods.begin(), methods.end());
  options.rollouts = rollouts;
  options.seeds = seeds;
  options.trials = trials;
  options.bootstrap = bootstrap;
  tree.apply(options.training);
  options.output = out;
  options.workDir = workDir.empty() ? out + ".work" : workDir;
  options.commit = commit;
  if (Error error = options.validate())
    return reportTrainError(std::move(error));
  Expected<WorkloadTable> table = WorkloadTable::load(splitFlags.workloads);
  if (!table)
    return reportTrainError(table.takeError());
  options.table.emplace(std::move(*table));
  Expected<Split> made = splitFlags.makeSplit();
  if (!made)
    return reportTrainError(made.takeError());
  options.split.emplace(std::move(*made));
  options.splitOptions = splitFlags.getOptions();
  return runEval(std::move(options));
}
