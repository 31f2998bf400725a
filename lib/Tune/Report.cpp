//===- Report.cpp - Progress lines and the final table -------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Tune/Report.h"

#include "cwm/Tune/ApplyCommand.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

std::string cwm::formatTime(double nanoseconds) {
  static constexpr std::pair<double, const char *> units[] = {
      {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
  for (auto [scale, unit] : units) {
    double value = nanoseconds / scale;
    if (value < 1 && scale > 1)
      continue;
    int digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
    std::string text;
    raw_string_ostream(text) << format("%.*f %s", digits, value, unit);
    return text;
  }
  return "0 ns";
}

/// Operations in `nanoseconds` as GFLOP/s.
static double getGflops(double flops, double nanoseconds) {
  return nanoseconds > 0 ? flops / nanoseconds : 0;
}

std::string cwm::formatProgress(const SearchProgress &progress, double flops) {
  std::string text;
  raw_string_ostream os(text);
  os << "[" << progress.trialsDone << "/" << progress.trialsTotal << "]";
  if (progress.bestTimeNs > 0) {
    os << " best " << formatTime(progress.bestTimeNs) << " ("
       << format("%.1f", getGflops(flops, progress.bestTimeNs)) << " GFLOP/s";
    if (progress.baselineScore > 0)
      os << format(", %.2fx the baseline",
                   progress.bestScore / progress.baselineScore);
    os << ")";
  } else {
    os << " no result yet";
  }
  if (progress.failures > 0)
    os << ", " << progress.failures << " failed";
  os << format(", %.0f s", progress.seconds);
  if (!progress.stage.empty())
    os << ", " << progress.stage;
  return text;
}

void cwm::ProgressPrinter::show(const SearchProgress &progress) {
  bool better = progress.bestScore > lastBest;
  bool due = lastTrials < 0 || progress.trialsDone >= lastTrials + 16 ||
             (progress.trialsDone == progress.trialsTotal &&
              progress.trialsDone != lastTrials);
  if (!line.isTerminal() && !better && !due)
    return;
  lastBest = std::max(lastBest, progress.bestScore);
  lastTrials = progress.trialsDone;
  line.show(formatProgress(progress, flops), /*isNews=*/true);
}

double cwm::RunReport::getSpeedup() const {
  if (summary.bestIsBaseline || summary.baselineResult.score <= 0)
    return 1;
  return summary.bestResult.score / summary.baselineResult.score;
}

double cwm::RunReport::getDriverOverhead() const {
  if (wallSeconds <= 0)
    return 0;
  return std::max(0.0, wallSeconds - busySeconds) / wallSeconds;
}

/// Names of a map in order, so that reports do not depend on hashing.
template <typename Map> static SmallVector<StringRef> getSortedKeys(Map &map) {
  SmallVector<StringRef> keys(map.keys());
  llvm::sort(keys);
  return keys;
}

void cwm::RunReport::print(raw_ostream &os) const {
  auto row = [&](StringRef name, const TrialResult &result, double speedup) {
    double gflops = getGflops(flops, result.timeNs);
    os << "  " << left_justify(name, 10)
       << right_justify(formatTime(result.timeNs), 10);
    if (gflops > 0)
      os << format("%10.1f", gflops);
    else
      os << right_justify("-", 10);
    if (peakGflops > 0 && gflops > 0)
      os << format("%10.1f %%", 100 * gflops / peakGflops);
    else
      os << right_justify("-", 12);
    os << format("%9.2fx\n", speedup);
  };
  os << "\n  " << left_justify("", 10) << right_justify("time", 10)
     << right_justify("GFLOP/s", 10) << right_justify("of peak", 12)
     << right_justify("speed-up", 10) << "\n";
  row(searched ? "best" : "default", summary.bestResult, getSpeedup());
  if (searched && summary.baselineResult.isOk())
    row("baseline", summary.baselineResult, 1);
  os << "\n  candidate  " << summary.best.key << "\n";
  if (!searched)
    os << "             the default of the first sketch that fits; "
          "nothing was searched (--trials=0)\n";
  else if (summary.bestIsBaseline)
    os << format("             the baseline itself: nothing was faster beyond "
                 "the noise of %.1f %%\n",
                 100 * noiseFloor);
  os << "  trials     " << summary.trials << " measured, " << summary.reused
     << " from records";
  const char *separator = ": ";
  for (StringRef status : getSortedKeys(summary.trialsByStatus)) {
    os << separator << summary.trialsByStatus.lookup(status) << " " << status;
    separator = ", ";
  }
  if (summary.priorRecords > 0)
    os << "; " << summary.priorRecords << " more known from other runs";
  if (summary.refused > 0)
    os << "; " << summary.refused << " more refused by a static rule";
  os << (summary.exhausted ? "; the space is exhausted\n" : "\n")
     << format("  seconds    %.1f in all", wallSeconds);
  separator = ": ";
  for (StringRef stage : getSortedKeys(summary.secondsByStage)) {
    os << separator << stage
       << format(" %.1f", summary.secondsByStage.lookup(stage));
    separator = ", ";
  }
  if (summary.trials > 0)
    os << format("; driver overhead %.1f %%", 100 * getDriverOverhead());
  os << "\n";
  if (summary.interrupted)
    os << "  stopped    by a signal; the same command continues\n";
  else if (summary.outOfTime)
    os << "  stopped    by --time-budget; with more of it, the same command "
          "continues\n";
  if (!explanation.empty()) {
    os << "  explain    score by '" << scorer
       << "', and what each action adds to it\n";
    SmallVector<StringRef> lines;
    StringRef(explanation).split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (StringRef line : lines)
      os << "             " << line << "\n";
  }
  if (stockTimeNs > 0)
    os << "  stock      " << formatTime(stockTimeNs)
       << " with upstream's lowering passes, as in the result's header\n";
  else if (!stockFailure.empty())
    os << "  stock      upstream's lowering passes fail on the result: "
       << stockFailure << "\n";
  if (outputFile.empty())
    return;
  os << "  written    " << (outputFile == "-" ? "to stdout" : outputFile)
     << "\n  apply it   "
     << getApplyCommand(appliedFile, outputFile, pluginFile) << "\n";
  if (!pluginFile.empty())
    os << "             with cwm's plugin, which the schedule needs "
          "(--stock-only does without)\n";
  if (quoteForPipeline(outputFile) == resultPlaceholder)
    os << "             where " << resultPlaceholder
       << " is the result, under a name that mlir-opt can take\n";
}

json::Value cwm::RunReport::toJSON() const {
  // Names may hold bytes that JSON cannot.
  json::Object byStatus, byStage;
  for (const auto &entry : summary.trialsByStatus)
    byStatus[entry.getKey().str()] = entry.getValue();
  for (const auto &entry : summary.secondsByStage)
    byStage[entry.getKey().str()] = entry.getValue();
  return json::Object{{"payload", json::fixUTF8(payloadFile)},
                      {"target", target},
                      {"toolchain", toolchain},
                      {"candidate", json::fixUTF8(summary.best.key)},
                      {"best_ns", summary.bestResult.timeNs},
                      {"baseline_ns", summary.baselineResult.timeNs},
                      {"speedup", getSpeedup()},
                      {"best_is_baseline", summary.bestIsBaseline},
                      {"scorer", scorer},
                      {"flops", flops},
                      {"peak_gflops", peakGflops},
                      {"noise_floor", noiseFloor},
                      {"searched", searched},
                      {"stock_ns", stockTimeNs},
                      {"stock_failure", json::fixUTF8(stockFailure)},
                      {"plugin", json::fixUTF8(pluginFile)},
                      {"trials", summary.trials},
                      {"reused", summary.reused},
                      {"prior_records", summary.priorRecords},
                      {"trials_by_status", std::move(byStatus)},
                      {"seconds", wallSeconds},
                      {"seconds_by_stage", std::move(byStage)},
                      {"driver_overhead", getDriverOverhead()},
                      {"refused", summary.refused},
                      {"interrupted", summary.interrupted},
                      {"out_of_time", summary.outOfTime},
                      {"exhausted", summary.exhausted}};
}
