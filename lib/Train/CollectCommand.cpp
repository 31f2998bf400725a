//===- CollectCommand.cpp - cwm-train collect ----------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "cwm/Dataset/Collect.h"
#include "cwm/Support/CommandLine.h"
#include "cwm/Support/ProgressLine.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace cwm;

namespace {
/// Everything that the command line says.
struct CollectFlags {
  std::vector<std::string> payloads;
  std::string hardware, database, workloads, measure;
  bool dryRun = false;
  CollectOptions options;
  std::string emptyFlag;

  Error validate();
};
} // namespace

Error CollectFlags::validate() {
  if (Error error = checkEmptyFlag(emptyFlag))
    return error;
  if (Error error = checkFlagName("target", options.target, {"cpu"}))
    return error;
  if (Error error = checkFlagRange("samples", options.samples, 1, 1000000))
    return error;
  if (Error error = checkFlagRange("jobs", options.jobs, 0, 256))
    return error;
  if (Error error = checkFlagRange("threads", options.threads, 1, 1024))
    return error;
  if (Error error = checkFlagName("measurer", options.measurer.name,
                                  {"workers", "replay", "pretend"}))
    return error;
  Expected<MeasureShare> share = MeasureShare::parse(measure);
  if (!share)
    return share.takeError();
  options.measure = *share;
  if (!options.poolDir.empty() && share->getCount(options.samples) == 0)
    return makeFlagError("--pools needs --measure: pools are of measured "
                         "candidates");
  return Error::success();
}

static CollectFlags parseFlags(int argc, char **argv) {
  CollectFlags flags;
  CollectOptions &options = flags.options;
  cl::OptionCategory input("Input"), search("Search"),
      measurement("Measurement"), output("Output");

  cl::list<std::string> payloads(
      cl::Positional, cl::OneOrMore, cl::cat(input),
      cl::desc("<payloads: files, folders or 'patterns*'>..."));
  cl::opt<std::string> target("target", cl::value_desc("name"), cl::init("cpu"),
                              cl::cat(input),
                              cl::desc("Where the code is to run: cpu"));
  cl::opt<std::string> hardware(
      "hardware", cl::value_desc("file"), cl::cat(input),
      cl::desc("Hardware description (default: probe this machine)"));
  cl::opt<std::string> workloads(
      "workloads", cl::value_desc("file"), cl::cat(input),
      cl::init(WorkloadTable::getDefaultPath()),
      cl::desc("Workloads of the benchmarks and the networks that are held out "
               "(default: the one that comes with cwm)"));

  cl::opt<int64_t> samples(
      "samples", cl::value_desc("n"), cl::init(options.samples),
      cl::cat(search),
      cl::desc("Random candidates of each payload, recorded and not measured "
               "(default: 100)"));
  cl::opt<uint64_t> seed("seed", cl::value_desc("n"), cl::init(0),
                         cl::cat(search),
                         cl::desc("Seed of the samples (default: 0)"));
  cl::opt<bool> dryRun(
      "dry-run", cl::cat(search),
      cl::desc("Print a line of JSON for each payload, collect nothing"));

  cl::opt<std::string> measure(
      "measure", cl::value_desc("n"), cl::init("0"), cl::cat(measurement),
      cl::desc("How many of the samples are measured as well: a number, or a "
               "share as 0.25 or 25% (default: 0)"));
  cl::opt<int64_t> threads("threads", cl::value_desc("n"), cl::init(1),
                           cl::cat(measurement),
                           cl::desc("Threads of the kernels (default: 1)"));
  cl::opt<int64_t> jobs(
      "jobs", cl::value_desc("n"), cl::init(0), cl::cat(measurement),
      cl::desc("Worker processes that record or compile (default: 0, by the "
               "cores)"));
  cl::opt<std::string> measurer("measurer", cl::init("workers"), cl::Hidden,
                                cl::cat(measurement),
                                cl::desc("workers, replay or pretend"));
  cl::opt<std::string> replayJournal(
      "replay-journal", cl::Hidden, cl::cat(measurement),
      cl::desc("Append the key of every replayed candidate to this file"));
  cl::opt<int64_t> replayDelay("replay-delay-ms", cl::Hidden, cl::init(0),
                               cl::cat(measurement),
                               cl::desc("Time that a replayed trial takes"));

  cl::opt<std::string> database(
      "database", cl::value_desc("file"), cl::init("trajectories.db"),
      cl::cat(output),
      cl::desc("Where trajectories and records go, added to what is there "
               "(default: trajectories.db)"));
  cl::opt<std::string> workDir(
      "work-dir", cl::value_desc("folder"), cl::cat(output),
      cl::desc("Crash reports and temporary files (default: "
               "<database>.work)"));
  cl::opt<std::string> pools(
      "pools", cl::value_desc("folder"), cl::cat(output),
      cl::desc("Write a pool file for each payload: its measured candidates "
               "with times, actions and states"));

  cl::ParseCommandLineOptions(
      argc, argv,
      "samples candidates of payloads at random, records what each does to its "
      "payload step by step, and measures a share of them\n\n"
      "What was stored once is not done again: the same command continues a "
      "run that was interrupted or killed, and more --samples continue a "
      "finished one.\n");

  flags.emptyFlag =
      findEmptyFlag({&target, &hardware, &workloads, &measure, &measurer,
                     &replayJournal, &database, &workDir, &pools});
  flags.payloads.assign(payloads.begin(), payloads.end());
  flags.hardware = hardware;
  flags.workloads = workloads;
  flags.database = database;
  flags.measure = measure;
  flags.dryRun = dryRun;
  options.target = target;
  options.samples = samples;
  options.seed = seed;
  options.threads = threads;
  options.jobs = jobs;
  options.measurer.name = measurer;
  options.measurer.replayJournal = replayJournal;
  options.measurer.replayDelayMs = replayDelay;
  options.workDir = workDir.empty() ? flags.database + ".work" : workDir;
  options.poolDir = pools;
  return flags;
}

