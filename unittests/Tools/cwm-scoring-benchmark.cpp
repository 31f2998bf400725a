//===- cwm-scoring-benchmark.cpp - Time of scoring candidates ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Samples candidates of a real payload's spaces, and times what a search does
// to score them with a model, on one core: actions, features, states, ranker;
// with nothing known, and again with other candidates. Called by
// benchmarks/scoring.py.
//
//===----------------------------------------------------------------------===//

#include "cwm/InitAll.h"
#include "cwm/Model/InstalledModel.h"
#include "cwm/Model/WorldModel.h"
#include "cwm/Search/ActionTable.h"
#include "cwm/Search/Sampler.h"
#include "cwm/Sketches/Sketches.h"
#include "cwm/Support/ParseModule.h"
#include "cwm/Target/CPU/Hardware.h"
#include "cwm/Trajectory/StateText.h"

#include "mlir/InitAllPasses.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <ctime>

using namespace llvm;
using namespace cwm;

static cl::opt<std::string> payload(cl::Positional, cl::Required,
                                    cl::desc("<payload>"));
static cl::opt<std::string> schedule("schedule");
static cl::opt<std::string> modelFolder("model");
static cl::opt<unsigned> numCandidates("candidates", cl::init(10000));
static cl::opt<unsigned> repetitions("repetitions", cl::init(3));
static cl::opt<uint64_t> seed("seed", cl::init(1));

/// CPU time of this process in milliseconds: no thread escapes it.
static double getMilliseconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 +
         static_cast<double>(now.tv_nsec) / 1e6;
}

namespace {
/// The parts of scoring, in milliseconds.
struct Times {
  double derive = 0, features = 0, score = 0;
  json::Object toJSON() const {
    return json::Object{{"derive_ms", derive},
                        {"features_ms", features},
                        {"score_ms", score},
                        {"all_ms", derive + features + score}};
  }
};
} // namespace

static Expected<Times> scoreAll(ArrayRef<Candidate> candidates,
                                ActionTable &table, FeatureTable &features,
                                WorldModel &model, size_t &numActions) {
  Times times;
  double begin = getMilliseconds();
  std::vector<std::vector<const Action *>> actions;
  for (const Candidate &candidate : candidates) {
    auto numbers = table.derive(candidate.space, candidate.assignment);
    if (!numbers)
      return numbers.takeError();
    std::vector<const Action *> &own = actions.emplace_back();
    if (*numbers)
      for (uint32_t number : **numbers)
        own.push_back(&table.get(number));
    numActions += own.size();
  }
  times.derive = getMilliseconds() - begin;
  begin = getMilliseconds();
  std::vector<std::vector<float>> phi;
  for (const std::vector<const Action *> &own : actions)
    phi.push_back(features.compute(own));
  times.features = getMilliseconds() - begin;
  begin = getMilliseconds();
  std::vector<ScoringItem> items;
  for (const auto &[own, values] : zip_equal(actions, phi))
    items.push_back({own, values});
  Expected<std::vector<float>> scores = model.score(items);
  if (!scores)
    return scores.takeError();
  times.score = getMilliseconds() - begin;
  return times;
}

static Error run() {
  mlir::MLIRContext context(getAllDialects(),
                            mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  mlir::OwningOpRef<mlir::ModuleOp> module = parseModuleFile(payload, &context);
  if (!module)
    return createStringError("no payload");
  std::vector<std::unique_ptr<Space>> spaces;
  if (schedule.empty()) {
    auto found = buildSpacesOf(*module, "");
    if (mlir::failed(found))
      return createStringError("no spaces");
    spaces = std::move(*found);
  } else {
    auto space = buildUserSpace(schedule, &context);
    if (mlir::failed(space))
      return createStringError("no space");
    spaces.push_back(std::move(*space));
  }
  Expected<ModelDirectory> directory = ModelDirectory::load(
      modelFolder.empty() ? findInstalledModel() : modelFolder);
  if (!directory)
    return directory.takeError();
  Expected<HardwareDescription> hardware = probeHardware();
  if (!hardware)
    return hardware.takeError();
  Expected<std::unique_ptr<WorldModel>> model = WorldModel::load(
      *directory, hardware->getTargetKey(1), hardware->getVector());
  if (!model)
    return model.takeError();
  std::string state = getStateText(*module);

  // Another sample for each repetition, as the batches of a search are.
  CandidateSampler sampler(spaces, seed);
  json::Array rows;
  ActionTable table(spaces);
  FeatureTable features{WorkloadFeatures(state)};
  size_t numSampled = 0, numActions = 0;
  double begin = getMilliseconds();
  if (Error error = (*model)->setPayload(state))
    return error;
  double payloadTime = getMilliseconds() - begin;
  for (unsigned repetition = 0; repetition <= repetitions; ++repetition) {
    std::vector<Candidate> candidates;
    while (candidates.size() < numCandidates) {
      std::optional<Candidate> candidate = sampler.next();
      if (!candidate)
        break;
      candidates.push_back(std::move(*candidate));
    }
    // A small space is used up: what was seen is as good.
    if (candidates.empty())
      break;
    numSampled += candidates.size();
    Expected<Times> times =
        scoreAll(candidates, table, features, **model, numActions);
    if (!times)
      return times.takeError();
    json::Object row = times->toJSON();
    row["candidates"] = static_cast<int64_t>(candidates.size());
    row["bound"] = static_cast<int64_t>(table.getNumBound());
    rows.push_back(std::move(row));
  }
  outs() << json::Value(json::Object{
                {"actions", static_cast<double>(numActions) /
                                static_cast<double>(numSampled)},
                {"distinct_actions", static_cast<int64_t>(table.size())},
                {"payload_ms", payloadTime},
                {"rows", std::move(rows)}})
         << '\n';
  return Error::success();
}

int main(int argc, char **argv) {
  mlir::registerAllPasses(); // which schedules may apply
  cwm::registerAllPasses();
  cl::ParseCommandLineOptions(argc, argv);
  if (Error error = run()) {
    errs() << "error: " << toString(std::move(error)) << '\n';
    return 1;
  }
  return 0;
}
