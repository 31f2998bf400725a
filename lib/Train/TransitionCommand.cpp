//===- TransitionCommand.cpp - cwm-train transition -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "StageFlags.h"
#include "TransitionRun.h"

#include "cwm/Support/CommandLine.h"

using namespace llvm;
using namespace cwm;

TrainExit cwm::runTransitionCommand(int argc, char **argv) {
  TransitionRunOptions options;
  TransitionTrainingOptions &training = options.training;
  training.steps = 5000;
  RolloutSampler::Options &batches = training.batches;
  CwmRolloutOptions &step = training.step;
  cl::OptionCategory input("Input"), split("Split"), sizes("Network"),
      learning("Training"), processes("Processes"), output("Output");

  cl::opt<std::string> database(cl::Positional, cl::Required, cl::cat(input),
                                cl::desc("<database>"));
  cl::opt<std::string> model(
      "model", cl::value_desc("folder"), cl::init("model"), cl::cat(input),
      cl::desc("Model directory that has an encoder; the transition is added "
               "to it (default: model)"));
  cl::opt<std::string> latents(
      "latents", cl::value_desc("file"), cl::cat(input),
      cl::desc("Latent states that were computed already, and where new ones "
               "go (default: latents.bin in the work folder)"));
  SplitFlags splitFlags(input, split);

  auto action = makeNumberFlag("action-dim", options.actionDim, sizes,
                               "Length of an action (default: 64)");
  auto hidden = makeNumberFlag("hidden", options.hidden, sizes,
                               "Width of the residual network; 0: none "
                               "(default: 256)");

  LoopFlags loop(learning, output, training, step.adam,
                 "Steps of training (default: 5000)",
                 "Highest learning rate of Adam (default: 1e-3)");
  auto windows = makeNumberFlag("batch-windows", batches.windows, learning,
                                "Windows of a batch (default: 64)");
  auto windowSteps =
      makeNumberFlag("window-steps", batches.windowSteps, learning,
                     "Actions of a window, K (default: 8)");
  auto stride =
      makeNumberFlag("window-stride", batches.stride, learning,
                     "Actions from one window's beginning to the next's "
                     "(default: 4)");
  auto whole = makeNumberFlag("batch-whole", batches.whole, learning,
                              "Whole trajectories of a batch that has them "
                              "(default: 16)");
  auto wholeShare =
      makeRealFlag("whole", batches.wholeShare, learning,
                   "Share of the batches that are of whole trajectories, not "
                   "of windows (default: 0.5)");
  auto finalWeight =
      makeRealFlag("final-weight", batches.finalWeight, learning,
                   "Weight of the last state of a whole trajectory, where "
                   "others have 1 (default: 4)");
  auto sameNegatives =
      makeNumberFlag("negatives", batches.sameWorkload, learning,
                     "Negatives of a window, states of the same workload "
                     "(default: 8)");
  auto otherNegatives =
      makeNumberFlag("other-negatives", batches.otherWorkload, learning,
                     "Negatives of a window, states of other workloads "
                     "(default: 8)");
  auto sameMargin = makeRealFlag("margin", step.sameMargin, learning,
                                 "How much further away negatives of the same "
                                 "workload are to be (default: 0.1)");
  auto otherMargin = makeRealFlag("other-margin", step.otherMargin, learning,
                                  "The same for other workloads (default: "
                                  "0.3)");
  auto sameWeight = makeRealFlag("margin-weight", step.sameWeight, learning,
                                 "Weight of the hardest negative of the same "
                                 "workload; that of the match is 1 (default: "
                                 "1)");
  auto otherWeight =
      makeRealFlag("other-margin-weight", step.otherWeight, learning,
                   "The same for other workloads (default: 0.5)");
  auto validation = makeRealFlag("validation", options.validation, learning,
                                 "Share of the workloads that is kept to "
                                 "choose the best weights by (default: 0.1)");
  ProcessFlags processFlags(processes);
  cl::opt<std::string> workDir(
      "work-dir", cl::value_desc("folder"), cl::cat(output),
      cl::desc("Checkpoint, best weights, metrics.jsonl, rollout.json and "
               "latent states (default: <model>.transition)"));

  cl::ParseCommandLineOptions(
      argc, argv,
      "trains the transition F on trajectories, with the encoder of a model\n\n"
      "exit status: 0 done, 1 usage or I/O error, 2 nothing to train on or "
      "diverged, 130 interrupted after a checkpoint\n");
  if (Error error = checkEmptyFlag(findEmptyFlag(
          {&database, &model, &latents, &splitFlags.workloads,
           &processFlags.rendezvous, &processFlags.address, &workDir})))
    return reportTrainError(std::move(error));
  Expected<Split> madeSplit = splitFlags.makeSplit();
  if (!madeSplit)
    return reportTrainError(madeSplit.takeError());

  options.database = database;
  options.model = model;
  options.workDir = workDir.empty() ? model + ".transition" : workDir;
  options.latents = latents;
  options.split = std::move(*madeSplit);
  options.splitOptions = splitFlags.getOptions();
  options.actionDim = action;
  options.hidden = hidden;
  loop.apply(training, step.adam);
  batches.windows = windows;
  batches.windowSteps = windowSteps;
  batches.stride = stride;
  batches.whole = whole;
  batches.wholeShare = wholeShare;
  batches.finalWeight = finalWeight;
  batches.sameWorkload = sameNegatives;
  batches.otherWorkload = otherNegatives;
  batches.seed = loop.seed;
  step.sameMargin = sameMargin;
  step.otherMargin = otherMargin;
  step.sameWeight = sameWeight;
  step.otherWeight = otherWeight;
  options.validation = validation;
  options.seed = loop.seed;
  options.processes = processFlags.get();
  training.rank = batches.rank = options.processes.rank;
  batches.ranks = options.processes.ranks;
  return runTransition(std::move(options));
}
