//===- WorkerPoolStart.cpp - Starts the workers of a pool ----- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkerPoolImpl.h"

#include "cwm/Runner/Protocol.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <unistd.h>

using namespace llvm;

namespace cwm {

/// Names of the slots, in messages.
static constexpr StringLiteral compileRole = "compile", measureRole = "measure";

/// After which the user is told what is waited for.
static constexpr std::chrono::seconds slowStart(5);

static std::string getDefaultRunner() {
  std::string self = sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&getDefaultRunner));
  SmallString<256> path(sys::path::parent_path(self));
  sys::path::append(path, "cwm-runner");
  // Tests live one folder beside the tools.
  if (!sys::fs::can_execute(path)) {
    path = sys::path::parent_path(sys::path::parent_path(self));
    sys::path::append(path, "bin", "cwm-runner");
  }
  return path.str().str();
}

Error findRunner(std::string &path) {
  if (path.empty())
    path = getDefaultRunner();
  if (!sys::fs::can_execute(path))
    return createStringError("cannot execute '" + path +
                             "': the workers' program is missing");
  return Error::success();
}

std::vector<int> getPids(ArrayRef<WorkerSlot *> slots) {
  std::vector<int> pids;
  for (WorkerSlot *slot : slots)
    if (const WorkerProcess *process = slot->getProcess())
      pids.push_back(process->getPid());
  return pids;
}

/// Removes the object folders of drivers that are no longer alive.
static void removeStaleFolders(StringRef workDir) {
  std::error_code error;
  for (sys::fs::directory_iterator it(workDir, error), end; it != end && !error;
       it.increment(error)) {
    StringRef name = sys::path::filename(it->path());
    pid_t pid = 0;
    if (!name.consume_front("objects-") ||
        name.take_until([](char c) { return c == '-'; }).getAsInteger(10, pid))
      continue;
    if (::kill(pid, 0) != 0 && errno == ESRCH)
      (void)sys::fs::remove_directories(it->path());
  }
}

std::string printPayload(const Payload &payload) {
  std::string text;
  raw_string_ostream out(text);
  payload.getModule()->print(out, mlir::OpPrintingFlags().useLocalScope());
  return text;
}

json::Object makeInitMessage(const Payload &payload, StringRef payloadText,
                             const HardwareDescription &hardware,
                             const WorkerPoolOptions &options,
                             StringRef cache) {
  return json::Object{
      {"op", "init"},
      {"payload", payloadText.str()},
      {"function", payload.getEntry().getName().str()},
      {"hardware", hardware.toJSON()},
      {"polynomial_math", options.lowering.polynomialMath},
      {"contract", options.lowering.contract},
      {"stock_only", options.lowering.stockOnly},
      {"threads", options.lowering.threads},
      {"seed", std::to_string(options.seed)},
      {"cache", cache.str()},
      {"compile_timeout", options.compileTimeoutSeconds},
  };
}

Error createFolder(StringRef path) {
  if (std::error_code code = sys::fs::create_directories(path))
    return createStringError(code,
                             "cannot create '" + path + "': " + code.message());
  return Error::success();
}

/// Refuses what kills upstream's pass for results, which is all that there is
/// with --stock-only, here and where the result is used.
static Error checkStockOnly(const Payload &payload) {
  mlir::func::FuncOp entry = payload.getEntry();
  mlir::Operation *end = entry.getBody().front().getTerminator();
  DenseMap<mlir::Value, unsigned> seen;
  for (mlir::OpOperand &operand : end->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    auto [first, isNew] = seen.try_emplace(operand.get(), number);
    mlir::Operation *producer = operand.get().getDefiningOp();
    // Of views and constants it makes copies.
    bool isAllocated =
        isa_and_nonnull<mlir::DestinationStyleOpInterface>(producer);
    if (!isNew && isAllocated)
      return createStringError(
          "results #" + Twine(first->second) + " and #" + Twine(number) +
          " of @" + entry.getName() +
          " are one value, which kills upstream's "
          "buffer-results-to-out-params: return it once, or leave out "
          "--stock-only");
  }
  return Error::success();
}

