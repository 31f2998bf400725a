//===- RankerCommand.cpp - Command line of cwm-train ranker -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "RankerRun.h"
#include "StageFlags.h"

#include "cwm/Support/CommandLine.h"

using namespace llvm;
using namespace cwm;

TreeFlags::TreeFlags(cl::OptionCategory &category)
    : trees(makeNumberFlag("trees", 400, category,
                           "Trees at most (default: 400)")),
      depth(
          makeNumberFlag("depth", 6, category, "Depth of a tree (default: 6)")),
      pairs(makeNumberFlag("pairs", 32, category,
                           "Candidates of its workload that one is compared "
                           "with (default: 32)")),
      patience(makeNumberFlag("patience", 60, category,
                              "Stop after so many trees without a better "
                              "NDCG@10; 0: never (default: 60)")),
      threads(makeNumberFlag("threads", 1, category,
                             "Threads of XGBoost (default: 1)")),
      rate(makeRealFlag("learning-rate", 0.05, category,
                        "What a tree's values are multiplied by (default: "
                        "0.05)")),
      rows(makeRealFlag("row-share", 0.8, category,
                        "Share of the candidates that a tree sees (default: "
                        "0.8)")),
      columns(makeRealFlag("column-share", 0.5, category,
                           "Share of the inputs that a tree sees (default: "
                           "0.5)")),
      childWeight(makeRealFlag("min-child-weight", 0.01, category,
                               "Least sum of second derivatives of a leaf "
                               "(default: 0.01)")),
      lambda(makeRealFlag("lambda", 1, category,
                          "Penalty on the squares of leaves (default: 1)")),
      validation(makeRealFlag("validation", 0.1, category,
                              "Share of the workloads that is kept to choose "
                              "the number of trees by (default: 0.1)")) {}

void TreeFlags::apply(RankerTrainingOptions &options) const {
  options.trees = trees;
  options.depth = depth;
  options.pairs = pairs;
  options.patience = patience;
  options.threads = threads;
  options.learningRate = rate;
  options.rowShare = rows;
  options.columnShare = columns;
  options.minChildWeight = childWeight;
  options.lambda = lambda;
  options.validation = validation;
}

TrainExit cwm::runRankerCommand(int argc, char **argv) {
  RankerRunOptions options;
  cl::OptionCategory input("Input"), split("Split"), learning("Training"),
      output("Output");
  cl::opt<std::string> database(cl::Positional, cl::Required, cl::cat(input),
                                cl::desc("<database>"));
  MeasuredFlags measured(input);
  SplitFlags splitFlags(input, split);
  cl::opt<std::string> state(
      "state", cl::value_desc("name"), cl::init("rollout"), cl::cat(learning),
      cl::desc("Latent state that the ranker sees: rollout (predicted), "
               "initial (the payload's), final (true: for evaluation only), "
               "none (default: rollout)"));
  cl::opt<std::string> actions(
      "actions", cl::value_desc("on|off"), cl::init("on"), cl::cat(learning),
      cl::desc("Whether it sees the features of the actions (default: on)"));
  cl::opt<std::string> objective(
      "objective", cl::value_desc("name"), cl::init("rank:ndcg"),
      cl::cat(learning),
      cl::desc("rank:ndcg, rank:pairwise or reg:squarederror (default: "
               "rank:ndcg)"));
  TreeFlags tree(learning);
  cl::opt<uint64_t> seed("seed", cl::value_desc("n"), cl::init(0),
                         cl::cat(learning),
                         cl::desc("Seed of the validation workloads and of "
                                  "what trees see (default: 0)"));
  cl::opt<int64_t> checkpointEvery(
      "checkpoint-every", cl::value_desc("n"), cl::init(25), cl::cat(learning),
      cl::desc("Trees between checkpoints (default: 25)"));
  cl::opt<int64_t> stopAfter("stop-after", cl::Hidden, cl::init(0),
                             cl::cat(learning),
                             cl::desc("Act as if interrupted after this tree"));
  cl::opt<std::string> model(
      "model", cl::value_desc("folder"), cl::init("model"), cl::cat(output),
      cl::desc("Model directory that has encoder and transition, and gets the "
               "ranker (default: model)"));
  cl::opt<std::string> workDir(
      "work-dir", cl::value_desc("folder"), cl::cat(output),
      cl::desc("Checkpoint, latent states and metrics.jsonl (default: "
               "<model>.ranker)"));
  cl::opt<bool> resume("resume", cl::init(true), cl::cat(output),
                       cl::desc("Go on from the checkpoint in the work folder; "
                                "--resume=false starts anew (default: true)"));
  cl::opt<bool> replace("replace", cl::cat(output),
                        cl::desc("Replace the ranker that the model has"));
  cl::ParseCommandLineOptions(
      argc, argv,
      "trains the ranker G on measured candidates\n\n"
      "exit status: 0 done, 1 usage or I/O error, 2 nothing to train on, 130 "
      "interrupted after a checkpoint\n");
  if (Error error = checkEmptyFlag(
          findEmptyFlag({&database, &measured.target, &measured.latents,
                         &splitFlags.workloads, &state, &actions, &objective,
                         &model, &workDir})))
    return reportTrainError(std::move(error));
  options.database = database;
  options.model = model;
  options.workDir = workDir.empty() ? model + ".ranker" : workDir;
  options.latents = measured.latents;
  options.target = measured.target;
  options.state = state;
  options.actions = actions;
  options.replace = replace;
  options.training.inputs.objective = objective;
  tree.apply(options.training);
  options.training.seed = seed;
  options.training.checkpointEvery = checkpointEvery;
  options.training.stopAfter = stopAfter;
  options.training.resume = resume;
  if (Error error = options.validate())
    return reportTrainError(std::move(error));
  Expected<Split> made = splitFlags.makeSplit();
  if (!made)
    return reportTrainError(made.takeError());
  options.split.emplace(std::move(*made));
  options.splitOptions = splitFlags.getOptions();
  return runRanker(std::move(options));
}
