//===- EncoderCommand.cpp - cwm-train encoder ----------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "EncoderRun.h"

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

  auto number = [](StringRef name, int64_t value, cl::OptionCategory &category,
                   StringRef text) {
    return cl::opt<int64_t>(name, cl::value_desc("n"), cl::init(value),
                            cl::cat(category), cl::desc(text));
  };
  auto real = [](StringRef name, double value, cl::OptionCategory &category,
                 StringRef text) {
    return cl::opt<double>(name, cl::value_desc("x"), cl::init(value),
                           cl::cat(category), cl::desc(text));
  };
  auto layers =
      number("layers", network.numLayers, sizes, "Layers (default: 2)");
  auto hidden =
      number("hidden", network.hiddenSize, sizes, "Hidden size (default: 128)");
  auto heads =
      number("heads", network.numHeads, sizes, "Attention heads (default: 4)");
  auto intermediate = number("intermediate", 0, sizes,
                             "Intermediate size (default: 0, 4 x hidden)");
  auto dim = number("dim", options.dim, sizes,
                    "Length of a latent state (default: 256)");
  auto window = number("window", network.windowTokens, sizes,
                       "Tokens of a window; half of it is the stride "
                       "(default: 1024)");

  auto steps = number("steps", training.steps, learning,
                      "Steps of training; 0: none, write the initial weights "
                      "(default: 2000)");
  auto warmup = number("warmup", training.warmupSteps, learning,
                       "Steps over which the learning rate rises (default: "
                       "100)");
  auto rate = real("learning-rate", training.step.learningRate, learning,
                   "Highest learning rate of Adam (default: 5e-4)");
  auto decay = real("weight-decay", training.step.weightDecay, learning,
                    "Decay of matrices, a step, times the learning rate "
                    "(default: 0.01)");
  auto dropout = real("dropout", training.step.dropout, learning,
                      "Share of activations that are dropped (default: 0.1)");
  auto temperature = real("temperature", training.step.temperature, learning,
                          "Of the contrastive loss (default: 0.07)");
  auto intra = real("intra-weight", training.step.intraWeight, learning,
                    "Weight of negatives of the same file (default: 2)");
  auto inter = real("inter-weight", training.step.interWeight, learning,
                    "Weight of negatives of other files (default: 1)");
  auto rewrites = real("rewrites", training.views.rewriteShare, learning,
                       "Share of positives that are rewritten texts, not just "
                       "dropped out (default: 0.5)");
  auto files = number("batch-files", training.batches.files, learning,
                      "Files of a batch (default: 8)");
  auto perFile = number("batch-texts", training.batches.textsPerFile, learning,
                        "Texts of each file in a batch (default: 4)");
  auto windows = number("max-windows", training.views.maxWindows, learning,
                        "Windows of a text that a step sees (default: 2)");
  auto validation = real("validation", options.validation, learning,
                         "Share of the workloads that is kept to choose the "
                         "best weights by (default: 0.1)");
  auto evaluateEvery =
      number("evaluate-every", training.evaluateEvery, learning,
             "Steps between evaluations (default: "
             "100)");
  auto patience = number("patience", training.patience, learning,
                         "Stop after so many evaluations without a better "
                         "loss; 0: never (default: 5)");
  auto checkpointEvery =
      number("checkpoint-every", training.checkpointEvery, learning,
             "Steps between checkpoints (default: "
             "100)");
  cl::opt<uint64_t> seed("seed", cl::value_desc("n"), cl::init(0),
                         cl::cat(learning),
                         cl::desc("Seed of weights, batches and dropout: the "
                                  "same seed and number of threads give the "
                                  "same weights (default: 0)"));
  cl::opt<int64_t> stopAfter("stop-after", cl::Hidden, cl::init(0),
                             cl::cat(learning),
                             cl::desc("Act as if interrupted after this step"));

  auto threads =
      number("threads", 1, processes, "Threads of this process (default: 1)");
  auto ranks = number("ranks", 1, processes,
                      "Processes that train together, each with its part of "
                      "every batch (default: 1)");
  auto rank = number("rank", 0, processes,
                     "Which of them this is, from 0 (default: 0)");
  cl::opt<std::string> rendezvous(
      "rendezvous", cl::value_desc("file"), cl::cat(processes),
      cl::desc("File that all of them can reach and that does not exist yet, "
               "where they meet"));
  cl::opt<std::string> address(
      "address", cl::value_desc("host"), cl::init("127.0.0.1"),
      cl::cat(processes),
      cl::desc("This machine on the network between them (default: "
               "127.0.0.1)"));

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
  cl::opt<bool> resume("resume", cl::init(true), cl::cat(output),
                       cl::desc("Go on from the checkpoint in the work folder; "
                                "--resume=false starts anew (default: true)"));

  cl::ParseCommandLineOptions(
      argc, argv,
      "trains the encoder E on texts of states and actions\n\n"
      "exit status: 0 done, 1 usage or I/O error, 2 nothing to train on or "
      "diverged, 130 interrupted after a checkpoint\n");
  if (Error error = checkEmptyFlag(
          findEmptyFlag({&tokenizer, &initFrom, &workloads, &rendezvous,
                         &address, &model, &workDir, &target})))
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
  training.steps = steps;
  training.warmupSteps = warmup;
  training.step.learningRate = rate;
  training.step.weightDecay = decay;
  training.step.dropout = dropout;
  training.step.temperature = temperature;
  training.step.intraWeight = intra;
  training.step.interWeight = inter;
  training.views.rewriteShare = rewrites;
  training.views.maxWindows = windows;
  training.views.seed = seed;
  training.views.rank = rank;
  training.views.ranks = ranks;
  training.batches.files = files;
  training.batches.textsPerFile = perFile;
  training.batches.seed = seed;
  training.evaluateEvery = evaluateEvery;
  training.patience = patience;
  training.checkpointEvery = checkpointEvery;
  training.stopAfter = stopAfter;
  training.rank = rank;
  training.resume = resume;
  options.validation = validation;
  options.seed = seed;
  options.threads = threads;
  options.rendezvous = rendezvous;
  options.address = address;
  options.model = model;
  options.workDir = workDir.empty() ? model + ".encoder" : workDir;
  options.target = target;
  return runEncoder(options);
}
