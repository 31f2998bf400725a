//===- SpaceCheck.cpp - cwm-tune --check-space ---------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceCheck.h"

#include "cwm/Search/Sampler.h"
#include "cwm/Tune/Report.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mlir;
using namespace cwm;

/// Kinds of failure that are shown.
static constexpr size_t maxReasons = 12;

SpaceCheck::SpaceCheck(ArrayRef<std::unique_ptr<Space>> spaces, int64_t count,
                       uint64_t seed)
    : spaces(spaces) {
  CandidateSampler sampler(spaces, seed);
  while (static_cast<int64_t>(samples.size()) < count) {
    std::optional<Candidate> candidate = sampler.next();
    if (!candidate)
      break;
    add(std::move(*candidate));
  }
}

void SpaceCheck::add(Candidate candidate) {
  Sample sample;
  sample.space = candidate.space;
  sample.key = std::move(candidate.key);
  if (auto script = spaces[candidate.space]->tryBind(candidate.assignment)) {
    sample.request.script = printScript(**script);
    sample.request.key = getCandidateId(sample.key, sample.request.script);
  } else {
    sample.result.emplace();
    sample.result->reason =
        "binding failed: " + llvm::toString(script.takeError());
  }
  samples.push_back(std::move(sample));
}

llvm::Error
SpaceCheck::measureSamples(Measurer &measurer, ArrayRef<Sample *> chosen,
                           std::optional<TrialResult> Sample::*result,
                           DoneFn onDone) {
  std::vector<MeasureRequest> requests;
  for (const Sample *sample : chosen)
    requests.push_back(sample->request);
  return measurer.measure(requests, [&](size_t index, TrialResult one) {
    onDone(one);
    chosen[index]->*result = std::move(one);
  });
}

llvm::Error SpaceCheck::measure(Measurer &measurer, DoneFn onDone) {
  std::vector<Sample *> chosen;
  for (Sample &sample : samples) {
    if (sample.result)
      onDone(*sample.result);
    else
      chosen.push_back(&sample);
  }
  return measureSamples(measurer, chosen, &Sample::result, onDone);
}

llvm::Error SpaceCheck::verify(Measurer &measurer, DoneFn onDone) {
  std::vector<Sample *> chosen;
  for (Sample &sample : samples)
    if (sample.isAccepted())
      chosen.push_back(&sample);
  return measureSamples(measurer, chosen, &Sample::second, onDone);
}

size_t SpaceCheck::getNumAccepted() const {
  return llvm::count_if(samples,
                        [](const Sample &one) { return one.isAccepted(); });
}

size_t SpaceCheck::getNumWronglyAccepted() const {
  return llvm::count_if(
      samples, [](const Sample &one) { return one.isWronglyAccepted(); });
}

SpaceCheck::Counts SpaceCheck::count(std::optional<unsigned> space) const {
  Counts counts;
  for (const Sample &sample : samples) {
    if (!sample.result || (space && sample.space != *space))
      continue;
    ++counts.numSamples;
    counts.numWronglyAccepted += sample.isWronglyAccepted();
    counts.numWrong += sample.result->status == TrialStatus::WrongResult;
    if (!sample.isAccepted())
      continue;
    ++counts.numAccepted;
    counts.times.push_back(sample.result->timeNs);
  }
  llvm::sort(counts.times);
  return counts;
}

std::vector<SpaceCheck::Reason> SpaceCheck::getReasons() const {
  std::map<std::string, Reason> byText;
  auto add = [&](const Sample &sample, StringRef before,
                 const TrialResult &result) {
    std::string text =
        (before + stringifyTrialStatus(result.status) + ": " + result.reason)
            .str();
    Reason &reason =
        byText.try_emplace(text, Reason{text, 0, sample.key}).first->second;
    ++reason.numSamples;
  };
  for (const Sample &sample : samples) {
    if (sample.result && !sample.result->isOk())
      add(sample, "", *sample.result);
    else if (sample.second && !sample.second->isOk())
      add(sample, "accepted, then ", *sample.second);
  }
  std::vector<Reason> reasons;
  reasons.reserve(byText.size());
  for (auto &entry : byText)
    reasons.push_back(std::move(entry.second));
  llvm::sort(reasons, [](const Reason &a, const Reason &b) {
    return std::tie(b.numSamples, a.text) < std::tie(a.numSamples, b.text);
  });
  return reasons;
}

