//===- Sketches.cpp - Which sketch fits which payload -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Sketches/Sketches.h"

#include "cwm/Sketches/PartialWrites.h"
#include "cwm/Space/Entry.h"
#include "cwm/Support/InstalledData.h"

#include "Analysis.h"
#include "Chain.h"
#include "Contraction.h"
#include "Convolution.h"
#include "Library.h"
#include "NormalForm.h"
#include "Options.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace cwm;

/// True where linalg-fuse-elementwise-ops finds something, once softmax is
/// decomposed: then there are fewer ops afterwards, or other loops.
static bool hasFusableOps(const Payload &payload) {
  auto getLoops = [](ModuleOp module) {
    SmallVector<unsigned> loops;
    module.walk(
        [&](linalg::LinalgOp op) { loops.push_back(op.getNumLoops()); });
    return loops;
  };
  NormalFormOptions options;
  options.fuse = false;
  auto keepAll = [](linalg::LinalgOp) { return true; };
  OwningOpRef<ModuleOp> before = normalise(payload, keepAll, options);
  OwningOpRef<ModuleOp> after = normalise(payload, keepAll);
  return before && after && getLoops(*before) != getLoops(*after);
}

static bool hasPartialWrites(const Payload &payload) {
  WalkResult walk = payload.getModule()->walk([](linalg::LinalgOp op) {
    return writesInPart(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// Every payload fits.
static FittingSketch fitFallback(const Payload &payload, MLIRContext *context) {
  SketchOptions options("fallback", context);
  options.structure("softmax", hasSoftmax(payload));
  options.structure("partial", hasPartialWrites(payload));
  if (!hasFusableOps(payload))
    options.structure("fusion", 0);
  return std::move(options.sketch);
}

/// The payload as a contraction, with ops and passes of ours only where it is
/// none without.
static std::optional<ContractionPayload>
findContraction(const Payload &payload, bool collapse, std::string &why) {
  for (auto preparation :
       {ContractionPayload::None, ContractionPayload::SeparateInitialValue,
        ContractionPayload::WidenSums})
    if (auto contraction =
            analyseContraction(payload, preparation, collapse, &why))
      return contraction;
  return std::nullopt;
}

/// A filter of one element makes a convolution a product, which needs no
/// transposition where the image is innermost. (Where channels are, a sketch
/// for convolutions does the same, and packs the filter.)
static void addPointwise(const Payload &payload,
                         const HardwareDescription &hardware, int64_t threads,
                         std::vector<FittingSketch> &sketches) {
  std::string why;
  auto contraction = findContraction(payload, /*collapse=*/true, why);
  if (!contraction || contraction->lhs != 1)
    return;
  std::optional<FittingSketch> sketch = fitDirect(
      *contraction, hardware, threads, payload.getModule()->getContext());
  if (!sketch)
    return;
  // Rows of 49 elements waste more here than 49 columns do there.
  int64_t lanes = getNumLanes(hardware, contraction->getSumBits());
  bool isFirst =
      contraction->getN() % lanes == 0 && prefersDirect(*contraction, hardware);
  sketches.insert(isFirst ? sketches.begin() : sketches.end(),
                  std::move(*sketch));
}

/// Below this, threads cost more than they gain: calling them up and waiting
/// for the last one takes some microseconds for each parallel loop.
static constexpr double leastSharedSeconds = 10e-6;

/// Whether one thread takes long enough for `payload`, at the speeds of
/// `hardware`: of multiply-adds, and of memory that is in cache in part.
static bool isWorthSharing(const Payload &payload,
                           const HardwareDescription &hardware) {
  double bytes = 0;
  for (ArrayRef<TensorSpec> specs : {payload.getInputs(), payload.getResults()})
    for (const TensorSpec &spec : specs)
      bytes += static_cast<double>(spec.getNumBytes());
  double gflops = hardware.peakGflops > 0 ? hardware.peakGflops : 50;
  double gigabytes = hardware.bandwidthGBs > 0 ? hardware.bandwidthGBs : 10;
  return payload.getFlops() / (gflops * 1e9) + bytes / (4 * gigabytes * 1e9) >=
         leastSharedSeconds;
}

/// Where rows or columns of a product are several dimensions that lie together,
/// one dimension is better; that takes a pass of ours, so both forms are there.
static std::vector<FittingSketch>
fitContractions(const Payload &payload, const ContractionPayload &plain,
                const HardwareDescription &hardware, int64_t threads) {
  MLIRContext *context = payload.getModule()->getContext();
  std::string why;
  auto collapsed = findContraction(payload, /*collapse=*/true, why);
  std::vector<FittingSketch> sketches;
  if (collapsed &&
      (collapsed->getM() > plain.getM() || collapsed->getN() > plain.getN()))
    sketches = fitContraction(*collapsed, hardware, threads, context);
  bool isAlone = sketches.empty();
  for (FittingSketch &sketch :
       fitContraction(plain, hardware, threads, context)) {
    if (!isAlone) {
      sketch.file = sketch.name;
      sketch.name += "-nested";
    }
    sketches.push_back(std::move(sketch));
  }
  return sketches;
}

/// The output channels of a group fill more than half of a vector.
static bool hasWideGroups(const WindowPayload &payload,
                          const HardwareDescription &hardware) {
  int64_t lanes =
      getNumLanes(hardware, payload.element.getIntOrFloatBitWidth());
  return llvm::any_of(payload.getLoops(WindowLoop::Feature), [&](int64_t loop) {
    return 2 * payload.extents[loop] > lanes;
  });
}

FailureOr<std::vector<std::unique_ptr<Space>>>
cwm::buildSpaces(const Payload &payload, const HardwareDescription &hardware,
                 StringRef schedulesDir, std::string *why, int64_t threads) {
  std::string notContraction, notWindow, notChain;
  MLIRContext *context = payload.getModule()->getContext();
  if (threads > 1 && !isWorthSharing(payload, hardware))
    threads = 1;
  std::vector<FittingSketch> sketches;
  auto contraction =
      findContraction(payload, /*collapse=*/false, notContraction);
  if (contraction)
    sketches = fitContractions(payload, *contraction, hardware, threads);
  std::optional<WindowPayload> window;
  if (sketches.empty())
    window = analyseWindow(payload, &notWindow);
  if (window) {
    sketches = fitConvolution(*window, hardware, threads, context);
    if (!sketches.empty())
      addPointwise(payload, hardware, threads, sketches);
    std::vector<FittingSketch> others =
        fitWindow(*window, hardware, threads, context);
    // Groups of one channel fit both: vectors along the channels of a result
    // that has more than half of a vector, along its rows otherwise.
    if (!hasWideGroups(*window, hardware))
      std::swap(sketches, others);
    llvm::move(others, std::back_inserter(sketches));
  }
  // Several dimensions of one kind may be one.
  if (sketches.empty()) {
    std::string notCollapsed;
    contraction = findContraction(payload, /*collapse=*/true, notCollapsed);
    if (contraction)
      sketches = fitContraction(*contraction, hardware, threads, context);
  }
  // Dimensions that lie together are better merged than walked along one by
  // one.
  for (auto [planes, collapse] :
       {std::pair(false, false), std::pair(false, true), std::pair(true, true)})
    for (bool separate : {false, true})
      if (sketches.empty())
        if (auto chain = analyseChain(payload, collapse, separate, &notChain))
          sketches = fitChain(*chain, planes, hardware, threads, context);
  if (why && sketches.empty())
    *why = "no contraction: " + notContraction +
           "; no convolution or pool: " + notWindow + "; no chain: " + notChain;
  sketches.push_back(fitFallback(payload, context));
  for (FittingSketch &sketch : sketches)
    sketch.options["elementwise"] =
        Builder(context).getI64ArrayAttr(hasTensorArithmetic(payload));

  std::vector<std::unique_ptr<Space>> spaces;
  for (FittingSketch &sketch : sketches) {
    FailureOr<OwningOpRef<ModuleOp>> schedule =
        loadSketch(schedulesDir, sketch.getFile(), context);
    if (failed(schedule))
      return failure();
    fillTemplates(**schedule, sketch.templates);
    FailureOr<std::unique_ptr<Space>> space = Space::create(
        std::move(*schedule), sketch.name, sketch.options, sketch.defaults);
    if (failed(space))
      return failure();
    spaces.push_back(std::move(*space));
  }
  return spaces;
}

FailureOr<std::vector<std::unique_ptr<Space>>>
cwm::buildSpacesOf(ModuleOp module, StringRef hardware, int64_t threads) {
  llvm::Expected<HardwareDescription> description =
      hardware.empty() ? probeHardware()
                       : HardwareDescription::fromFile(hardware);
  if (!description)
    return module.emitError() << toString(description.takeError());
  FailureOr<Payload> payload =
      Payload::create(OwningOpRef<ModuleOp>(module.clone()));
  if (failed(payload))
    return failure();
  return buildSpaces(*payload, *description, getSchedulesDir("cpu"),
                     /*why=*/nullptr, threads);
}

FailureOr<std::unique_ptr<Space>> cwm::buildUserSpace(StringRef path,
                                                      MLIRContext *context) {
  FailureOr<OwningOpRef<ModuleOp>> schedule = readSchedule(path, context);
  if (failed(schedule))
    return failure();
  // The interpreter would take any transform op at the top of the module, but
  // a result is applied by the name of its entry.
  if (failed(checkEntry(**schedule)))
    return failure();
  // The name is part of keys, which are text.
  return Space::create(std::move(*schedule),
                       llvm::json::fixUTF8(llvm::sys::path::stem(path)));
}

std::string cwm::getSchedulesDir(StringRef target) {
  SmallString<256> result;
  if (const char *folder = std::getenv("CWM_SCHEDULES_DIR"))
    result = folder;
  else
    result = findInstalledData("schedules", "schedules");
  if (result.empty())
    result = "schedules";
  llvm::sys::path::append(result, target);
  return std::string(result);
}
