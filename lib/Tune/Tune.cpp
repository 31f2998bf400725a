//===- Tune.cpp - The driver behind cwm-tune ------------------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuneRun.h"

#include "cwm/Support/WriteFile.h"

#include "llvm/Support/WithColor.h"

#include <csignal>

#include <fcntl.h>
#include <unistd.h>

using namespace mlir;
using namespace cwm;

bool TuneRun::fail(llvm::Error error, TuneExit code) {
  return fail(llvm::toString(std::move(error)), code);
}

bool TuneRun::fail(const Twine &message, TuneExit code) {
  // Workers and libraries have words of their own for a full disk.
  llvm::WithColor::error(llvm::errs(), "cwm-tune")
      << nameFullDisk(message.str()) << "\n";
  exit = code;
  return false;
}

void TuneRun::remark(const Twine &message) {
  if (options.verbose)
    llvm::WithColor::remark(llvm::errs(), "cwm-tune") << message << "\n";
}

std::string TuneRun::getTarget() const {
  // Times of one lowering say nothing of the other.
  return hardware.getTargetKey(options.threads) +
         (options.stockOnly ? ":stock" : "");
}

TuneExit TuneRun::run() {
  if (llvm::Error error = options.validate()) {
    fail(std::move(error));
    return exit;
  }
  if (!loadInputs() || !findSpaces())
    return exit;
  if (options.dryRun || options.countOnly) {
    printSpaces();
    return exit;
  }
  if (options.checkKnobs) {
    checkKnobs();
    return exit;
  }
  if (!openWorkDirectory())
    return exit;
  if (options.checkSpace > 0) {
    checkSpace();
    return exit;
  }
  if (!openDatabase())
    return exit;

  report.payloadFile = options.payload;
  // Where what was tuned is alone in its module, as the result wants it.
  report.appliedFile = options.payload == "-" || !options.function.empty()
                           ? workDirectory->getPayloadFile()
                           : options.payload;
  report.target = getTarget();
  report.toolchain = getToolchainVersion();
  report.flops = payload->getVariableFlops();
  // The peak is that of f32; other types have no measured one.
  StringRef element = payload->getResults().front().elementType;
  report.peakGflops = element == "f32"   ? hardware.peakGflops
                      : element == "f64" ? hardware.peakGflops / 2
                                         : 0;
  // What was measured is worth having even if nothing came of it.
  bool found =
      (options.trials == 0 ? takeDefault() : search()) && writeResult();
  report.busySeconds =
      otherBusySeconds + (measurer ? measurer->getBusySeconds() : 0);
  report.noiseFloor = measurer ? measurer->getNoiseFloor() : 0;
  report.wallSeconds =
      std::chrono::duration<double>(Clock::now() - started).count();
  bool extras = writeExtras();
  if (found && extras)
    report.print(llvm::errs());
  if (llvm::Error error = database->checkInPlace())
    fail(std::move(error), exit == TuneExit::Done ? TuneExit::Error : exit);
  return exit;
}

TuneExit cwm::runTune(const TuneOptions &options) {
  // Where a caller closed a standard stream, the next file opened would take
  // its number and the progress lines would go into the database. Standard
  // output is opened for reading, so that writing a result there still fails.
  for (auto [descriptor, mode] :
       {std::pair(STDIN_FILENO, O_RDONLY), std::pair(STDOUT_FILENO, O_RDONLY),
        std::pair(STDERR_FILENO, O_WRONLY)})
    if (::fcntl(descriptor, F_GETFD) == -1 &&
        ::open("/dev/null", mode) != descriptor)
      return TuneExit::Error;
  // A limit on file sizes is then an error of writing, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  TuneExit exit = [&] {
    InterruptScope interrupts("cwm-tune: error: interrupted before the first "
                              "trial: nothing was measured\n");
    return TuneRun(options, interrupts).run();
  }();
  // Nobody reads what went to a standard error that takes nothing; LLVM would
  // end the process for it, with an exit code of its own.
  llvm::errs().clear_error();
  return exit;
}
