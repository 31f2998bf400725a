//===- RunnerMain.cpp - What the cwm-runner tool does -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/RunnerMain.h"

#include "StageTimer.h"
#include "Worker.h"
#include "cwm/Runner/CompileStage.h"
#include "cwm/Runner/FaultHandler.h"
#include "cwm/Runner/MeasureStage.h"
#include "cwm/Support/ReadFile.h"
#include "cwm/Support/WriteFile.h"
#include "cwm/Target/CPU/OpenMPRuntime.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace cwm {

namespace {

enum class Role { None, Compile, Measure };

/// Made when the tool runs, so that linking this library adds no flags to
/// other tools.
struct Flags {
  cl::OptionCategory category{"cwm-runner options"};
  cl::opt<Role> role{
      "role", cl::cat(category), cl::init(Role::None),
      cl::desc("Serve a driver on standard input and output:"),
      cl::values(clEnumValN(Role::Compile, "compile", "compile candidates"),
                 clEnumValN(Role::Measure, "measure",
                            "check and time compiled candidates"))};
  cl::opt<std::string> payload{"payload", cl::cat(category),
                               cl::value_desc("file"),
                               cl::desc("Repeat one trial of this payload")};
  cl::opt<std::string> function{
      "function", cl::cat(category), cl::value_desc("name"),
      cl::desc("Entry function, when there are several")};
  cl::opt<std::string> script{"script", cl::cat(category),
                              cl::value_desc("file"),
                              cl::desc("Bound script of the trial")};
  cl::opt<uint64_t> seed{"seed", cl::cat(category), cl::init(0),
                         cl::desc("Seed of the random inputs")};
  cl::opt<std::string> hardware{
      "hardware", cl::cat(category), cl::value_desc("file"),
      cl::desc("Hardware description (default: this machine)")};
  cl::opt<std::string> object{"keep-object", cl::cat(category),
                              cl::value_desc("file"),
                              cl::desc("Write the object code here")};
  cl::opt<bool> compileOnly{
      "compile-only", cl::cat(category),
      cl::desc("Stop before the candidate is loaded and run")};
  cl::opt<bool> stockOnly{"stock-only", cl::cat(category),
                          cl::desc("Lower with upstream passes only")};
  cl::opt<int64_t> threads{"kernel-threads", cl::cat(category), cl::init(1),
                           cl::desc("Threads of the kernel")};
  cl::opt<bool> noStaticRules{
      "no-static-rules", cl::cat(category), cl::Hidden,
      cl::desc("Run also what the static rules refuse (for tests)")};
};

} // namespace

static int reportError(const Twine &message) {
  errs() << "cwm-runner: error: " << message << "\n";
  return 1;
}

/// In the foreground a fault ends the process, as it would end a worker.
static void dieOfFault(const char *what, bool outsideOfBuffer) {
  char text[300];
  int length = std::snprintf(text, sizeof(text), "cwm-runner: %s: %s\n",
                             outsideOfBuffer ? "wrong_result" : "crash", what);
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, text, length);
  _exit(3);
}

static TrialResult runTrial(const Flags &flags, const Payload &payload,
                            const HardwareDescription &hardware,
                            StringRef script) {
  CompileOptions options;
  options.staticRules = !flags.noStaticRules;
  options.lowering.stockOnly = flags.stockOnly;
  options.lowering.threads = flags.threads;
  SmallVector<char, 0> object;
  auto announce = [](StringRef stage) {
    errs() << "cwm-runner: " << stage << "\n";
  };
  TrialResult result =
      compileCandidate(payload, script, hardware, options, announce, object);
  if (!result.isOk())
    return result;
  auto crash = [&](Error error) {
    result.status = TrialStatus::Crash;
    result.reason = toString(std::move(error));
    return result;
  };
  StringRef bytes(object.data(), object.size());
  if (!flags.object.empty())
    if (Error error = writeFile(flags.object, bytes))
      return crash(std::move(error));
  if (flags.compileOnly)
    return result;

  if (Error error = loadOpenMPRuntime(flags.threads))
    return crash(std::move(error));
  double milliseconds = 0;
  Expected<std::unique_ptr<MeasureStage>> stage = [&] {
    StageTimer timer(milliseconds);
    return MeasureStage::create(payload, hardware, flags.seed,
                                /*cacheFolder=*/"", flags.threads);
  }();
  errs() << "cwm-runner: reference ready after " << int64_t(milliseconds)
         << " ms\n";
  if (!stage)
    return crash(stage.takeError());
  TrialResult measured =
      (*stage)->measure(object, MeasureStage::Options(),
                        [&](StringRef name, double) { announce(name); });
  measured.transformMs = result.transformMs;
  measured.lowerMs = result.lowerMs;
  measured.compileMs = result.compileMs;
  measured.codeBytes = result.codeBytes;
  return measured;
}

/// Repeats the trial that the flags name.
static int runOnce(const Flags &flags, const mlir::DialectRegistry &registry) {
  if (flags.payload.empty() || flags.script.empty())
    return reportError("expected --role=compile, --role=measure, or both "
                       "--payload= and --script=");
  if (flags.threads < 1 || flags.threads > getNumUsableCores())
    return reportError("--kernel-threads=" + Twine(flags.threads) +
                       ": must be from 1 to the " + Twine(getNumUsableCores()) +
                       " cores that this process may use");
  Expected<HardwareDescription> hardware =
      flags.hardware.empty() ? probeHardware()
                             : HardwareDescription::fromFile(flags.hardware);
  if (!hardware)
    return reportError(toString(hardware.takeError()));
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  mlir::FailureOr<Payload> payload =
      loadPayload(flags.payload, flags.function, &context);
  if (mlir::failed(payload))
    return 1;
  Expected<std::unique_ptr<MemoryBuffer>> script = readInput(flags.script);
  if (!script)
    return reportError(toString(script.takeError()));

  installFaultHandlers(dieOfFault);
  TrialResult result;
  Error error = runOnGuardedStack(size_t(8) << 20, [&] {
    result = runTrial(flags, *payload, *hardware, (*script)->getBuffer());
  });
  if (error)
    return reportError(toString(std::move(error)));
  outs() << formatv("{0:2}", toJSON(result)) << "\n";
  return result.isOk() ? 0 : 1;
}

int runnerMain(int argc, char **argv, const mlir::DialectRegistry &registry) {
  static Flags flags;
  cl::HideUnrelatedOptions(flags.category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Compiles, checks and times candidates. Started by cwm-tune; by hand it "
      "repeats one trial.\n");
  if (flags.role == Role::None)
    return runOnce(flags, registry);

  // Frames go to a descriptor of their own: whatever prints to standard output
  // must not end up between them.
  int output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
  int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
  if (output < 0 || input < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return reportError(Twine("cannot set up the stream: ") + strerror(errno));
  WorkerOptions options;
  options.staticRules = !flags.noStaticRules;
  return flags.role == Role::Compile
             ? runCompileWorker(input, output, registry, options)
             : runMeasureWorker(input, output, registry, options);
}

} // namespace cwm
