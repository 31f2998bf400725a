//===- cwm-rollout-benchmark.cpp - Time of rolling out ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Samples candidates of a real payload's space, derives their actions, and
// times what the world model does with them on one core: the tree of prefixes,
// the part of the actions, the roll-out. The weights are random. Called by
// benchmarks/rollout.py.
//
//===----------------------------------------------------------------------===//

#include "../../lib/Model/TransitionKernels.h"

#include "cwm/InitAll.h"
#include "cwm/Model/Transition.h"
#include "cwm/Sketches/Sketches.h"
#include "cwm/Support/ParseModule.h"
#include "cwm/Trajectory/ActionText.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <ctime>

using namespace llvm;
using namespace cwm;

static cl::opt<std::string> payload(cl::Positional, cl::Required,
                                    cl::desc("<payload>"));
static cl::opt<unsigned> numCandidates("candidates", cl::init(10000));
static cl::opt<int64_t> dim("dim", cl::init(256));
static cl::opt<int64_t> hiddenDim("hidden", cl::init(256));
static cl::opt<unsigned> repetitions("repetitions", cl::init(5));
static cl::opt<uint64_t> seed("seed", cl::init(1));

namespace {
struct Workload {
  std::string space;
  StringMap<uint32_t> actions;
  std::vector<std::vector<uint32_t>> candidates;
};
} // namespace

/// Candidates of the space with the longest schedule, as places in a table of
/// distinct actions.
static bool makeWorkload(Workload &workload) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  cwm::registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  mlir::OwningOpRef<mlir::ModuleOp> module = parseModuleFile(payload, &context);
  if (!module)
    return false;
  auto spaces = buildSpacesOf(*module, "");
  if (mlir::failed(spaces))
    return false;
  using Actions = mlir::FailureOr<std::vector<Action>>;
  auto derive = [](const Space &space,
                   const Assignment &assignment) -> Actions {
    auto script = space.bind(assignment);
    if (mlir::failed(script))
      return mlir::failure();
    return getActions(**script);
  };
  const Space *longest = nullptr;
  size_t most = 0;
  for (const auto &space : *spaces) {
    auto actions = derive(*space, *space->getDefault());
    if (mlir::succeeded(actions) && actions->size() > most) {
      most = actions->size();
      longest = space.get();
    }
  }
  if (!longest)
    return false;
  workload.space = longest->getName().str();
  RandomEngine engine(seed);
  StringSet<> known;
  // A small space has fewer: the same again.
  for (unsigned tries = 0; workload.candidates.size() < numCandidates;
       ++tries) {
    std::optional<Assignment> assignment = longest->sample(engine);
    if (!assignment)
      return false;
    if (!known.insert(longest->getKey(*assignment)).second &&
        tries < 2 * numCandidates)
      continue;
    auto actions = derive(*longest, *assignment);
    if (mlir::failed(actions))
      continue;
    std::vector<uint32_t> &sequence = workload.candidates.emplace_back();
    for (const Action &action : *actions)
      sequence.push_back(
          workload.actions.try_emplace(action.text, workload.actions.size())
              .first->second);
  }
  return true;
}

static std::vector<float> makeRandom(size_t count) {
  static RandomEngine engine(7);
  std::vector<float> values(count);
  for (float &value : values)
    value =
        (static_cast<float>(uniformBelow(engine, 1 << 20)) / (1 << 19) - 1) *
        0.1f;
  return values;
}

static Expected<Transition> makeTransition(const TransitionKernels *kernels) {
  std::map<std::string, SmallVector<int64_t, 4>> shapes = {
      {"action.weight", {dim, dim}},
      {"normal.weight", {dim, dim}},
      {"translation.weight", {dim, dim}}};
  if (hiddenDim != 0) {
    shapes["residual.in.weight"] = {hiddenDim, 2 * dim};
    shapes["residual.in.bias"] = {hiddenDim};
    shapes["residual.out.weight"] = {dim, hiddenDim};
    shapes["residual.out.bias"] = {dim};
  }
  std::vector<std::vector<float>> storage;
  TensorsToWrite file;
  for (const auto &[name, shape] : shapes) {
    TensorView view{TensorType::F32, shape, {}};
    storage.push_back(makeRandom(view.getNumElements()));
    view.data =
        ArrayRef<char>(reinterpret_cast<const char *>(storage.back().data()),
                       storage.back().size() * sizeof(float));
    file.tensors[name] = view;
  }
  SmallString<128> path;
  if (std::error_code code =
          sys::fs::createTemporaryFile("cwm-rollout", "safetensors", path))
    return createStringError(code, code.message());
  Error error = writeSafeTensors(path, file);
  Expected<SafeTensors> tensors = SafeTensors::open(path);
  sys::fs::remove(path);
  if (error)
    return joinErrors(std::move(error), tensors.takeError());
  if (!tensors)
    return tensors.takeError();
  return Transition::load(*tensors, kernels);
}

