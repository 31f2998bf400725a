//===- SpaceCheck.cpp - cwm-tune --check-space ---------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceCheck.h"

#include "cwm/Search/Search.h"
#include "cwm/Tune/Report.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace mlir;
using namespace cwm;

/// Draws that give nothing new before a space counts as used up.
static constexpr int maxRepeats = 64;
/// Kinds of failure that are shown.
static constexpr size_t maxReasons = 12;

SpaceCheck::SpaceCheck(ArrayRef<std::unique_ptr<Space>> spaces, int64_t count,
                       uint64_t seed)
    : spaces(spaces) {
  RandomEngine engine(seed);
  std::vector<llvm::StringSet<>> seen(spaces.size());
  auto open = llvm::to_vector(llvm::seq<unsigned>(0, spaces.size()));
  for (size_t turn = 0;
       !open.empty() && static_cast<int64_t>(samples.size()) < count; ++turn) {
    size_t place = turn % open.size();
    if (!draw(open[place], seen[open[place]], engine))
      open.erase(open.begin() + static_cast<ptrdiff_t>(place));
  }
}

bool SpaceCheck::draw(unsigned index, llvm::StringSet<> &seen,
                      RandomEngine &engine) {
  const Space &space = *spaces[index];
  Sample sample;
  sample.space = index;
  std::optional<Assignment> assignment;
  for (int attempt = 0;; ++attempt) {
    if (attempt == maxRepeats || !(assignment = space.sample(engine)))
      return false;
    sample.key = space.getKey(*assignment);
    if (seen.insert(sample.key).second)
      break;
  }
  std::string message;
  FailureOr<OwningOpRef<ModuleOp>> script = failure();
  {
    ScopedDiagnosticHandler handler(space.getContext(),
                                    [&](Diagnostic &diagnostic) {
                                      if (message.empty())
                                        message = diagnostic.str();
                                      return success();
                                    });
    script = space.bind(*assignment);
  }
  if (succeeded(script)) {
    sample.request.script = printScript(**script);
    sample.request.key = getCandidateId(sample.key, sample.request.script);
  } else {
    sample.result.emplace();
    sample.result->reason = "binding failed: " + message;
  }
  samples.push_back(std::move(sample));
  return true;
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

/// Time of the middle one and the ends; "-" without any.
static std::string formatSpread(std::vector<double> times) {
  if (times.empty())
    return "-";
  llvm::sort(times);
  return formatTime(times.front()) + " / " +
         formatTime(times[times.size() / 2]) + " / " + formatTime(times.back());
}

std::string SpaceCheck::format() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  size_t width = 5;
  for (const std::unique_ptr<Space> &space : spaces)
    width = std::max(width, space->getName().size());
  auto row = [&](StringRef name, auto isPart) {
    size_t numSamples = 0, numAccepted = 0, numWrong = 0, numRejected = 0;
    std::vector<double> times;
    for (const Sample &sample : samples) {
      if (!sample.result || !isPart(sample))
        continue;
      ++numSamples;
      numWrong += sample.isWronglyAccepted();
      numRejected += sample.result->status == TrialStatus::WrongResult;
      if (!sample.isAccepted())
        continue;
      ++numAccepted;
      times.push_back(sample.result->timeNs);
    }
    double share = numSamples == 0 ? 0
                                   : 100 * static_cast<double>(numAccepted) /
                                         static_cast<double>(numSamples);
    os << llvm::left_justify(name, static_cast<unsigned>(width))
       << llvm::format("%9zu%8.1f %%%9zu%17zu  ", numSamples, share,
                       numRejected, numWrong)
       << formatSpread(std::move(times)) << "\n";
  };
  os << llvm::left_justify("space", static_cast<unsigned>(width))
     << "  sampled     valid    wrong  wrong, accepted  best / median / "
        "worst\n";
  for (const auto &[index, space] : llvm::enumerate(spaces))
    row(space->getName(), [index = index](const Sample &sample) {
      return sample.space == index;
    });
  if (spaces.size() > 1)
    row("all", [](const Sample &) { return true; });
  formatReasons(os);
  return text;
}

void SpaceCheck::formatReasons(llvm::raw_ostream &os) const {
  std::map<std::string, std::vector<const Sample *>> reasons;
  for (const Sample &sample : samples) {
    if (sample.isWronglyAccepted())
      reasons["accepted, then wrong_result: " + sample.second->reason]
          .push_back(&sample);
    else if (sample.isAccepted() && sample.second && !sample.second->isOk())
      reasons["accepted, then " +
              stringifyTrialStatus(sample.second->status).str() + ": " +
              sample.second->reason]
          .push_back(&sample);
    else if (sample.result && !sample.result->isOk())
      reasons[stringifyTrialStatus(sample.result->status).str() + ": " +
              sample.result->reason]
          .push_back(&sample);
  }
  if (reasons.empty())
    return;
  std::vector<std::pair<std::string, std::vector<const Sample *>>> groups(
      reasons.begin(), reasons.end());
  llvm::sort(groups, [](const auto &a, const auto &b) {
    return std::pair(b.second.size(), StringRef(a.first)) <
           std::pair(a.second.size(), StringRef(b.first));
  });
  os << "\nwhy not valid\n";
  for (const auto &[reason, those] :
       ArrayRef(groups).take_front(std::min(groups.size(), maxReasons)))
    os << llvm::format("%6zu  ", those.size()) << reason
       << "\n        as in: " << those.front()->key << "\n";
  if (groups.size() > maxReasons)
    os << "        and " << groups.size() - maxReasons << " other reasons\n";
}
