//===- Stage.cpp - What stages of training share ----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageFlags.h"

#include "cwm/Support/CommandLine.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace llvm;

namespace cwm {

//===----------------------------------------------------------------------===//
// Stage.h
//===----------------------------------------------------------------------===//

Error checkRealFlag(StringRef flag, double value, double low, double high) {
  if (std::isfinite(value) && value >= low && value <= high)
    return Error::success();
  return makeFlagError(
      formatv("--{0}={1}: must be from {2} to {3}", flag, value, low, high)
          .str());
}

Error checkFlagRanges(ArrayRef<FlagRange> ranges) {
  for (const FlagRange &range : ranges)
    if (Error error =
            checkFlagRange(range.flag, range.value, range.low, range.high))
      return error;
  return Error::success();
}

Error checkRealFlags(ArrayRef<RealFlagRange> ranges) {
  for (const RealFlagRange &range : ranges)
    if (Error error =
            checkRealFlag(range.flag, range.value, range.low, range.high))
      return error;
  return Error::success();
}

Error ProcessOptions::validate() const {
  if (Error error = checkFlagRange("threads", threads, 1, 1024))
    return error;
  if (Error error = checkFlagRange("ranks", ranks, 1, 1024))
    return error;
  if (Error error = checkFlagRange("rank", rank, 0, ranks - 1))
    return error;
  if (ranks > 1 && rendezvous.empty())
    return makeFlagError("--ranks=" + Twine(ranks) +
                         " needs --rendezvous=<file>");
  return Error::success();
}

Error ProcessOptions::join(const TorchLibrary &library) const {
  if (Error error =
          library.check(library->setThreads(static_cast<int32_t>(threads)),
                        "cannot use " + Twine(threads) + " threads"))
    return error;
  if (ranks == 1)
    return Error::success();
  constexpr int32_t timeoutSeconds = 300;
  return library.check(library->joinGroup(rendezvous.c_str(), address.c_str(),
                                          static_cast<int32_t>(rank),
                                          static_cast<int32_t>(ranks),
                                          timeoutSeconds),
                       "cannot meet the other processes");
}

std::string joinPath(StringRef folder, StringRef name) {
  SmallString<256> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

Error makeFolder(StringRef path) {
  if (std::error_code code = sys::fs::create_directories(path))
    return createStringError("cannot make the folder '" + path +
                             "': " + code.message());
  return Error::success();
}

//===----------------------------------------------------------------------===//
// StageFlags.h
//===----------------------------------------------------------------------===//

cl::opt<int64_t> makeNumberFlag(StringRef name, int64_t value,
                                cl::OptionCategory &category, StringRef text) {
  return cl::opt<int64_t>(name, cl::value_desc("n"), cl::init(value),
                          cl::cat(category), cl::desc(text));
}

cl::opt<double> makeRealFlag(StringRef name, double value,
                             cl::OptionCategory &category, StringRef text) {
  return cl::opt<double>(name, cl::value_desc("x"), cl::init(value),
                         cl::cat(category), cl::desc(text));
}

LoopFlags::LoopFlags(cl::OptionCategory &learning, cl::OptionCategory &output,
                     const LoopOptions &defaults, const CwmAdamOptions &adam,
                     StringRef stepsText, StringRef rateText)
    : steps(makeNumberFlag("steps", defaults.steps, learning, stepsText)),
      warmup(makeNumberFlag("warmup", defaults.warmupSteps, learning,
                            "Steps over which the learning rate rises "
                            "(default: 100)")),
      evaluateEvery(makeNumberFlag("evaluate-every", defaults.evaluateEvery,
                                   learning,
                                   "Steps between evaluations (default: "
                                   "100)")),
      patience(makeNumberFlag("patience", defaults.patience, learning,
                              "Stop after so many evaluations without a better "
                              "loss; 0: never (default: 5)")),
      checkpointEvery(makeNumberFlag("checkpoint-every",
                                     defaults.checkpointEvery, learning,
                                     "Steps between checkpoints (default: "
                                     "100)")),
      stopAfter("stop-after", cl::Hidden, cl::init(0), cl::cat(learning),
                cl::desc("Act as if interrupted after this step")),
      rate(
          makeRealFlag("learning-rate", adam.learningRate, learning, rateText)),
      decay(makeRealFlag("weight-decay", adam.weightDecay, learning,
                         "Decay of matrices, a step, times the learning rate "
                         "(default: 0.01)")),
      seed("seed", cl::value_desc("n"), cl::init(0), cl::cat(learning),
           cl::desc("Seed of weights, batches and dropout: the same seed and "
                    "number of threads give the same weights (default: 0)")),
      resume("resume", cl::init(true), cl::cat(output),
             cl::desc("Go on from the checkpoint in the work folder; "
                      "--resume=false starts anew (default: true)")) {}

void LoopFlags::apply(LoopOptions &loop, CwmAdamOptions &adam) const {
  loop.steps = steps;
  loop.warmupSteps = warmup;
  loop.evaluateEvery = evaluateEvery;
  loop.patience = patience;
  loop.checkpointEvery = checkpointEvery;
  loop.stopAfter = stopAfter;
  loop.resume = resume;
  adam.learningRate = rate;
  adam.weightDecay = decay;
}

Error validate(const LoopOptions &loop, const CwmAdamOptions &adam) {
  constexpr int64_t high = 100000000;
  if (Error error = checkFlagRanges(
          {{"steps", loop.steps, 0, high},
           {"warmup", loop.warmupSteps, 0, high},
           {"evaluate-every", loop.evaluateEvery, 1, high},
           {"patience", loop.patience, 0, high},
           {"checkpoint-every", loop.checkpointEvery, 1, high}}))
    return error;
  if (Error error = checkRealFlag("learning-rate", adam.learningRate, 0, 1))
    return error;
  return checkRealFlag("weight-decay", adam.weightDecay, 0, 1);
}

ProcessFlags::ProcessFlags(cl::OptionCategory &processes)
    : threads(makeNumberFlag("threads", 1, processes,
                             "Threads of this process (default: 1)")),
      ranks(makeNumberFlag("ranks", 1, processes,
                           "Processes that train together, each with its part "
                           "of every batch (default: 1)")),
      rank(makeNumberFlag("rank", 0, processes,
                          "Which of them this is, from 0 (default: 0)")),
      rendezvous("rendezvous", cl::value_desc("file"), cl::cat(processes),
                 cl::desc("File that all of them can reach and that does not "
                          "exist yet, where they meet")),
      address("address", cl::value_desc("host"), cl::init("127.0.0.1"),
              cl::cat(processes),
              cl::desc("This machine on the network between them (default: "
                       "127.0.0.1)")) {}

ProcessOptions ProcessFlags::get() const {
  return {threads, ranks, rank, rendezvous, address};
}

MeasuredFlags::MeasuredFlags(cl::OptionCategory &input)
    : target("measured-on", cl::value_desc("target"), cl::cat(input),
             cl::desc("Target whose measurements count, as stats names it "
                      "(default: the only one)")),
      latents("latents", cl::value_desc("file"), cl::cat(input),
              cl::desc("Latent states that were computed before, added to "
                       "(default: latents.bin in the work folder)")) {}

SplitFlags::SplitFlags(cl::OptionCategory &input, cl::OptionCategory &split)
    : workloads("workloads", cl::value_desc("file"), cl::cat(input),
                cl::init(WorkloadTable::getDefaultPath()),
                cl::desc("Workloads of the benchmarks and the networks that "
                         "are held out (default: the one that comes with "
                         "cwm)")),
      networks("leave-out-network", cl::value_desc("name"), cl::cat(split),
               cl::desc("Leave this network out of training as well; any "
                        "number of times")),
      families("leave-out-family", cl::value_desc("name"), cl::cat(split),
               cl::desc("Leave this family of operators out of training; any "
                        "number of times")),
      shapes("leave-out-shapes", cl::value_desc("n"), cl::init(0),
             cl::cat(split),
             cl::desc("Leave one of n shapes out of training (default: 0, "
                      "none)")) {}

SplitOptions SplitFlags::getOptions() const {
  SplitOptions options;
  options.networks.assign(networks.begin(), networks.end());
  options.families.assign(families.begin(), families.end());
  options.shapesOneIn = static_cast<unsigned>(shapes.getValue());
  return options;
}

Expected<Split> SplitFlags::makeSplit() const {
  if (Error error = checkFlagRange("leave-out-shapes", shapes, 0, 1000))
    return error;
  Expected<WorkloadTable> table = WorkloadTable::load(workloads);
  if (!table)
    return table.takeError();
  return Split::create(*table, getOptions());
}

} // namespace cwm
