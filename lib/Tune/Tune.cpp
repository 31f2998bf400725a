//===- Tune.cpp - The driver behind cwm-tune ------------------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Tune/Tune.h"

#include "InputDiagnostics.h"
#include "KnobCheck.h"
#include "Measurement.h"

#include "cwm/InitAll.h"
#include "cwm/Sketches/Sketches.h"
#include "cwm/Support/WriteFile.h"
#include "cwm/Target/CPU/Lowering.h"
#include "cwm/Tune/Interrupt.h"
#include "cwm/Tune/OutputFile.h"
#include "cwm/Tune/Report.h"
#include "cwm/Tune/ResultFile.h"
#include "cwm/Tune/WorkDirectory.h"

#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"

#include <chrono>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

using namespace mlir;
using namespace cwm;

namespace {
using Clock = std::chrono::steady_clock;

/// One run. The methods are its phases; each says what went wrong and returns
/// false, having set `exit`.
class TuneRun {
public:
  TuneRun(const TuneOptions &options, InterruptScope &interrupts)
      : options(options), interrupts(interrupts), started(Clock::now()),
        context(makeRegistry(), MLIRContext::Threading::DISABLED),
        diagnostics(&context) {
    // One error a mistake: no dump of the whole module behind it.
    context.printOpOnDiagnostic(false);
  }
  ~TuneRun() { interrupts.clearMeasurer(); }

  TuneExit run();

private:
  static const DialectRegistry &makeRegistry();
  bool loadInputs();
  bool findSpaces();
  bool printSpaces();
  bool checkKnobs();
  bool openStores();
  bool search();
  bool writeResult();
  bool checkResult(const std::string &id, const std::string &text);
  bool writeExtras();

  bool fail(llvm::Error error, TuneExit code = TuneExit::Error);
  bool fail(const Twine &message, TuneExit code = TuneExit::Error);
  void remark(const Twine &message);

  const TuneOptions &options;
  InterruptScope &interrupts;
  Clock::time_point started;
  MLIRContext context;
  InputDiagnostics diagnostics;
  TuneExit exit = TuneExit::Done;

  HardwareDescription hardware;
  std::optional<Payload> payload;
  std::vector<std::unique_ptr<Space>> spaces;
  std::optional<WorkDirectory> workDirectory;
  std::unique_ptr<Database> database;
  std::unique_ptr<Measurer> measurer;
  RunReport report;
};
} // namespace

const DialectRegistry &TuneRun::makeRegistry() {
  static const DialectRegistry registry = [] {
    DialectRegistry all;
    mlir::registerAllDialects(all);
    mlir::registerAllExtensions(all);
    cwm::registerAllDialects(all);
    return all;
  }();
  return registry;
}

bool TuneRun::fail(llvm::Error error, TuneExit code) {
  return fail(llvm::toString(std::move(error)), code);
}

bool TuneRun::fail(const Twine &message, TuneExit code) {
  // Workers and libraries have words of their own for a full disk.
  llvm::WithColor::error(llvm::errs(), "cwm-tune")
      << nameFullDisk(message.str()) << "\n";
  exit = code;
  return false;
}

void TuneRun::remark(const Twine &message) {
  if (options.verbose)
    llvm::WithColor::remark(llvm::errs(), "cwm-tune") << message << "\n";
}

bool TuneRun::loadInputs() {
  llvm::Expected<HardwareDescription> description =
      options.hardware.empty()
          ? probeHardware()
          : HardwareDescription::fromFile(options.hardware);
  if (!description)
    return fail(description.takeError());
  hardware = std::move(*description);
  diagnostics.setFile(options.payload);
  FailureOr<Payload> loaded =
      loadPayload(options.payload, options.function, &context);
  if (failed(loaded)) {
    exit = TuneExit::Error;
    return false;
  }
  payload = std::move(*loaded);
  return true;
}

