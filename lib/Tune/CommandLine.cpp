//===- CommandLine.cpp - Flags of cwm-tune -------------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Tune/Options.h"

#include "cwm/Database/Database.h"
#include "cwm/Support/CommandLine.h"
#include "cwm/Target/CPU/Hardware.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;

Error cwm::TuneOptions::validate() const {
  if (Error error = checkEmptyFlag(emptyFlag))
    return error;
  if (Error error = checkFlagName("target", target, {"cpu"}))
    return error;
  if (!scorer.empty())
    if (Error error = checkFlagName("scorer", scorer,
                                    {"world-model", "features", "random"}))
      return error;
  if (!model.empty() && !scorer.empty() && scorer != "world-model")
    return makeFlagError("--model is of no use with --scorer=" + scorer);
  if (Error error =
          checkFlagName("measurer", measurer, {"workers", "replay", "pretend"}))
    return error;
  if (Error error = checkFlagRange("trials", trials, 0, 1000000))
    return error;
  if (Error error = checkFlagRange("check-space", checkSpace, 0, 1000000))
    return error;
  if (Error error = checkFlagRange("jobs", jobs, 0, 256))
    return error;
  if (Error error = checkFlagRange("threads", threads, 1, 1024))
    return error;
  if (int64_t cores = getNumUsableCores();
      threads > cores && measurer == "workers")
    return makeFlagError("--threads=" + Twine(threads) +
                         ": this process may use " + Twine(cores) + " core" +
                         (cores == 1 ? "" : "s"));
  if (!std::isfinite(timeBudgetSeconds) || timeBudgetSeconds < 0 ||
      timeBudgetSeconds > 1e7)
    return makeFlagError(formatv("--time-budget={0}", timeBudgetSeconds).str() +
                         ": must be from 0 (no limit) to 10000000 seconds");
  if (explain && trials == 0)
    return makeFlagError("--explain: there are no scores with --trials=0");
  if (explain && scorer == "random")
    return makeFlagError("--explain: random scores have no reasons");
  if (measurer == "replay" && replayFrom.empty())
    return makeFlagError("--measurer=replay needs --replay-from");
  if (dryRun + countOnly + checkKnobs + (checkSpace > 0) > 1)
    return makeFlagError(
        "--dry-run, --count-only, --check-knobs and --check-space "
        "exclude each other");
  return Error::success();
}

