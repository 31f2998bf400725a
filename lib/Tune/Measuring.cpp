//===- Measuring.cpp - The part of cwm-tune that measures ----- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KnobCheck.h"
#include "Measurement.h"
#include "SpaceCheck.h"
#include "TuneRun.h"

#include "cwm/Search/ActionTable.h"
#include "cwm/Search/Explain.h"
#include "cwm/Search/Search.h"
#include "cwm/Support/WriteFile.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace cwm;

bool TuneRun::startMeasurer(uint64_t seed) {
  interrupts.clearWork();
  measurer.reset();
  auto onNote = [](StringRef message) {
    llvm::WithColor::note(llvm::errs(), "cwm-tune") << message << "\n";
  };
  llvm::Expected<std::unique_ptr<Measurer>> created =
      createMeasurer(options, seed, *payload, hardware, *workDirectory, onNote);
  if (!created)
    return fail(created.takeError());
  measurer = std::move(*created);
  interrupts.setWork(*measurer);
  return true;
}

/// Samples the spaces and says how many of the candidates are valid.
bool TuneRun::checkSpace() {
  SpaceCheck check(spaces, options.checkSpace, options.seed);
  SearchProgress progress;
  progress.trialsTotal = static_cast<int64_t>(check.getNumCandidates());
  auto runStage = [&](StringRef stage, auto method) {
    ProgressPrinter printer(llvm::errs(), payload->getVariableFlops(),
                            ProgressLine::getTerminalColumns());
    progress.trialsDone = progress.failures = 0;
    progress.stage = stage.str();
    auto onDone = [&](const TrialResult &result) {
      ++progress.trialsDone;
      progress.failures += !result.isOk();
      if (result.isOk() && result.score > progress.bestScore) {
        progress.bestScore = result.score;
        progress.bestTimeNs = result.timeNs;
      }
      progress.seconds =
          std::chrono::duration<double>(Clock::now() - started).count();
      printer.show(progress);
    };
    llvm::Error error = (check.*method)(*measurer, onDone);
    printer.finish();
    return error ? fail(std::move(error)) : true;
  };
  if (!startMeasurer(options.seed) || !runStage("sample", &SpaceCheck::measure))
    return false;
  // Other inputs, and a reference of their own: what was accepted by luck is
  // found out.
  progress.trialsTotal = static_cast<int64_t>(check.getNumAccepted());
  if (!InterruptScope::wasInterrupted() &&
      (!startMeasurer(options.seed + 1) ||
       !runStage("verify", &SpaceCheck::verify)))
    return false;
  llvm::Expected<std::string> inert = runKnobCheck(
      *payload, options.schedule, options.hardware, options.threads);
  if (!inert)
    return fail(inert.takeError());
  if (llvm::Error error = writeFile("-", check.format() + "\n" + *inert))
    return fail(std::move(error));
  if (!options.summary.empty()) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::formatv("{0:2}\n", check.toJSON());
    if (llvm::Error error = writeFile(options.summary, text))
      return fail(std::move(error));
  }
  if (InterruptScope::wasInterrupted())
    exit = TuneExit::Interrupted;
  else if (check.getNumWronglyAccepted() > 0)
    return fail(Twine(check.getNumWronglyAccepted()) +
                " accepted candidates are wrong on other inputs; please "
                "report this");
  return true;
}

/// No search: the first space whose default candidate is valid.
bool TuneRun::takeDefault() {
  if (!startMeasurer(options.seed))
    return false;
  std::string failures;
  for (const auto &[index, space] : llvm::enumerate(spaces)) {
    Assignment assignment = *space->getDefault();
    FailureOr<OwningOpRef<ModuleOp>> script = space->bind(assignment);
    if (failed(script)) {
      exit = TuneExit::Error;
      return false;
    }
    std::string key = space->getKey(assignment), text = printScript(**script);
    std::optional<TrialResult> result =
        measureOne({getCandidateId(key, text), text});
    if (!result)
      return exit == TuneExit::Interrupted
                 ? fail("interrupted before the default candidate was checked",
                        exit)
                 : false;
    if (result->isOk()) {
      SearchSummary &summary = report.summary;
      summary.best = {static_cast<unsigned>(index), std::move(assignment),
                      std::move(key)};
      summary.baseline = summary.best;
      summary.bestResult = summary.baselineResult = std::move(*result);
      summary.bestIsBaseline = true;
      report.searched = false;
      return true;
    }
    failures += (failures.empty() ? "" : "; ") + key + ": " +
                stringifyTrialStatus(result->status).str() + ": " +
                result->reason;
  }
  return fail("no default candidate is valid: " + failures,
              TuneExit::NoValidCandidate);
}