bool TuneRun::findSpaces() {
  diagnostics.setFile(options.schedule);
  if (options.schedule.empty()) {
    FailureOr<std::vector<std::unique_ptr<Space>>> found =
        buildSpaces(*payload, hardware, getSchedulesDir(options.target));
    if (failed(found)) {
      exit = TuneExit::Error;
      return false;
    }
    spaces = std::move(*found);
  } else {
    FailureOr<std::unique_ptr<Space>> space =
        buildUserSpace(options.schedule, &context);
    if (failed(space)) {
      exit = TuneExit::Error;
      return false;
    }
    spaces.push_back(std::move(*space));
  }
  std::vector<const Space *> nonStock;
  for (const std::unique_ptr<Space> &space : spaces) {
    std::string why;
    std::optional<Assignment> candidate = space->getDefault(&why);
    if (!candidate) {
      return fail(
          "schedule '" + space->getName() +
              "' has no candidate that satisfies its constraints: " + why,
          TuneExit::NoValidCandidate);
    }
    FailureOr<OwningOpRef<ModuleOp>> script = space->bind(*candidate);
    if (failed(script)) {
      exit = TuneExit::Error;
      return false;
    }
    if (Operation *op = findNonStockOp(**script); op && options.stockOnly) {
      if (options.schedule.empty() && spaces.size() > 1) {
        remark(llvm::formatv("space '{0}' uses {1}: left out (--stock-only)",
                             space->getName(), describeNonStockOp(op)));
        nonStock.push_back(space.get());
        continue;
      }
      op->emitError() << "uses " << describeNonStockOp(op)
                      << " of cwm: schedule '" << space->getName()
                      << "' does not apply with stock mlir-opt (--stock-only)";
      exit = TuneExit::Error;
      return false;
    }
    remark(llvm::formatv("space '{0}': {1} candidates before constraints",
                         space->getName(),
                         llvm::format("%g", space->countUnconstrained())));
  }
  llvm::erase_if(spaces, [&](const std::unique_ptr<Space> &space) {
    return llvm::is_contained(nonStock, space.get());
  });
  return true;
}

/// How many candidates `space` has, exactly where that is cheap.
static std::string describeCount(const Space &space) {
  if (std::optional<uint64_t> count = space.countExact(1000000))
    return std::to_string(*count);
  std::string text;
  llvm::raw_string_ostream(text)
      << "up to " << llvm::format("%.6g", space.countUnconstrained());
  return text;
}

bool TuneRun::printSpaces() {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const std::unique_ptr<Space> &space : spaces) {
    os << (options.dryRun ? "// " : "") << space->getName() << ": "
       << describeCount(*space) << " candidates\n";
    if (!options.dryRun)
      continue;
    for (const Knob &knob : space->getKnobs()) {
      uint64_t count = knob.getNumOptions();
      os << "//   " << knob.name << ": " << count << " options:";
      constexpr uint64_t shown = 8;
      for (uint64_t i = 0; i < std::min(count, shown); ++i)
        os << " " << knob.getOptionText(i)
           << (i == knob.defaultIndex ? " (default)" : "");
      os << (count > shown ? " ...\n" : "\n");
    }
  }
  if (options.dryRun) {
    FailureOr<OwningOpRef<ModuleOp>> script =
        spaces.front()->bind(*spaces.front()->getDefault());
    if (failed(script)) {
      exit = TuneExit::Error;
      return false;
    }
    os << "// baseline: "
       << spaces.front()->getKey(*spaces.front()->getDefault()) << "\n"
       << **script << "\n";
  }
  if (llvm::Error error = writeFile("-", text))
    return fail(std::move(error));
  return true;
}

bool TuneRun::checkKnobs() {
  if (llvm::Error error = runKnobCheck(*payload, options.schedule))
    return fail(std::move(error));
  return true;
}

