//===- MeasureStage.cpp - Check and time one object -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/MeasureStage.h"

#include "StageTimer.h"
#include "cwm/Target/CPU/DotProducts.h"
#include "cwm_runtime.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <functional>

using namespace llvm;

namespace cwm {

/// Rounds of measureTogether.
static constexpr int64_t numJointRounds = 25;
/// A kernel this slow is called as rarely as can be.
static constexpr double slowCallSeconds = 0.5;
/// A kernel that claims more than this multiple of the peak did not do the
/// work. The factor covers clock changes since the peak was measured.
static constexpr double impossibleFactor = 1.25;

Expected<std::unique_ptr<MeasureStage>> MeasureStage::create(
    const Payload &payload, const HardwareDescription &hardware, uint64_t seed,
    StringRef cacheFolder, int64_t threads, EvaluationFn onEvaluation) {
  Expected<ReferenceKernel> kernel = ReferenceKernel::create(
      payload.getModule()->getContext(), hardware, threads);
  if (!kernel)
    return kernel.takeError();
  Expected<Reference> reference =
      getReference(payload, hardware, seed, cacheFolder, onEvaluation);
  if (!reference)
    return reference.takeError();
  std::unique_ptr<MeasureStage> stage(new MeasureStage(
      payload, hardware, std::move(*kernel), seed, cacheFolder, threads));
  stage->reference = std::move(*reference);
  stage->tolerance = cwm::getTolerance(payload.getModule());
  stage->tolerances.assign(payload.getResults().size(), stage->tolerance);
  stage->roundoff = getRoundoff(payload.getModule());

  auto addBuffer = [](std::vector<GuardedBuffer> &buffers, StringRef kind,
                      const TensorSpec &spec) -> Error {
    Expected<GuardedBuffer> buffer = GuardedBuffer::create(
        kind.str() + " " + std::to_string(buffers.size()), spec.getNumBytes());
    if (!buffer)
      return buffer.takeError();
    buffers.push_back(std::move(*buffer));
    return Error::success();
  };
  for (const auto &[index, spec] : enumerate(payload.getInputs())) {
    if (Error error = addBuffer(stage->inputs, "input", spec))
      return std::move(error);
    GuardedBuffer &buffer = stage->inputs.back();
    fillRandom(spec, *getElementKind(spec.elementType), seed, index,
               stage->reference.style, buffer.getData());
    // For good: no candidate may write to its inputs, checked or timed.
    buffer.setReadOnly(true);
    stage->pointers.push_back(buffer.getData());
  }
  for (const TensorSpec &spec : payload.getResults()) {
    if (Error error = addBuffer(stage->results, "result", spec))
      return std::move(error);
    stage->pointers.push_back(stage->results.back().getData());
  }
  return std::move(stage);
}

void MeasureStage::poisonResults(bool withNaN) {
  for (GuardedBuffer &result : results)
    result.poison(withNaN);
}

std::string MeasureStage::checkCanaries() {
  for (const std::vector<GuardedBuffer> *buffers : {&inputs, &results})
    for (const GuardedBuffer &buffer : *buffers)
      if (std::string message = buffer.checkCanaries(); !message.empty())
        return message;
  return "";
}

void MeasureStage::evaluateOwnErrors(const Stage &stage) {
  // As for the reference: heavy payloads take seconds.
  stage.onStage("evaluating the payload in its own precision, during " +
                    stage.name,
                60 + payload.getFlops() / 1e8);
  Expected<std::vector<Deviation>> errors =
      getOwnErrors(payload, hardware, seed, reference, cacheFolder);
  if (errors) {
    ownErrors = std::move(*errors);
  } else {
    consumeError(errors.takeError());
    ownErrors.emplace(payload.getResults().size());
  }
  for (const auto &[index, spec] : enumerate(payload.getResults()))
    tolerances[index] =
        widenTolerance(tolerance, roundoff, (*ownErrors)[index],
                       dependsOnFloats(payload, index), spec.getNumElements());
  stage.announce();
}

std::string MeasureStage::compareResults(const Stage &stage,
                                         TrialResult &result) {
  for (const auto &[index, spec] : enumerate(payload.getResults())) {
    auto compare = [&, index = index, &spec = spec] {
      return checkResult(results[index].getName(), spec,
                         results[index].getData(), reference.results[index],
                         tolerances[index]);
    };
    CheckOutcome outcome = compare();
    if (!outcome.ok && !ownErrors) {
      evaluateOwnErrors(stage);
      outcome = compare();
    }
    result.maxError = std::max(result.maxError, outcome.maxError);
    if (outcome.ok)
      continue;
    // Then no candidate can be right.
    double ownError = (*ownErrors)[index].relative;
    if (ownError > std::sqrt(roundoff))
      outcome.message +=
          formatv("; the payload itself, in its own precision, is off by a "
                  "relative error of {0:e1}",
                  ownError);
    return outcome.message;
  }
  return "";
}

std::string MeasureStage::check(LoadedKernel &candidate, const Stage &stage,
                                TrialResult &result, double &callSeconds) {
  // On NaN, with guard pages around temporaries.
  poisonResults(/*withNaN=*/true);
  cwm_checking_begin();
  // Constant inputs are packed once; what that overwrites or leaks counts.
  candidate.prepack(pointers.data());
  double before = getSeconds();
  candidate(pointers.data());
  callSeconds = getSeconds() - before;
  candidate.dropPacked();
  size_t leaked = 0;
  size_t overrun = cwm_checking_end(&leaked);
  if (std::string message = checkCanaries(); !message.empty())
    return message;
  if (std::string message = compareResults(stage, result); !message.empty())
    return message;
  if (overrun)
    return "wrote outside of " + std::to_string(overrun) + " temporary buffer" +
           (overrun > 1 ? "s" : "");
  if (leaked)
    return "does not free " + std::to_string(leaked) + " temporary buffer" +
           (leaked > 1 ? "s" : "");

  // As it will be timed: temporaries hold what the last call left in them, and
  // results are ordinary numbers, which hide no read as NaN would. Of a slow
  // kernel the timed calls themselves are compared.
  poisonResults(/*withNaN=*/false);
  candidate.prepack(pointers.data());
  if (callSeconds > slowCallSeconds)
    return "";
  before = getSeconds();
  candidate(pointers.data());
  callSeconds = getSeconds() - before;
  if (std::string message = compareResults(stage, result); !message.empty())
    return "a second call differs: " + message;
  return threads > 1 ? findRace(candidate, callSeconds) : "";
}

/// Further calls that look for races, and how long they may take together.
static constexpr int numRaceCalls = 4;
static constexpr double raceSeconds = 2;

std::string MeasureStage::findRace(LoadedKernel &candidate,
                                   double callSeconds) {
  std::vector<std::string> before;
  before.reserve(results.size());
  for (GuardedBuffer &buffer : results)
    before.emplace_back(static_cast<const char *>(buffer.getData()),
                        buffer.getNumBytes());
  for (int call = 0; call < numRaceCalls && call * callSeconds < raceSeconds;
       ++call) {
    poisonResults(/*withNaN=*/call % 2 == 0);
    candidate(pointers.data());
    for (auto [buffer, bytes] : zip_equal(results, before))
      if (std::memcmp(buffer.getData(), bytes.data(), bytes.size()) != 0)
        return buffer.getName() +
               " differs from call to call: threads write the same elements, "
               "or add up in varying order";
  }
  return "";
}

double MeasureStage::timeCall(TimedCall call, double lastSeconds) const {
  if (lastSeconds > 0.05)
    return lastSeconds;
  double before = getSeconds();
  call();
  return getSeconds() - before;
}

/// How many multiply-adds of a payload's narrowest operands the machine may do
/// in the time of one of f32.
static double getNarrowFactor(const Payload &payload,
                              const HardwareDescription &hardware) {
  bool isHalf = any_of(payload.getInputs(), [](const TensorSpec &spec) {
    return spec.elementType == "bf16" || spec.elementType == "f16";
  });
  // Measured with bf16 in registers only: tiles 15 times as fast as f32,
  // vectors half as fast; a margin for machines where they are faster.
  constexpr double tiles = 16, vectors = 2;
  if (!isHalf)
    return 1;
  return getDotProducts(hardware).amxBF16 ? tiles : vectors;
}

void MeasureStage::setResult(const TimeEstimate &estimate,
                             TrialResult &result) const {
  result.timeNs = estimate.timeNs;
  result.score = estimate.score;
  result.scoreSpread = estimate.spread;
  result.numRounds = int64_t(estimate.ratios.size());
  result.status = TrialStatus::Ok;
  // Peak of the description, or what the reference kernel reached in the same
  // rounds: the clock may have risen since the description was made.
  double peak = std::max(
      hardware.peakGflops * double(threads),
      estimate.referenceNs > 0 ? kernel.getFlops() / estimate.referenceNs : 0);
  double rate =
      estimate.timeNs > 0 ? payload.getVariableFlops() / estimate.timeNs : 0;
  bool comparable = all_of(payload.getResults(), [](const TensorSpec &spec) {
    return isFloat(*getElementKind(spec.elementType));
  });
  // Of operands that are constants in the code, LLVM may leave work out.
  payload.getModule()->walk([&](mlir::arith::ConstantOp op) {
    comparable &= !isa<mlir::ShapedType>(op.getType());
  });
  peak *= getNarrowFactor(payload, hardware);
  if (comparable && rate > impossibleFactor * peak) {
    result.status = TrialStatus::WrongResult;
    result.reason =
        "faster than the machine: " + std::to_string(int64_t(rate)) +
        " GFLOP/s, peak " + std::to_string(int64_t(peak));
    result.score = 0;
    result.timeNs = 0;
  }
}

/// Reads and links an object file.
static Expected<LoadedKernel> loadObject(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError(buffer.getError(),
                             "cannot read object '" + path +
                                 "': " + buffer.getError().message());
  StringRef bytes = (*buffer)->getBuffer();
  return LoadedKernel::load({bytes.data(), bytes.size()});
}

static TrialResult makeFailure(TrialStatus status, std::string reason) {
  TrialResult result;
  result.status = status;
  result.reason = std::move(reason);
  return result;
}

void MeasureStage::time(TimedCall call, double callSeconds,
                        const Options &options, TrialResult &result) {
  TimingOptions timing = getTimingOptions();
  timing.bestScore = options.bestScore;
  callSeconds = timeCall(call, callSeconds);
  if (callSeconds > 0.1)
    timing.minRounds = callSeconds > slowCallSeconds ? 2 : 3;
  setResult(timeKernel(kernel, call, callSeconds, timing), result);
  if (options.estimateNoise && result.isOk() && callSeconds < 0.1) {
    std::vector<double> repeated = {result.score};
    for (int i = 0; i < 4; ++i)
      repeated.push_back(timeKernel(kernel, call, callSeconds, timing).score);
    noise = cwm::getNoise({repeated});
  }
}

TrialResult MeasureStage::measure(StringRef objectPath, const Options &options,
                                  TimedStageFn onStage) {
  return measureLoaded([&] { return loadObject(objectPath); }, options,
                       onStage);
}

TrialResult MeasureStage::measure(ArrayRef<char> object, const Options &options,
                                  TimedStageFn onStage) {
  return measureLoaded([&] { return LoadedKernel::load(object); }, options,
                       onStage);
}

TrialResult MeasureStage::measureLoaded(LoadFn load, const Options &options,
                                        TimedStageFn onStage) {
  TrialResult result;
  double checkMs = 0, timeMs = 0;
  auto fail = [&](TrialStatus status, std::string reason) {
    result.status = status;
    result.reason = std::move(reason);
    result.timeNs = result.score = 0;
  };
  auto run = [&] {
    auto checkTimer = std::make_unique<StageTimer>(checkMs);
    Stage stage{onStage, "checking", 3 * options.runTimeoutSeconds};
    stage.announce();
    Expected<LoadedKernel> candidate = load();
    if (!candidate)
      return fail(TrialStatus::Crash, toString(candidate.takeError()));
    double callSeconds = 0;
    std::string wrong = check(*candidate, stage, result, callSeconds);
    if (!wrong.empty())
      return fail(TrialStatus::WrongResult, std::move(wrong));
    checkTimer.reset();

    StageTimer timer(timeMs);
    // Far more than it takes: rounds of a few milliseconds, and two to five
    // calls of a slow kernel.
    stage.name = "timing";
    stage.timeoutSeconds = 10 + options.runTimeoutSeconds + 30 * callSeconds;
    stage.announce();
    time([&] { (*candidate)(pointers.data()); }, callSeconds, options, result);
    // What was timed must still be right.
    wrong = compareResults(stage, result);
    if (result.isOk() && !wrong.empty())
      fail(TrialStatus::WrongResult, "after timing, " + wrong);
  };
  run();
  cwm_pool_trim();
  result.checkMs = checkMs;
  result.timeMs = timeMs;
  return result;
}

/// Standard deviation of medians of 12 rounds, from medians of 5: they vary
/// with the root of the number of rounds.
static std::vector<double> getBlockMedians(ArrayRef<double> ratios) {
  std::vector<double> medians;
  for (; ratios.size() >= 5; ratios = ratios.drop_front(5))
    medians.push_back(getMedian(ratios.take_front(5)));
  double center = getMedian(medians);
  for (double &median : medians)
    median = center + (median - center) * std::sqrt(5.0 / 12.0);
  return medians;
}

std::vector<TrialResult>
MeasureStage::measureTogether(ArrayRef<std::string> objectPaths,
                              const Options &options, TimedStageFn onStage) {
  std::vector<TrialResult> all(objectPaths.size());
  std::vector<LoadedKernel> kernels;
  std::vector<size_t> indices;
  std::vector<double> callSeconds;
  double total = 0;
  for (const auto &[index, path] : enumerate(objectPaths)) {
    TrialResult &result = all[index];
    auto before = std::chrono::steady_clock::now();
    llvm::scope_exit setTime([&] {
      result.checkMs = std::chrono::duration<double, std::milli>(
                           std::chrono::steady_clock::now() - before)
                           .count();
    });
    Stage stage{onStage, "checking of finalist " + std::to_string(index),
                3 * options.runTimeoutSeconds};
    stage.announce();
    Expected<LoadedKernel> loaded = loadObject(path);
    if (!loaded) {
      result = makeFailure(TrialStatus::Crash, toString(loaded.takeError()));
      continue;
    }
    double seconds = 0;
    std::string wrong = check(*loaded, stage, result, seconds);
    if (!wrong.empty()) {
      result.status = TrialStatus::WrongResult;
      result.reason = std::move(wrong);
      continue;
    }
    seconds = timeCall([&] { (*loaded)(pointers.data()); }, seconds);
    kernels.push_back(std::move(*loaded));
    indices.push_back(index);
    callSeconds.push_back(seconds);
    total += std::max(seconds, 3e-3);
  }

  auto start = std::chrono::steady_clock::now();
  std::vector<std::function<void()>> bodies;
  bodies.reserve(kernels.size());
  for (const LoadedKernel &loaded : kernels)
    bodies.push_back([this, &loaded] { loaded(pointers.data()); });
  std::vector<TimedCall> calls(bodies.begin(), bodies.end());
  double limit = options.runTimeoutSeconds + 10 * numJointRounds * total;
  std::vector<TimeEstimate> estimates = timeTogether(
      kernel, calls, callSeconds, numJointRounds, getTimingOptions(),
      [&](size_t which) {
        onStage("timing of finalist " + std::to_string(indices[which]), limit);
      });
  double milliseconds = std::chrono::duration<double, std::milli>(
                            std::chrono::steady_clock::now() - start)
                            .count();
  std::vector<std::vector<double>> repeated;
  for (const auto &[position, estimate] : enumerate(estimates)) {
    TrialResult &result = all[indices[position]];
    result.timeMs = milliseconds / double(estimates.size());
    setResult(estimate, result);
    repeated.push_back(getBlockMedians(estimate.ratios));
  }
  if (!repeated.empty())
    noise = cwm::getNoise(repeated);
  cwm_pool_trim();
  return all;
}

} // namespace cwm