bool TuneRun::search() {
  if (!startMeasurer(options.seed))
    return false;
  ScoringContext scoring;
  scoring.workload = payload->getWorkloadHash().str();
  scoring.stateText = payload->getStateText().str();
  scoring.hardware = hardware.getVector();
  llvm::Expected<std::unique_ptr<Scorer>> scorer =
      createScorer(options, scoring, getTarget(),
                   [&](const Twine &message) { remark(message); });
  if (!scorer)
    return fail(scorer.takeError());
  SearchOptions searchOptions;
  searchOptions.numTrials = options.trials;
  searchOptions.timeBudgetSeconds = options.timeBudgetSeconds;
  searchOptions.seed = options.seed;
  searchOptions.randomOnly = options.scorer == "random";
  ProgressPrinter printer(llvm::errs(), payload->getVariableFlops(),
                          ProgressLine::getTerminalColumns());
  searchOptions.onFailure = [&](StringRef key, const TrialResult &result) {
    if (!options.verbose)
      return;
    printer.finish();
    remark(key + ": " + stringifyTrialStatus(result.status) + ": " +
           result.reason);
  };
  searchOptions.onWarning = [&](StringRef message) {
    printer.finish();
    llvm::WithColor::warning(llvm::errs(), "cwm-tune") << message << "\n";
  };
  Search driver(scoring, getTarget(), spaces, *measurer, **scorer, *database,
                searchOptions);
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
  report.scorer = (*scorer)->getName().str();
  if (report.summary.interrupted)
    exit = TuneExit::Interrupted;
  if (options.explain)
    report.explanation = explain(**scorer, scoring);
  return true;
}

/// What moved the score of the best candidate, or why that cannot be said.
std::string TuneRun::explain(Scorer &scorer, const ScoringContext &scoring) {
  if (!scorer.isReady())
    return "nothing was scored: too little was measured\n";
  const Candidate &best = report.summary.best;
  ActionTable table(spaces);
  llvm::Expected<std::optional<std::vector<uint32_t>>> numbers =
      table.derive(best.space, best.assignment);
  if (!numbers)
    return llvm::toString(numbers.takeError()) + "\n";
  if (!*numbers)
    return "its actions are only known once it runs\n";
  std::vector<const Action *> actions;
  for (uint32_t number : **numbers)
    actions.push_back(&table.get(number));
  llvm::Expected<ScoreExplanation> explanation =
      explainScore(scorer, scoring, actions);
  if (!explanation)
    return llvm::toString(explanation.takeError()) + "\n";
  return formatExplanation(*explanation, actions, /*limit=*/10, /*width=*/100);
}

/// What stock passes make of the result: their time, or why there is none.
/// Whoever has only stock tools gets that, not the time of the search.
std::string TuneRun::measureWithStockPasses(MeasureRequest request,
                                            bool hasBooleanVectors) {
  if (options.measurer != "workers" || report.summary.interrupted)
    return "";
  TuneOptions stock = options;
  stock.stockOnly = true;
  stock.trials = 1;
  stock.keepObjects = false;
  std::string outcome;
  if (hasBooleanVectors) {
    report.stockFailure = "they store vectors of i1 as bits";
    return "not the passes below, upstream's only: " + report.stockFailure +
           ", use cwm-lower-to-cpu";
  }
  llvm::Expected<std::unique_ptr<Measurer>> created = createMeasurer(
      stock, options.seed, *payload, hardware, *workDirectory, nullptr);
  if (!created) {
    outcome = llvm::toString(created.takeError());
  } else {
    interrupts.setWork(**created);
    llvm::Error error =
        (*created)->measure({std::move(request)}, [&](size_t, TrialResult one) {
          outcome = one.isOk() ? formatTime(one.timeNs)
                               : stringifyTrialStatus(one.status).str() + ": " +
                                     one.reason;
          report.stockTimeNs = one.timeNs;
        });
    interrupts.setWork(*measurer);
    otherBusySeconds += (*created)->getBusySeconds();
    if (error)
      outcome = llvm::toString(std::move(error));
  }
  if (InterruptScope::wasInterrupted())
    return "";
  if (report.stockTimeNs > 0)
    return outcome + " with the passes below, which are upstream's only";
  report.stockFailure = outcome;
  return "the passes below, upstream's only, fail on it (" + outcome +
         "): use cwm-lower-to-cpu";
}

/// Measures one script; nullopt when that was interrupted, or failed (a message
/// says why).
std::optional<TrialResult> TuneRun::measureOne(MeasureRequest request) {
  std::optional<TrialResult> result;
  if (llvm::Error error =
          measurer->measure({std::move(request)}, [&](size_t, TrialResult one) {
            result = std::move(one);
          })) {
    fail(std::move(error));
    return std::nullopt;
  }
  if (!result) {
    // Stopped just now: as if it had been during the search.
    report.summary.interrupted = true;
    exit = TuneExit::Interrupted;
  }
  return result;
}
