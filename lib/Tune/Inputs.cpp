//===- Inputs.cpp - What a run of cwm-tune starts from -------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KnobCheck.h"
#include "TuneRun.h"

#include "cwm/Sketches/Sketches.h"
#include "cwm/Support/WriteFile.h"
#include "cwm/Tune/ResultFile.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace cwm;

bool TuneRun::loadInputs() {
  llvm::Expected<HardwareDescription> description =
      options.hardware.empty()
          ? probeHardware()
          : HardwareDescription::fromFile(options.hardware);
  if (!description)
    return fail(description.takeError());
  hardware = std::move(*description);
  diagnostics.setFile(options.payload);
  FailureOr<Payload> loaded =
      loadPayload(options.payload, options.function, &context);
  if (failed(loaded)) {
    exit = TuneExit::Error;
    return false;
  }
  payload = std::move(*loaded);
  return true;
}

bool TuneRun::findSpaces() {
  diagnostics.setFile(options.schedule);
  if (options.schedule.empty()) {
    std::string why;
    FailureOr<std::vector<std::unique_ptr<Space>>> found =
        buildSpaces(*payload, hardware, getSchedulesDir(options.target), &why,
                    options.threads);
    if (failed(found)) {
      exit = TuneExit::Error;
      return false;
    }
    if (!why.empty()) {
      llvm::WithColor::note(llvm::errs(), "cwm-tune")
          << "no sketch fits this payload, only the fallback is left"
          << (options.verbose ? " (" + why + ")" : "; --verbose says why")
          << "\n";
    }
    spaces = std::move(*found);
  } else {
    FailureOr<std::unique_ptr<Space>> space =
        buildUserSpace(options.schedule, &context);
    if (failed(space)) {
      exit = TuneExit::Error;
      return false;
    }
    spaces.push_back(std::move(*space));
  }
  std::vector<const Space *> nonStock;
  for (const std::unique_ptr<Space> &space : spaces) {
    std::string why;
    std::optional<Assignment> candidate = space->getDefault(&why);
    if (!candidate) {
      return fail(
          "schedule '" + space->getName() +
              "' has no candidate that satisfies its constraints: " + why,
          TuneExit::NoValidCandidate);
    }
    FailureOr<OwningOpRef<ModuleOp>> script = space->bind(*candidate);
    if (failed(script)) {
      exit = TuneExit::Error;
      return false;
    }
    if (options.stockOnly && options.schedule.empty() && spaces.size() > 1 &&
        hasBooleanVectors(**script, *payload)) {
      remark(llvm::formatv("space '{0}' has vectors of i1, which upstream's "
                           "lowering stores as bits: left out (--stock-only)",
                           space->getName()));
      nonStock.push_back(space.get());
      continue;
    }
    if (Operation *op = findNonStockOp(**script); op && options.stockOnly) {
      if (options.schedule.empty() && spaces.size() > 1) {
        remark(llvm::formatv("space '{0}' uses {1}: left out (--stock-only)",
                             space->getName(), describeNonStockOp(op)));
        nonStock.push_back(space.get());
        continue;
      }
      op->emitError() << "uses " << describeNonStockOp(op)
                      << " of cwm: schedule '" << space->getName()
                      << "' does not apply with stock mlir-opt (--stock-only)";
      exit = TuneExit::Error;
      return false;
    }
    remark(llvm::formatv("space '{0}': {1} candidates before constraints",
                         space->getName(),
                         llvm::format("%g", space->countUnconstrained())));
  }
  llvm::erase_if(spaces, [&](const std::unique_ptr<Space> &space) {
    return llvm::is_contained(nonStock, space.get());
  });
  return true;
}

/// How many candidates `space` has, exactly where that is cheap.
static std::string describeCount(const Space &space) {
  if (std::optional<uint64_t> count = space.countExact(1000000))
    return std::to_string(*count);
  std::string text;
  llvm::raw_string_ostream(text)
      << "up to " << llvm::format("%.6g", space.countUnconstrained());
  return text;
}

bool TuneRun::printSpaces() {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const std::unique_ptr<Space> &space : spaces) {
    os << (options.dryRun ? "// " : "") << space->getName() << ": "
       << describeCount(*space) << " candidates\n";
    if (!options.dryRun)
      continue;
    for (const Knob &knob : space->getKnobs()) {
      uint64_t count = knob.getNumOptions();
      os << "//   " << knob.name << ": " << count << " options:";
      constexpr uint64_t shown = 8;
      for (uint64_t i = 0; i < std::min(count, shown); ++i)
        os << " " << knob.getOptionText(i)
           << (i == knob.defaultIndex ? " (default)" : "");
      os << (count > shown ? " ...\n" : "\n");
    }
  }
  if (options.dryRun) {
    FailureOr<OwningOpRef<ModuleOp>> script =
        spaces.front()->bind(*spaces.front()->getDefault());
    if (failed(script)) {
      exit = TuneExit::Error;
      return false;
    }
    os << "// baseline: "
       << spaces.front()->getKey(*spaces.front()->getDefault()) << "\n"
       << **script << "\n";
  }
  if (llvm::Error error = writeFile("-", text))
    return fail(std::move(error));
  return true;
}

bool TuneRun::checkKnobs() {
  llvm::Expected<std::string> text = runKnobCheck(
      *payload, options.schedule, options.hardware, options.threads);
  if (!text)
    return fail(text.takeError());
  if (llvm::Error error = writeFile("-", *text))
    return fail(std::move(error));
  return true;
}
