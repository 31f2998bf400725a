//===- Results.cpp - What a run of cwm-tune writes ------------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuneRun.h"

#include "cwm/Search/Search.h"
#include "cwm/Support/WriteFile.h"
#include "cwm/Target/CPU/Lowering.h"
#include "cwm/Tune/ApplyCommand.h"
#include "cwm/Tune/ResultFile.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace cwm;

/// Measures the very text that is handed back: guards included, it must apply,
/// compile and compute the right numbers.
bool TuneRun::checkResult(const std::string &id, const std::string &text) {
  if (report.summary.interrupted)
    return true;
  std::optional<TrialResult> result = measureOne({id, text});
  if (!result)
    return exit == TuneExit::Interrupted;
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
  lowering.threads = options.threads;
  info.loweringPipeline =
      "builtin.module(" + getCPULoweringPipeline(lowering) + ")";
  info.threads = options.threads;
  info.measuredWithStock = options.stockOnly;
  if (findNonStockOp(**script))
    info.plugin = report.pluginFile = findPlugin();
  FailureOr<std::string> text = renderResult(**script, *payload, info);
  if (failed(text)) {
    exit = TuneExit::Error;
    return false;
  }
  std::string id = getCandidateId(summary.best.key, printScript(**script));
  if (!checkResult(id, *text))
    return false;
  if (!options.stockOnly) {
    // Only the comment at the head of the file changes.
    info.stockOutcome = measureWithStockPasses(
        {id, *text}, hasBooleanVectors(**script, *payload));
    text = renderResult(**script, *payload, info);
  }
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