static std::string formatClasses(const StringMap<int64_t> &byStatus) {
  std::string text;
  for (int status = 0; status <= static_cast<int>(TrialStatus::WrongResult);
       ++status) {
    StringRef name = stringifyTrialStatus(static_cast<TrialStatus>(status));
    if (int64_t count = byStatus.lookup(name))
      text += formatv("{0}{1} {2}", text.empty() ? "" : ", ", count, name);
  }
  return text.empty() ? "" : " (" + text + ")";
}

static void printSummary(const CollectSummary &summary, raw_ostream &os) {
  os << summary.complete << " payloads complete, " << summary.completeBefore
     << " were before, " << summary.refused.size() << " refused\n"
     << summary.recorded << " trajectories recorded"
     << formatClasses(summary.recordedByStatus);
  if (summary.recorded > 0)
    os << formatv(", {0:f1} ms each",
                  1e3 * summary.recordSeconds /
                      static_cast<double>(summary.recorded));
  os << "\n"
     << summary.measured << " candidates measured"
     << formatClasses(summary.measuredByStatus);
  if (summary.measured > 0)
    os << formatv(", {0:f2} s each", summary.measureSeconds /
                                         static_cast<double>(summary.measured));
  os << formatv("\n{0:f0} s in all\n", summary.seconds);
}

/// Prints what is known of each payload.
static TrainExit describeAll(ArrayRef<std::string> files,
                             const CollectFlags &flags,
                             const WorkloadTable &table,
                             const HardwareDescription &hardware) {
  bool refused = false;
  for (const std::string &file : files) {
    json::Value line = describePayload(
        file, table, hardware, flags.options.target, flags.options.threads);
    refused |= line.getAsObject()->get("refused") != nullptr;
    outs() << line << "\n";
  }
  outs().flush();
  return refused ? TrainExit::Error : TrainExit::Done;
}

TrainExit cwm::runCollectCommand(int argc, char **argv) {
  CollectFlags flags = parseFlags(argc, argv);
  if (Error error = flags.validate())
    return reportTrainError(std::move(error));
  Expected<WorkloadTable> table = WorkloadTable::load(flags.workloads);
  if (!table)
    return reportTrainError(table.takeError());
  Expected<std::vector<std::string>> files = findPayloadFiles(flags.payloads);
  if (!files)
    return reportTrainError(files.takeError());
  Expected<HardwareDescription> hardware =
      flags.hardware.empty() ? probeHardware()
                             : HardwareDescription::fromFile(flags.hardware);
  if (!hardware)
    return reportTrainError(hardware.takeError());
  if (flags.dryRun)
    return describeAll(*files, flags, *table, *hardware);

  Expected<std::unique_ptr<Database>> database = Database::open(flags.database);
  if (!database)
    return reportTrainError(database.takeError());
  InterruptScope interrupts(
      "cwm-train: interrupted; the same command continues\n");
  Collector collector(**database, *table, *hardware, flags.options, interrupts);
  ProgressLine line(errs(), ProgressLine::getTerminalColumns());
  size_t lastPayload = 0;
  double lastSeconds = 0;
  collector.onProgress = [&](const CollectProgress &progress) {
    // In a log, a line for each payload, and one a minute.
    bool isNews =
        progress.payload != lastPayload || progress.seconds > lastSeconds + 60;
    if (isNews) {
      lastPayload = progress.payload;
      lastSeconds = progress.seconds;
    }
    line.show(formatProgress(progress), isNews);
  };
  collector.onNote = [&](StringRef note) {
    line.finish();
    WithColor::warning(errs(), "cwm-train") << note << "\n";
  };
  Expected<CollectSummary> summary = collector.run(*files);
  line.finish();
  if (!summary)
    return reportTrainError(summary.takeError());
  printSummary(*summary, errs());
  if (Error error = (*database)->checkInPlace())
    return reportTrainError(std::move(error));
  if (summary->interrupted)
    return TrainExit::Interrupted;
  return summary->refused.empty() ? TrainExit::Done : TrainExit::Error;
}