bool TuneRun::openStores() {
  StringRef workload = payload->getWorkloadHash();
  std::string path =
      options.workDir.empty()
          ? WorkDirectory::getDefaultPath(options.payload, options.function,
                                          options.output)
          : options.workDir;
  if (llvm::Error error = checkDistinct(
          {{options.output, "the result (-o)"},
           {options.summary, "the summary (--summary)"},
           {options.exportRecords, "the exported records (--export-records)"}},
          {{options.payload, "the payload"},
           {options.schedule, "the schedule (--schedule)"},
           {options.hardware, "the hardware description (--hardware)"},
           {options.importRecords, "the imported records (--import-records)"},
           {options.replayFrom, "the replayed records (--replay-from)"},
           {options.database, "the database (--database)"}},
          path))
    return fail(std::move(error));
  if (!options.exportRecords.empty())
    if (llvm::Error error = checkExtraOutput(options.exportRecords,
                                             "--export-records", options.force))
      return fail(std::move(error));
  if (!options.summary.empty())
    if (llvm::Error error =
            checkExtraOutput(options.summary, "--summary", options.force))
      return fail(std::move(error));
  if (llvm::Error error = checkOutput(options.output, workload, options.force))
    return fail(std::move(error));
  if (!options.database.empty())
    if (llvm::Error error = Database::checkFile(options.database))
      return fail(std::move(error));
  llvm::Expected<WorkDirectory> directory =
      WorkDirectory::open(path, *payload, options.payload);
  if (!directory)
    return fail(directory.takeError());
  workDirectory = std::move(*directory);

  std::string file = options.database.empty()
                         ? workDirectory->getFile("records.db")
                         : options.database;
  llvm::Expected<std::unique_ptr<Database>> opened = Database::open(file);
  if (!opened)
    return fail(opened.takeError());
  database = std::move(*opened);
  if (!options.importRecords.empty()) {
    llvm::Expected<int64_t> added =
        database->importJSONL(options.importRecords);
    if (!added)
      return fail(added.takeError());
    remark(llvm::formatv("imported {0} records from '{1}'", *added,
                         options.importRecords));
  }

  std::string target = hardware.getTargetKey(options.threads);
  llvm::Expected<std::vector<Record>> known =
      database->getRecords(workload, target);
  if (!known)
    return fail(known.takeError());
  if (!options.resume && !known->empty())
    return fail("'" + file + "' holds " + Twine(known->size()) +
                " records of this payload and --resume=false: give another "
                "--work-dir or --database");
  llvm::Expected<int64_t> foreign = database->countForeign(workload, target);
  if (!foreign)
    return fail(foreign.takeError());
  if (*foreign > 0) {
    llvm::WithColor::note(llvm::errs(), "cwm-tune")
        << *foreign << " records of '" << file
        << "' were made by another toolchain or on another target and are not "
           "used\n";
  }
  return true;
}

bool TuneRun::search() {
  llvm::Expected<std::unique_ptr<Measurer>> created =
      createMeasurer(options, *payload, hardware, *workDirectory);
  if (!created)
    return fail(created.takeError());
  measurer = std::move(*created);
  interrupts.setMeasurer(*measurer);
  llvm::Expected<std::unique_ptr<Scorer>> scorer = createScorer(options);
  if (!scorer)
    return fail(scorer.takeError());

  ScoringContext scoring;
  scoring.workload = payload->getWorkloadHash().str();
  scoring.stateText = payload->getStateText().str();
  scoring.hardware = hardware.getVector();
  SearchOptions searchOptions;
  searchOptions.numTrials = options.trials;
  searchOptions.timeBudgetSeconds = options.timeBudgetSeconds;
  searchOptions.seed = options.seed;
  searchOptions.randomOnly = options.scorer == "random";
  ProgressPrinter printer(llvm::errs(), payload->getFlops(),
                          ProgressPrinter::getTerminalColumns());
  searchOptions.onWarning = [&](StringRef message) {
    printer.finish();
    llvm::WithColor::warning(llvm::errs(), "cwm-tune") << message << "\n";
  };
  Search driver(scoring, hardware.getTargetKey(options.threads), spaces,
                *measurer, **scorer, *database, searchOptions);
  llvm::Expected<SearchSummary> summary = driver.run(
      [&](const SearchProgress &progress) { printer.show(progress); });
  printer.finish();
  if (!summary) {
    TuneExit code = TuneExit::Error;
    llvm::Error error = llvm::handleErrors(
        summary.takeError(),
        [&](std::unique_ptr<NoValidCandidate> none) -> llvm::Error {
          code = TuneExit::NoValidCandidate;
          return llvm::Error(std::move(none));
        });
    std::string message = llvm::toString(std::move(error));
    if (InterruptScope::wasInterrupted()) {
      return fail("interrupted before any candidate was valid; the same "
                  "command continues: " +
                      message,
                  TuneExit::Interrupted);
    }
    return fail(message, code);
  }
  report.summary = std::move(*summary);
  if (report.summary.interrupted)
    exit = TuneExit::Interrupted;
  return true;
}

