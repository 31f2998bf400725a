//===- CheckKnobs.cpp - Do all options make a difference? ---------*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Space/CheckKnobs.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace cwm;

namespace {
class Checker {
public:
  Checker(const Space &space, ScriptRunner run, uint64_t maxOptions)
      : space(space), run(run), maxOptions(std::max<uint64_t>(maxOptions, 2)) {}

  KnobReport check(unsigned knob, const Assignment &first) {
    KnobReport report;
    report.knob = knob;
    SmallVector<uint64_t> options = chooseOptions(knob);
    report.numLookedAt = options.size();
    std::optional<Assignment> base = findBase(knob, first, options);
    llvm::MapVector<StringRef, std::vector<uint64_t>> groups;
    for (uint64_t option : options) {
      std::optional<Assignment> candidate;
      if (base)
        candidate = change(*base, knob, option);
      bool isBase = candidate.has_value();
      if (!candidate)
        candidate = space.getNearest(first, knob, option);
      if (!candidate) {
        report.impossible.push_back(option);
        continue;
      }
      const ScriptOutcome &outcome = getOutcome(*candidate);
      if (outcome.fingerprint.empty())
        report.failed.emplace_back(option, outcome.message);
      else if (isBase)
        groups[outcome.fingerprint].push_back(option);
      else
        compareWithPartner(*candidate, knob, options, report);
    }
    for (auto &group : groups)
      if (group.second.size() > 1)
        report.inert.push_back(group.second);
    return report;
  }

private:
  SmallVector<uint64_t> chooseOptions(unsigned knob) const {
    uint64_t numOptions = space.getKnobs()[knob].getNumOptions();
    SmallVector<uint64_t> options;
    if (numOptions <= maxOptions) {
      for (uint64_t option = 0; option < numOptions; ++option)
        options.push_back(option);
      return options;
    }
    // (numOptions - 1) * i would overflow for the largest ranges.
    double step = static_cast<double>(numOptions - 1) /
                  static_cast<double>(maxOptions - 1);
    for (uint64_t i = 0; i + 1 < maxOptions; ++i)
      options.push_back(static_cast<uint64_t>(static_cast<double>(i) * step));
    options.push_back(numOptions - 1);
    return options;
  }

  /// `candidate` with another option of a live knob; nullopt when the
  /// constraints forbid it.
  std::optional<Assignment> change(Assignment candidate, unsigned knob,
                                   uint64_t option) const {
    candidate[knob] = option;
    candidate = space.getCanonical(std::move(candidate));
    if (!space.satisfies(candidate))
      return std::nullopt;
    return candidate;
  }

  /// A candidate near the default in which the knob is live.
  std::optional<Assignment> findBase(unsigned knob, const Assignment &first,
                                     ArrayRef<uint64_t> options) const {
    if (space.isLive(first, knob))
      return first;
    for (uint64_t option : options)
      if (std::optional<Assignment> base =
              space.getNearest(first, knob, option))
        return base;
    return std::nullopt;
  }

  /// An option that needs other partners than the default ones is compared
  /// with one that is possible beside the same partners.
  void compareWithPartner(const Assignment &candidate, unsigned knob,
                          ArrayRef<uint64_t> options, KnobReport &report) {
    for (uint64_t other : options) {
      if (other == candidate[knob])
        continue;
      std::optional<Assignment> partner = change(candidate, knob, other);
      if (!partner)
        continue;
      if (getOutcome(*partner).fingerprint == getOutcome(candidate).fingerprint)
        report.inert.push_back({other, candidate[knob]});
      return;
    }
  }

  const ScriptOutcome &getOutcome(const Assignment &candidate) {
    auto [it, isNew] = outcomes.try_emplace(space.getKey(candidate));
    if (!isNew)
      return it->second;
    ScriptOutcome &outcome = it->second;
    if (auto script = space.tryBind(candidate))
      outcome = run(**script);
    else
      outcome.message = llvm::toString(script.takeError());
    return outcome;
  }

  const Space &space;
  ScriptRunner run;
  uint64_t maxOptions;
  llvm::StringMap<ScriptOutcome> outcomes;
};
} // namespace

std::vector<KnobReport> cwm::checkKnobs(const Space &space, ScriptRunner run,
                                        uint64_t maxOptions) {
  std::vector<KnobReport> reports;
  std::optional<Assignment> first = space.getDefault();
  if (!first)
    return reports;
  Checker checker(space, run, maxOptions);
  for (unsigned knob = 0; knob < space.getKnobs().size(); ++knob)
    if (space.getKnobs()[knob].getNumOptions() > 1)
      reports.push_back(checker.check(knob, *first));
  return reports;
}

void cwm::emitWarnings(const Space &space, const KnobReport &report) {
  const Knob &knob = space.getKnobs()[report.knob];
  for (const std::vector<uint64_t> &group : report.inert) {
    InFlightDiagnostic diag = emitWarning(*knob.location) << "options ";
    llvm::interleaveComma(group, diag, [&](uint64_t option) {
      diag << knob.getOptionText(option);
    });
    diag << " of knob \"" << knob.name << "\" lead to the same IR";
  }
  for (const auto &[option, message] : report.failed) {
    InFlightDiagnostic diag = emitWarning(*knob.location)
                              << "schedule fails with option "
                              << knob.getOptionText(option) << " of knob \""
                              << knob.name << "\"";
    if (!message.empty())
      diag << ": " << message;
  }
  if (report.impossible.empty())
    return;
  InFlightDiagnostic diag = emitWarning(*knob.location)
                            << "constraints allow no candidate with option ";
  llvm::interleaveComma(report.impossible, diag, [&](uint64_t option) {
    diag << knob.getOptionText(option);
  });
  diag << " of knob \"" << knob.name << "\"";
}
