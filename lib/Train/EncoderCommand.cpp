//===- EncoderCommand.cpp - cwm-train encoder ----------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "EncoderRun.h"
#include "StageFlags.h"

#include "cwm/Dataset/Workloads.h"
#include "cwm/Support/CommandLine.h"

using namespace llvm;
using namespace cwm;

TrainExit cwm::runEncoderCommand(int argc, char **argv) {
  EncoderRunOptions options;
  EncoderTrainingOptions &training = options.training;
  EncoderConfig &network = options.network;
  cl::OptionCategory input("Input"), sizes("Network"), learning("Training"),
      processes("Processes"), output("Output");

  cl::opt<std::string> texts(
      cl::Positional, cl::desc("<texts.jsonl, '-' for stdin>"), cl::cat(input));
  cl::opt<std::string> tokenizer(
      "tokenizer", cl::value_desc("file"), cl::cat(input),
      cl::desc("tokenizer.json that the texts are read with (default: that of "
               "--init-from)"));
  cl::opt<std::string> initFrom(
      "init-from", cl::value_desc("folder"), cl::cat(input),
      cl::desc("Begin with RoBERTa's or CodeBERT's weights: config.json, "
               "model.safetensors, and tokenizer.json or vocab.json with "
               "merges.txt; sets the sizes of the network"));

  cl::opt<std::string> workloads(
      "workloads", cl::value_desc("file"), cl::cat(input),
      cl::init(WorkloadTable::getDefaultPath()),
      cl::desc("Table of workloads, which says what no training may see "
               "(default: benchmarks/workloads.json of this build or "
               "installation)"));

  auto layers =
      makeNumberFlag("layers", network.numLayers, sizes, "Layers (default: 2)");
  auto hidden = makeNumberFlag("hidden", network.hiddenSize, sizes,
                               "Hidden size (default: 128)");
  auto heads = makeNumberFlag("heads", network.numHeads, sizes,
                              "Attention heads (default: 4)");
  auto intermediate = makeNumberFlag(
      "intermediate", 0, sizes, "Intermediate size (default: 0, 4 x hidden)");
  auto dim = makeNumberFlag("dim", options.dim, sizes,
                            "Length of a latent state (default: 256)");
  auto window = makeNumberFlag("window", network.windowTokens, sizes,
                               "Tokens of a window; half of it is the stride "
                               "(default: 1024)");

  LoopFlags loop(learning, output, training, training.step.adam,
                 "Steps of training; 0: none, write the initial weights "
                 "(default: 2000)",
                 "Highest learning rate of Adam (default: 5e-4)");
  auto dropout =
      makeRealFlag("dropout", training.step.dropout, learning,
                   "Share of activations that are dropped (default: 0.1)");
  auto temperature =
      makeRealFlag("temperature", training.step.temperature, learning,
                   "Of the contrastive loss (default: 0.07)");
  auto intra =
      makeRealFlag("intra-weight", training.step.intraWeight, learning,
                   "Weight of negatives of the same file (default: 2)");
  auto inter = makeRealFlag("inter-weight", training.step.interWeight, learning,
                            "Weight of negatives of other files (default: 1)");
  auto rewrites =
      makeRealFlag("rewrites", training.views.rewriteShare, learning,
                   "Share of positives that are rewritten texts, not just "
                   "dropped out (default: 0.5)");
  auto files = makeNumberFlag("batch-files", training.batches.files, learning,
                              "Files of a batch (default: 8)");
  auto perFile =
      makeNumberFlag("batch-texts", training.batches.textsPerFile, learning,
                     "Texts of each file in a batch (default: 4)");
  auto windows =
      makeNumberFlag("max-windows", training.views.maxWindows, learning,
                     "Windows of a text that a step sees (default: 2)");
  auto validation =
      makeRealFlag("validation", options.validation, learning,
                   "Share of the workloads that is kept to choose the "
                   "best weights by (default: 0.1)");
  ProcessFlags processFlags(processes);

  cl::opt<std::string> model("o", cl::value_desc("folder"), cl::init("model"),
                             cl::cat(output),
                             cl::desc("Model directory to write (default: "
                                      "model)"));
  cl::opt<std::string> workDir(
      "work-dir", cl::value_desc("folder"), cl::cat(output),
      cl::desc("Checkpoint, best weights and metrics.jsonl (default: "
               "<model>.encoder)"));
  cl::opt<std::string> target("target", cl::value_desc("name"), cl::init("cpu"),
                              cl::cat(output),
                              cl::desc("Target that the model is for (default: "
                                       "cpu)"));
  cl::ParseCommandLineOptions(
      argc, argv,
      "trains the encoder E on texts of states and actions\n\n"
      "exit status: 0 done, 1 usage or I/O error, 2 nothing to train on or "
      "diverged, 130 interrupted after a checkpoint\n");
  if (Error error = checkEmptyFlag(findEmptyFlag(
          {&tokenizer, &initFrom, &workloads, &processFlags.rendezvous,
           &processFlags.address, &model, &workDir, &target})))
    return reportTrainError(std::move(error));

  options.texts = texts;
  options.tokenizer = tokenizer;
  options.initFrom = initFrom;
  options.workloads = workloads;
  network.numLayers = layers;
  network.hiddenSize = hidden;
  network.numHeads = heads;
  network.intermediateSize = intermediate > 0 ? intermediate : 4 * hidden;
  network.windowTokens = window;
  network.windowStride = window / 2;
  options.dim = dim;
  options.hasSizes = layers.getNumOccurrences() + hidden.getNumOccurrences() +
                         heads.getNumOccurrences() +
                         intermediate.getNumOccurrences() >
                     0;
  options.hasWindow = window.getNumOccurrences() > 0;
  loop.apply(training, training.step.adam);
  training.step.dropout = dropout;
  training.step.temperature = temperature;
  training.step.intraWeight = intra;
  training.step.interWeight = inter;
  training.views.rewriteShare = rewrites;
  training.views.maxWindows = windows;
  training.views.seed = loop.seed;
  options.processes = processFlags.get();
  training.rank = training.views.rank = options.processes.rank;
  training.views.ranks = options.processes.ranks;
  training.batches.files = files;
  training.batches.textsPerFile = perFile;
  training.batches.seed = loop.seed;
  options.validation = validation;
  options.seed = loop.seed;
  options.model = model;
  options.workDir = workDir.empty() ? model + ".encoder" : workDir;
  options.target = target;
  return runEncoder(options);
}