cwm::TuneOptions cwm::parseTuneCommandLine(int argc, char **argv) {
  removeLibraryOptions();
  // Local to the call: the flags exist only in the tool that asks for them.
  TuneOptions options;
  cl::OptionCategory input("Input"), search("Search"),
      measurement("Measurement"), modelCategory("Model"), output("Output");

  cl::opt<std::string> payload(cl::Positional, cl::Required,
                               cl::desc("<payload.mlir, '-' for stdin>"),
                               cl::cat(input));
  cl::opt<std::string> function(
      "function", cl::value_desc("name"), cl::cat(input),
      cl::desc("Entry function (default: the only public one)"));
  cl::opt<std::string> schedule(
      "schedule", cl::value_desc("file"), cl::cat(input),
      cl::desc("Tune this schedule instead of the sketches that fit"));
  cl::opt<std::string> target("target", cl::value_desc("name"), cl::init("cpu"),
                              cl::cat(input),
                              cl::desc("Where the code is to run: cpu"));
  cl::opt<std::string> hardware(
      "hardware", cl::value_desc("file"), cl::cat(input),
      cl::desc("Hardware description (default: probe this machine)"));

  cl::opt<int64_t> trials("trials", cl::value_desc("n"),
                          cl::init(options.trials), cl::cat(search),
                          cl::desc("Candidates to measure, what a stopped run "
                                   "of the same search has measured included; "
                                   "0: take the default candidate, checked "
                                   "but not compared (default: 64)"));
  cl::opt<double> timeBudget(
      "time-budget", cl::value_desc("seconds"), cl::init(0), cl::cat(search),
      cl::desc("Stop after this time (default: 0, no limit)"));
  cl::opt<uint64_t> seed(
      "seed", cl::value_desc("n"), cl::init(0), cl::cat(search),
      cl::desc("Seed of the search: the same seed takes the same decisions, up "
               "to measured times (default: 0)"));
  cl::opt<bool> stockOnly(
      "stock-only", cl::cat(search),
      cl::desc("Refuse schedules that need ops of cwm to apply"));
  cl::opt<bool> dryRun("dry-run", cl::cat(search),
                       cl::desc("Print the space and the baseline's script, "
                                "measure nothing"));
  cl::opt<bool> countOnly(
      "count-only", cl::cat(search),
      cl::desc("Print how many candidates there are, measure nothing"));
  cl::opt<bool> checkKnobs(
      "check-knobs", cl::cat(search),
      cl::desc("Report options of knobs that change nothing, measure "
               "nothing"));
  cl::opt<int64_t> checkSpace(
      "check-space", cl::value_desc("n"), cl::init(0), cl::cat(search),
      cl::desc("Measure n random candidates instead of tuning, and report how "
               "many are valid, why others are not, how times spread, and "
               "options of knobs that change nothing"));

  cl::opt<int64_t> threads("threads", cl::value_desc("n"), cl::init(1),
                           cl::cat(measurement),
                           cl::desc("Threads of the kernel, at most the cores "
                                    "that this process may use; it is timed by "
                                    "the wall clock if there are several "
                                    "(default: 1)"));
  cl::opt<int64_t> jobs("jobs", cl::value_desc("n"), cl::init(0),
                        cl::cat(measurement),
                        cl::desc("Worker processes that compile (default: 0, "
                                 "one less than there are cores)"));
  cl::opt<bool> keepObjects("keep-objects", cl::cat(measurement),
                            cl::desc("Keep the object file of every candidate "
                                     "in <work-dir>/objects"));
  cl::opt<std::string> measurer("measurer", cl::init("workers"), cl::Hidden,
                                cl::cat(measurement),
                                cl::desc("workers, replay or pretend"));
  cl::opt<std::string> replayFrom(
      "replay-from", cl::Hidden, cl::cat(measurement),
      cl::desc("Exported records to replay instead of measuring"));
  cl::opt<std::string> replayJournal(
      "replay-journal", cl::Hidden, cl::cat(measurement),
      cl::desc("Append the key of every replayed candidate to this file"));
  cl::opt<int64_t> replayDelay("replay-delay-ms", cl::Hidden, cl::init(0),
                               cl::cat(measurement),
                               cl::desc("Time that a replayed trial takes"));

  cl::opt<std::string> scorer(
      "scorer", cl::value_desc("name"), cl::cat(modelCategory),
      cl::desc("What picks candidates: world-model (trained before, and learns "
               "during the run), features (learns during the run alone) or "
               "random (default: world-model where there is a model for the "
               "target, else features)"));
  cl::opt<std::string> model(
      "model", cl::value_desc("folder"), cl::cat(modelCategory),
      cl::desc("Model to score with (default: $CWM_MODEL, else the one that "
               "comes with cwm)"));

  cl::opt<bool> explain("explain", cl::cat(modelCategory),
                        cl::desc("Say which actions moved the score of the "
                                 "best candidate"));

  cl::opt<std::string> file("o", cl::value_desc("file"), cl::init("best.mlir"),
                            cl::cat(output),
                            cl::desc("Result, '-' for stdout (default: "
                                     "best.mlir)"));
  cl::opt<std::string> workDir(
      "work-dir", cl::value_desc("folder"), cl::cat(output),
      cl::desc("Records and crash reports (default: <payload>.cwm, or "
               "<payload>.<function>.cwm with --function, beside the "
               "result)"));
  cl::opt<std::string> database(
      "database", cl::value_desc("file"), cl::cat(output),
      cl::desc("Record store (default: <work-dir>/records.db)"));
  cl::opt<bool> resume("resume", cl::init(true), cl::cat(output),
                       cl::desc("Continue from the records of earlier runs; "
                                "--resume=false refuses if there are any "
                                "(default: true)"));
  cl::opt<std::string> exportRecords(
      "export-records", cl::value_desc("file"), cl::cat(output),
      cl::desc("Write all records as JSON Lines at the end"));
  cl::opt<std::string> importRecords(
      "import-records", cl::value_desc("file"), cl::cat(output),
      cl::desc("Add records from JSON Lines before the search"));
  cl::opt<std::string> summary(
      "summary", cl::value_desc("file"), cl::cat(output),
      cl::desc("Write the final table, or that of --check-space, as "
               "JSON"));
  cl::opt<bool> force("force", cl::cat(output),
                      cl::desc("Replace files that are not results of the same "
                               "payload"));
  cl::opt<bool> verbose("verbose", cl::cat(output),
                        cl::desc("Say which spaces and records are used, and "
                                 "why trials failed"));

  cl::SetVersionPrinter(
      [](raw_ostream &os) { os << getToolchainVersion() << "\n"; });
  cl::ParseCommandLineOptions(
      argc, argv,
      "finds a fast schedule for a linalg payload and writes it as a transform "
      "library that stock mlir-opt applies\n\n"
      "exit status: 0 done, 1 usage or I/O error, 2 no valid candidate, 130 "
      "interrupted after a summary\n");

  options.emptyFlag = findEmptyFlag(
      {&function, &schedule, &target, &hardware, &measurer, &replayFrom,
       &replayJournal, &scorer, &model, &file, &workDir, &database,
       &exportRecords, &importRecords, &summary});

  options.payload = payload;
  options.function = function;
  options.schedule = schedule;
  options.target = target;
  options.hardware = hardware;
  options.trials = trials;
  options.timeBudgetSeconds = timeBudget;
  options.seed = seed;
  options.scorer = scorer;
  options.model = model;
  options.explain = explain;
  options.stockOnly = stockOnly;
  options.dryRun = dryRun;
  options.countOnly = countOnly;
  options.checkKnobs = checkKnobs;
  options.checkSpace = checkSpace;
  options.threads = threads;
  options.jobs = jobs;
  options.measurer = measurer;
  options.replayFrom = replayFrom;
  options.replayJournal = replayJournal;
  options.replayDelayMs = replayDelay;
  options.keepObjects = keepObjects;
  options.output = file;
  options.workDir = workDir;
  options.database = database;
  options.resume = resume;
  options.exportRecords = exportRecords;
  options.importRecords = importRecords;
  options.summary = summary;
  options.force = force;
  options.verbose = verbose;
  return options;
}