/// The tree of candidates that share nothing: the most that rolling out these
/// can take.
static PrefixTree makeUnshared(ArrayRef<ArrayRef<uint32_t>> candidates) {
  PrefixTree tree({});
  tree.ends.assign(candidates.size(), 0);
  for (size_t length = 0, before = 0; tree.size() != before; ++length) {
    before = tree.size();
    for (auto [index, candidate] : enumerate(candidates)) {
      if (candidate.size() <= length)
        continue;
      tree.parents.push_back(tree.ends[index]);
      tree.actions.push_back(candidate[length]);
      tree.ends[index] = static_cast<uint32_t>(tree.size() - 1);
    }
    if (tree.size() != before)
      tree.levels.push_back(static_cast<uint32_t>(tree.size()));
  }
  return tree;
}

/// CPU time of this thread in milliseconds.
static double getMilliseconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 +
         static_cast<double>(now.tv_nsec) / 1e6;
}

int main(int argc, char **argv) {
  mlir::registerAllPasses(); // which schedules may apply
  cwm::registerAllPasses();
  cl::ParseCommandLineOptions(argc, argv);
  Workload workload;
  double begin = getMilliseconds();
  if (!makeWorkload(workload)) {
    errs() << "error: no candidates\n";
    return 1;
  }
  double derive = getMilliseconds() - begin;
  std::vector<ArrayRef<uint32_t>> candidates(workload.candidates.begin(),
                                             workload.candidates.end());
  size_t numActions = workload.actions.size();
  std::vector<float> encodings = makeRandom(numActions * dim),
                     initial = makeRandom(dim);
  PrefixTree unshared = makeUnshared(candidates);
  size_t numPrefixes = 0;
  json::Array rows;
  for (const auto *const *kernels = getSupportedKernels(); *kernels;
       ++kernels) {
    Expected<Transition> transition = makeTransition(*kernels);
    if (!transition) {
      errs() << "error: " << toString(transition.takeError()) << '\n';
      return 1;
    }
    double best[4] = {1e30, 1e30, 1e30, 1e30};
    for (unsigned repetition = 0; repetition < repetitions; ++repetition) {
      double times[5] = {getMilliseconds()};
      PrefixTree tree(candidates);
      times[1] = getMilliseconds();
      Transition::Actions actions = transition->prepare(encodings);
      times[2] = getMilliseconds();
      std::vector<float> states = transition->rollOut(initial, actions, tree);
      times[3] = getMilliseconds();
      std::vector<float> again =
          transition->rollOut(initial, actions, unshared);
      times[4] = getMilliseconds();
      if (states != again) {
        errs() << "error: sharing prefixes changes results\n";
        return 1;
      }
      numPrefixes = tree.size() - 1;
      for (int i = 0; i < 4; ++i)
        best[i] = std::min(best[i], times[i + 1] - times[i]);
    }
    rows.push_back(json::Object{{"kernels", (*kernels)->name},
                                {"tree_ms", best[0]},
                                {"actions_ms", best[1]},
                                {"roll_out_ms", best[2]},
                                {"unshared_ms", best[3]}});
  }
  outs() << json::Value(json::Object{{"space", workload.space},
                                     {"candidates", candidates.size()},
                                     {"steps", unshared.size() - 1},
                                     {"dim", dim.getValue()},
                                     {"hidden", hiddenDim.getValue()},
                                     {"distinct_actions", numActions},
                                     {"distinct_prefixes", numPrefixes},
                                     {"derive_ms", derive},
                                     {"times", std::move(rows)}})
         << '\n';
  return 0;
}