/// Measures the very text that is handed back: guards included, it must apply,
/// compile and compute the right numbers.
bool TuneRun::checkResult(const std::string &id, const std::string &text) {
  if (report.summary.interrupted)
    return true;
  std::optional<TrialResult> result;
  llvm::Error error = measurer->measure(
      {{id, text}}, [&](size_t, TrialResult one) { result = std::move(one); });
  if (error)
    return fail(std::move(error));
  if (!result) {
    // Stopped just now: as if it had been during the search.
    report.summary.interrupted = true;
    exit = TuneExit::Interrupted;
    return true;
  }
  if (result->isOk())
    return true;
  return fail("the result did not pass its last check (" +
              stringifyTrialStatus(result->status) + ": " + result->reason +
              ") and is not written; please report this");
}

bool TuneRun::writeResult() {
  const SearchSummary &summary = report.summary;
  FailureOr<OwningOpRef<ModuleOp>> script =
      spaces[summary.best.space]->bind(summary.best.assignment);
  if (failed(script)) {
    exit = TuneExit::Error;
    return false;
  }
  ResultInfo info;
  info.payloadFile = options.payload;
  info.outputFile = options.output;
  info.appliedFile = report.appliedFile;
  info.toolchain = report.toolchain;
  info.target = report.target;
  info.candidate = summary.best.key;
  info.timeNs = summary.bestResult.timeNs;
  info.baselineTimeNs = summary.baselineResult.timeNs;
  info.speedup = report.getSpeedup();
  CPULoweringOptions lowering;
  lowering.stockOnly = true;
  info.loweringPipeline =
      "builtin.module(" + getCPULoweringPipeline(lowering) + ")";
  FailureOr<std::string> text = renderResult(**script, *payload, info);
  if (failed(text)) {
    exit = TuneExit::Error;
    return false;
  }
  if (!checkResult(getCandidateId(summary.best.key, printScript(**script)),
                   *text))
    return false;
  if (llvm::Error error = writeFile(options.output, *text))
    return fail(std::move(error));
  report.outputFile = options.output;
  return true;
}

bool TuneRun::writeExtras() {
  if (!options.exportRecords.empty())
    if (llvm::Error error = database->exportJSONL(options.exportRecords))
      return fail(std::move(error));
  if (options.summary.empty())
    return true;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", report.toJSON());
  if (llvm::Error error = writeFile(options.summary, text))
    return fail(std::move(error));
  return true;
}

TuneExit TuneRun::run() {
  if (llvm::Error error = options.validate()) {
    fail(std::move(error));
    return exit;
  }
  if (!loadInputs() || !findSpaces())
    return exit;
  if (options.dryRun || options.countOnly) {
    printSpaces();
    return exit;
  }
  if (options.checkKnobs) {
    checkKnobs();
    return exit;
  }
  if (!openStores())
    return exit;

  report.payloadFile = options.payload;
  // Where what was tuned is alone in its module, as the result wants it.
  report.appliedFile = options.payload == "-" || !options.function.empty()
                           ? workDirectory->getPayloadFile()
                           : options.payload;
  report.target = hardware.getTargetKey(options.threads);
  report.toolchain = getToolchainVersion();
  report.flops = payload->getFlops();
  report.peakGflops = hardware.peakGflops;
  // What was measured is worth having even if nothing came of it.
  bool found = search() && writeResult();
  report.busySeconds = measurer ? measurer->getBusySeconds() : 0;
  report.noiseFloor = measurer ? measurer->getNoiseFloor() : 0;
  report.wallSeconds =
      std::chrono::duration<double>(Clock::now() - started).count();
  bool extras = writeExtras();
  if (found && extras)
    report.print(llvm::errs());
  return exit;
}

TuneExit cwm::runTune(const TuneOptions &options) {
  // Where a caller closed a standard stream, the next file opened would take
  // its number and the progress lines would go into the database. Standard
  // output is opened for reading, so that writing a result there still fails.
  for (auto [descriptor, mode] :
       {std::pair(STDIN_FILENO, O_RDONLY), std::pair(STDOUT_FILENO, O_RDONLY),
        std::pair(STDERR_FILENO, O_WRONLY)})
    if (::fcntl(descriptor, F_GETFD) == -1 &&
        ::open("/dev/null", mode) != descriptor)
      return TuneExit::Error;
  // A limit on file sizes is then an error of writing, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  TuneExit exit = [&] {
    InterruptScope interrupts;
    return TuneRun(options, interrupts).run();
  }();
  // Nobody reads what went to a standard error that takes nothing; LLVM would
  // end the process for it, with an exit code of its own.
  llvm::errs().clear_error();
  return exit;
}