std::string SpaceCheck::format() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  size_t width = 5;
  for (const std::unique_ptr<Space> &space : spaces)
    width = std::max(width, space->getName().size());
  auto row = [&](StringRef name, const Counts &counts) {
    double share = counts.numSamples == 0
                       ? 0
                       : 100 * static_cast<double>(counts.numAccepted) /
                             static_cast<double>(counts.numSamples);
    os << llvm::left_justify(name, static_cast<unsigned>(width))
       << llvm::format("%9zu%8.1f %%%9zu%17zu  ", counts.numSamples, share,
                       counts.numWrong, counts.numWronglyAccepted);
    if (const std::vector<double> &times = counts.times; times.empty())
      os << "-\n";
    else
      os << formatTime(times.front()) << " / "
         << formatTime(times[times.size() / 2]) << " / "
         << formatTime(times.back()) << "\n";
  };
  os << llvm::left_justify("space", static_cast<unsigned>(width))
     << "  sampled     valid    wrong  wrong, accepted  best / median / "
        "worst\n";
  for (const auto &[index, space] : llvm::enumerate(spaces))
    row(space->getName(), count(index));
  if (spaces.size() > 1)
    row("all", count(std::nullopt));

  std::vector<Reason> reasons = getReasons();
  if (reasons.empty())
    return text;
  os << "\nwhy not valid\n";
  for (const Reason &reason :
       ArrayRef(reasons).take_front(std::min(reasons.size(), maxReasons)))
    os << llvm::format("%6zu  ", reason.numSamples) << reason.text
       << "\n        as in: " << reason.example << "\n";
  if (reasons.size() > maxReasons)
    os << "        and " << reasons.size() - maxReasons << " other reasons\n";
  return text;
}

llvm::json::Value SpaceCheck::toJSON() const {
  auto toObject = [](StringRef name, const Counts &counts) {
    const std::vector<double> &times = counts.times;
    return llvm::json::Object{
        {"name", llvm::json::fixUTF8(name)},
        {"sampled", counts.numSamples},
        {"accepted", counts.numAccepted},
        {"wrong", counts.numWrong},
        {"wrong_accepted", counts.numWronglyAccepted},
        {"best_ns", times.empty() ? 0 : times.front()},
        {"median_ns", times.empty() ? 0 : times[times.size() / 2]},
        {"worst_ns", times.empty() ? 0 : times.back()}};
  };
  llvm::json::Array bySpace, reasons, compileMs;
  for (const auto &[index, space] : llvm::enumerate(spaces))
    bySpace.push_back(toObject(space->getName(), count(index)));
  for (const Reason &reason : getReasons())
    reasons.push_back(
        llvm::json::Object{{"reason", llvm::json::fixUTF8(reason.text)},
                           {"count", reason.numSamples},
                           {"example", llvm::json::fixUTF8(reason.example)}});
  llvm::StringMap<int64_t> byStatus;
  for (const Sample &sample : samples) {
    if (!sample.result)
      continue;
    ++byStatus[stringifyTrialStatus(sample.result->status)];
    compileMs.push_back(sample.result->lowerMs + sample.result->compileMs);
  }
  llvm::json::Object statuses;
  for (const auto &entry : byStatus)
    statuses[entry.getKey().str()] = entry.getValue();
  return llvm::json::Object{{"all", toObject("all", count(std::nullopt))},
                            {"spaces", std::move(bySpace)},
                            {"by_status", std::move(statuses)},
                            {"reasons", std::move(reasons)},
                            {"compile_ms", std::move(compileMs)}};
}