Error WorkerPool::Impl::start(const Payload &payload,
                              const HardwareDescription &hardware) {
  if (options.lowering.stockOnly)
    if (Error error = checkStockOnly(payload))
      return error;
  static std::atomic<unsigned> counter{0};
  removeStaleFolders(options.workDir);
  // Made with the first job: a run that is interrupted before leaves nothing.
  objectFolder = options.workDir + "/objects-" + std::to_string(getpid()) +
                 "-" + std::to_string(counter++);
  if (!options.keptObjectsDir.empty())
    if (Error error = createFolder(options.keptObjectsDir))
      return error;
  std::string cache = options.workDir + "/cache";
  if (Error error = createFolder(cache))
    return error;

  if (Error error = wakePipe.open())
    return error;
  if (Error error = findRunner(options.runnerPath))
    return error;
  std::string payloadText = printPayload(payload);
  crashes = std::make_unique<CrashFolder>(
      options.workDir, payloadText, payload.getWorkloadHash().str(),
      options.runnerPath,
      "--seed=" + std::to_string(options.seed) +
          (options.lowering.stockOnly ? " --stock-only" : "") +
          (options.lowering.threads > 1
               ? " --kernel-threads=" + std::to_string(options.lowering.threads)
               : ""));

  std::vector<int> cpus = getAllowedCPUs();
  auto threads = static_cast<size_t>(options.lowering.threads);
  if (threads > cpus.size())
    return createStringError("a kernel of " + Twine(threads) +
                             " threads needs as many CPUs, and this process "
                             "may use " +
                             Twine(cpus.size()));
  // Nothing else may run where a kernel is timed.
  alternate = cpus.size() <= threads;
  size_t others = cpus.size() - threads;
  if (options.numCompileWorkers == 0)
    options.numCompileWorkers = others ? others : threads;
  // The slowest code there is runs at some 10^8 operations a second.
  runTimeout = options.runTimeoutSeconds > 0 ? options.runTimeoutSeconds
                                             : 10 + payload.getFlops() / 1e8;

  json::Object init =
      makeInitMessage(payload, payloadText, hardware, options, cache);
  WorkerSlot::Options slot;
  slot.init = std::move(init);
  slot.maxRequests = options.maxCandidatesPerWorker;
  auto getCommand = [&](StringRef role) {
    std::vector<std::string> command = {options.runnerPath,
                                        "--role=" + role.str()};
    command.insert(command.end(), options.runnerArguments.begin(),
                   options.runnerArguments.end());
    return command;
  };

  slot.name = measureRole.str();
  slot.command = getCommand(measureRole);
  slot.timeoutStatus = TrialStatus::RunTimeout;
  // Of heavy payloads the reference takes seconds.
  slot.initTimeoutSeconds = 60 + payload.getFlops() / 1e8;
  if (options.startTimeoutSeconds > 0)
    slot.initTimeoutSeconds =
        std::min(slot.initTimeoutSeconds, options.startTimeoutSeconds);
  if (!alternate)
    slot.limits.cpus = llvm::ArrayRef<int>(cpus).take_back(threads).vec();
  slot.numThreads = options.lowering.threads;
  meter = std::make_unique<WorkerSlot>(slot);

  slot.name = compileRole.str();
  slot.command = getCommand(compileRole);
  slot.timeoutStatus = TrialStatus::CompileTimeout;
  slot.initTimeoutSeconds = 60;
  slot.limits.addressSpaceBytes = options.compileMemoryBytes;
  slot.limits.stackBytes = compileStackBytes;
  if (!alternate)
    slot.limits.cpus = llvm::ArrayRef<int>(cpus).drop_back(threads).vec();
  slot.numThreads = 1;
  for (unsigned i = 0; i < options.numCompileWorkers; ++i)
    compilers.push_back(std::make_unique<WorkerSlot>(slot));
  if (Error error = startWorkers())
    return error;
  return waitForMeter();
}

/// Says what a trap of the payload itself, not of a candidate, means.
static std::string explainFailedStart(StringRef reason) {
  StringRef why;
  if (!reason.contains(evaluationStage))
    return reason.str();
  if (reason.contains("signal 8"))
    why = "the payload divides integers by zero, or overflows in a division, "
          "on random inputs ({cwm.domain = \"nonnegative\"} on an argument "
          "makes its integers 1 to 7): ";
  else if (reason.contains("signal 11") || reason.contains("stack overflow"))
    why = "the payload accesses elements outside of its tensors on random "
          "inputs: ";
  return (why + reason).str();
}

/// Waits for the reference, so that a payload that cannot be evaluated is
/// reported before anything is searched.
Error WorkerPool::Impl::waitForMeter() {
  Clock::time_point start = Clock::now();
  bool noted = false;
  while (!meter->isIdle() && !stopRequested) {
    wait();
    for (WorkerSlot *slot : getSlots())
      if (std::optional<SlotEvent> event = slot->update())
        return createStringError(explainFailedStart(event->reason));
    if (!noted && options.onNote && Clock::now() - start > slowStart) {
      options.onNote((meter->getStage() +
                      " takes long; candidates are compared "
                      "with its results")
                         .str());
      noted = true;
    }
    if (Error error = startWorkers())
      return error;
  }
  return Error::success();
}

} // namespace cwm
