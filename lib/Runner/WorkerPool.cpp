//===- WorkerPool.cpp - Measures candidates in worker processes -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/WorkerPool.h"

#include "cwm/Trajectory/StateText.h"

#include "CrashFolder.h"
#include "WorkerSlot.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <csignal>
#include <deque>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace cwm {

namespace {

/// One candidate on its way through the pool.
struct Job {
  enum class Phase { Waiting, Compiling, Compiled, Measuring, Done };
  const MeasureRequest *request = nullptr;
  Phase phase = Phase::Waiting;
  TrialResult result;
  std::string object;
  /// Times that its worker was killed from outside.
  unsigned disturbed = 0;
};

} // namespace

/// Compile and measure workers, the jobs in flight, and what both know of the
/// payload.
struct WorkerPool::Impl {
  WorkerPoolOptions options;
  std::vector<std::unique_ptr<WorkerSlot>> compilers;
  std::unique_ptr<WorkerSlot> meter;
  std::unique_ptr<CrashFolder> crashes;
  std::string objectFolder;
  /// Compiling and measuring share the only CPU: one at a time.
  bool alternate = false;
  double runTimeout = 0;
  unsigned numObjects = 0;
  double busySeconds = 0;
  double noiseFloor = 0;
  double bestScore = 0, bestTimeNs = 0;
  std::atomic<bool> stopRequested{false};
  int wakeRead = -1, wakeWrite = -1;

  std::vector<Job> jobs;
  /// Which job a slot works on.
  std::map<WorkerSlot *, size_t> assigned;
  ResultFn *onResult = nullptr;
  bool measureEach = true;

  Error start(const Payload &payload, const HardwareDescription &hardware);
  Error waitForMeter();
  std::vector<WorkerSlot *> getSlots() const;
  Error run();
  Error startWorkers();
  void dispatch();
  void dispatchCompile();
  Error handle(WorkerSlot &slot, SlotEvent event);
  void handleReply(WorkerSlot &slot, Job &job, const json::Object &reply);
  void handleFailure(Job &job, const SlotEvent &event);
  void disposeObject(const Job &job);
  void finish(Job &job);
  double getRunTimeout() const;
  Error timeTogether(ArrayRef<size_t> indices);
  void applyTogether(ArrayRef<size_t> indices, const json::Object &reply);
  void wait();
  bool allDone(Job::Phase least) const;
};

/// Names of the slots, in messages.
/// After which the user is told what is waited for.
static constexpr std::chrono::seconds slowStart(5);
static constexpr StringLiteral compileRole = "compile", measureRole = "measure";

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

static std::string printPayload(const Payload &payload) {
  std::string text;
  raw_string_ostream out(text);
  payload.getModule()->print(out, mlir::OpPrintingFlags().useLocalScope());
  return text;
}

WorkerPool::WorkerPool() : impl(std::make_unique<Impl>()) {}

WorkerPool::~WorkerPool() {
  impl->compilers.clear();
  impl->meter.reset();
  if (!impl->objectFolder.empty())
    (void)sys::fs::remove_directories(impl->objectFolder);
  if (impl->wakeRead >= 0)
    close(impl->wakeRead);
  if (impl->wakeWrite >= 0)
    close(impl->wakeWrite);
}

Expected<std::unique_ptr<WorkerPool>>
WorkerPool::create(const Payload &payload, const HardwareDescription &hardware,
                   const WorkerPoolOptions &options) {
  std::unique_ptr<WorkerPool> pool(new WorkerPool());
  pool->impl->options = options;
  if (Error error = pool->impl->start(payload, hardware))
    return std::move(error);
  return std::move(pool);
}

/// `folder`/`name`, created; an error that names it otherwise.
static Expected<std::string> makeFolder(StringRef folder, const Twine &name) {
  SmallString<256> path(folder);
  sys::path::append(path, name);
  if (std::error_code code = sys::fs::create_directories(path))
    return createStringError(code,
                             "cannot create '" + path + "': " + code.message());
  return path.str().str();
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
    if (std::error_code code =
            sys::fs::create_directories(options.keptObjectsDir))
      return createStringError(code, "cannot create '" +
                                         options.keptObjectsDir +
                                         "': " + code.message());
  Expected<std::string> cache = makeFolder(options.workDir, "cache");
  if (!cache)
    return cache.takeError();

  int wake[2];
  if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0)
    return createStringError(std::error_code(errno, std::generic_category()),
                             "cannot make a pipe");
  wakeRead = wake[0];
  wakeWrite = wake[1];

  if (options.runnerPath.empty())
    options.runnerPath = getDefaultRunner();
  if (!sys::fs::can_execute(options.runnerPath))
    return createStringError("cannot execute '" + options.runnerPath +
                             "': the workers' program is missing");
  std::string payloadText = printPayload(payload);
  crashes = std::make_unique<CrashFolder>(
      options.workDir, payloadText, payload.getWorkloadHash().str(),
      options.runnerPath,
      "--seed=" + std::to_string(options.seed) +
          (options.lowering.stockOnly ? " --stock-only" : ""));

  std::vector<int> cpus = getAllowedCPUs();
  alternate = cpus.size() < 2;
  if (options.numCompileWorkers == 0)
    options.numCompileWorkers = std::max<size_t>(1, cpus.size() - 1);
  // The slowest code there is runs at some 10^8 operations a second.
  runTimeout = options.runTimeoutSeconds > 0 ? options.runTimeoutSeconds
                                             : 10 + payload.getFlops() / 1e8;

  json::Object init{
      {"op", "init"},
      {"payload", payloadText},
      {"function", payload.getEntry().getName()},
      {"hardware", hardware.toJSON()},
      {"polynomial_math", options.lowering.polynomialMath},
      {"contract", options.lowering.contract},
      {"stock_only", options.lowering.stockOnly},
      {"seed", std::to_string(options.seed)},
      {"cache", *cache},
      {"compile_timeout", options.compileTimeoutSeconds},
  };
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
    slot.limits.cpus = {cpus.back()};
  meter = std::make_unique<WorkerSlot>(slot);

  slot.name = compileRole.str();
  slot.command = getCommand(compileRole);
  slot.timeoutStatus = TrialStatus::CompileTimeout;
  slot.initTimeoutSeconds = 60;
  slot.limits.addressSpaceBytes = options.compileMemoryBytes;
  slot.limits.stackBytes = uint64_t(256) << 20;
  if (!alternate)
    slot.limits.cpus.assign(cpus.begin(), cpus.end() - 1);
  for (unsigned i = 0; i < options.numCompileWorkers; ++i)
    compilers.push_back(std::make_unique<WorkerSlot>(slot));
  if (Error error = startWorkers())
    return error;
  return waitForMeter();
}

std::vector<WorkerSlot *> WorkerPool::Impl::getSlots() const {
  std::vector<WorkerSlot *> slots;
  slots.reserve(compilers.size() + 1);
  for (const auto &compiler : compilers)
    slots.push_back(compiler.get());
  slots.push_back(meter.get());
  return slots;
}

Error WorkerPool::Impl::startWorkers() {
  for (WorkerSlot *slot : getSlots())
    if (Error error = slot->ensureStarted())
      return error;
  return Error::success();
}

void WorkerPool::Impl::wait() {
  Clock::time_point before = Clock::now();
  pollSlots(getSlots(), wakeRead);
  busySeconds += std::chrono::duration<double>(Clock::now() - before).count();
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

bool WorkerPool::Impl::allDone(Job::Phase least) const {
  return all_of(jobs, [&](const Job &job) { return job.phase >= least; });
}

double WorkerPool::Impl::getRunTimeout() const {
  if (bestTimeNs <= 0)
    return runTimeout;
  return std::min(runTimeout, std::max(2.0, 100 * bestTimeNs * 1e-9));
}

void WorkerPool::Impl::dispatchCompile() {
  // Compiling runs ahead of measuring, but not without bound: a stop must not
  // find a heap of unmeasured objects.
  size_t ahead = count_if(
      jobs, [](const Job &job) { return job.phase == Job::Phase::Compiled; });
  bool bounded = measureEach && ahead >= 2 * compilers.size();
  bool waitForMeasuring =
      alternate && measureEach && (ahead > 0 || meter->isBusy());
  if (bounded || waitForMeasuring)
    return;
  for (const auto &compiler : compilers) {
    if (!compiler->isIdle())
      continue;
    auto job = find_if(
        jobs, [](const Job &job) { return job.phase == Job::Phase::Waiting; });
    if (job == jobs.end())
      return;
    job->phase = Job::Phase::Compiling;
    job->object = objectFolder + "/" + std::to_string(numObjects++) + ".o";
    assigned[compiler.get()] = job - jobs.begin();
    compiler->request(json::Object{{"op", "compile"},
                                   {"script", job->request->script},
                                   {"object", job->object}},
                      options.compileTimeoutSeconds);
  }
}

void WorkerPool::Impl::dispatch() {
  bool compiling = any_of(
      compilers, [](const auto &compiler) { return compiler->isBusy(); });
  if (measureEach && meter->isIdle() && !(alternate && compiling)) {
    auto job = find_if(
        jobs, [](const Job &job) { return job.phase == Job::Phase::Compiled; });
    if (job != jobs.end()) {
      job->phase = Job::Phase::Measuring;
      assigned[meter.get()] = job - jobs.begin();
      meter->request(json::Object{{"op", "measure"},
                                  {"object", job->object},
                                  {"best_score", bestScore},
                                  {"run_timeout", getRunTimeout()},
                                  {"estimate_noise", noiseFloor == 0}},
                     getRunTimeout());
    }
  }
  dispatchCompile();
}

/// Removes a measured object, or moves it to where the user wants it kept. An
/// object that cannot be kept is missing from the index, no more.
void WorkerPool::Impl::disposeObject(const Job &job) {
  if (options.keptObjectsDir.empty() || !job.result.isOk()) {
    (void)sys::fs::remove(job.object);
    return;
  }
  std::string name = hashText(job.request->key) + ".o";
  SmallString<256> kept(options.keptObjectsDir), index(kept);
  sys::path::append(kept, name);
  sys::path::append(index, "index.jsonl");
  if (sys::fs::rename(job.object, kept)) {
    (void)sys::fs::remove(job.object);
    return;
  }
  std::error_code code;
  raw_fd_ostream stream(index, code, sys::fs::OF_Append);
  stream << json::Value(
                json::Object{{"candidate", job.request->key}, {"object", name}})
         << "\n";
  stream.close();
  stream.clear_error();
}

void WorkerPool::Impl::finish(Job &job) {
  job.phase = Job::Phase::Done;
  if (measureEach && !job.object.empty())
    disposeObject(job);
  TrialResult &result = job.result;
  switch (result.status) {
  case TrialStatus::Crash:
  case TrialStatus::CompileTimeout:
  case TrialStatus::RunTimeout:
  case TrialStatus::WrongResult:
    // A full disk loses the files but not the record.
    if (Expected<std::string> command = crashes->add(job.request->script))
      result.reproducer = std::move(*command);
    else
      result.reason +=
          "; no command repeats it: " + toString(command.takeError());
    break;
  default:
    break;
  }
  if (result.isOk() && result.score > bestScore) {
    bestScore = result.score;
    bestTimeNs = result.timeNs;
  }
  (*onResult)(&job - jobs.data(), result);
}

void WorkerPool::Impl::handleReply(WorkerSlot &slot, Job &job,
                                   const json::Object &reply) {
  TrialResult part;
  json::Path::Root root;
  if (!fromJSON(json::Value(json::Object(reply)), part, root)) {
    job.result.status = TrialStatus::Crash;
    job.result.reason =
        "the worker's answer is malformed: " + toString(root.getError());
    return finish(job);
  }
  if (&slot == meter.get()) {
    part.transformMs = job.result.transformMs;
    part.lowerMs = job.result.lowerMs;
    part.compileMs = job.result.compileMs;
    part.codeBytes = job.result.codeBytes;
    if (std::optional<double> noise = reply.getNumber("noise"))
      noiseFloor = *noise;
  }
  job.result = std::move(part);
  if (job.phase == Job::Phase::Compiling && job.result.isOk())
    job.phase = Job::Phase::Compiled;
  else
    finish(job);
}

void WorkerPool::Impl::handleFailure(Job &job, const SlotEvent &event) {
  if (event.killedFromOutside && job.disturbed++ == 0) {
    job.phase = job.phase == Job::Phase::Compiling ? Job::Phase::Waiting
                                                   : Job::Phase::Compiled;
    return;
  }
  job.result.status = event.status;
  job.result.reason = event.reason;
  finish(job);
}

Error WorkerPool::Impl::handle(WorkerSlot &slot, SlotEvent event) {
  if (event.kind == SlotEvent::Kind::Unusable)
    return createStringError("no worker can be started: " + event.reason);
  auto it = assigned.find(&slot);
  if (it == assigned.end())
    return Error::success();
  Job &job = jobs[it->second];
  assigned.erase(it);
  // A full disk is no candidate's fault.
  if (std::optional<StringRef> fatal = event.reply.getString("fatal"))
    return createStringError(*fatal);
  if (event.kind == SlotEvent::Kind::Reply)
    handleReply(slot, job, event.reply);
  else
    handleFailure(job, event);
  return Error::success();
}

/// Runs the jobs to their end: measured, or only compiled.
Error WorkerPool::Impl::run() {
  Job::Phase least = measureEach ? Job::Phase::Done : Job::Phase::Compiled;
  llvm::scope_exit cleanUp([&] {
    // After a stop or an error: what is in flight has no reader any more.
    for (auto &entry : assigned)
      entry.first->stop();
    assigned.clear();
  });
  if (numObjects == 0)
    if (std::error_code code = sys::fs::create_directories(objectFolder))
      return createStringError(code, "cannot create '" + objectFolder +
                                         "': " + code.message());
  while (!stopRequested && !allDone(least)) {
    if (Error error = startWorkers())
      return error;
    dispatch();
    wait();
    for (WorkerSlot *slot : getSlots())
      while (std::optional<SlotEvent> event = slot->update())
        if (Error error = handle(*slot, std::move(*event)))
          return error;
  }
  return Error::success();
}

Error WorkerPool::measure(ArrayRef<MeasureRequest> requests,
                          ResultFn onResult) {
  impl->jobs.assign(requests.size(), {});
  for (auto [job, request] : zip(impl->jobs, requests))
    job.request = &request;
  impl->onResult = &onResult;
  impl->measureEach = true;
  return impl->run();
}

void WorkerPool::Impl::applyTogether(ArrayRef<size_t> indices,
                                     const json::Object &reply) {
  const json::Array *results = reply.getArray("results");
  for (auto [position, index] : enumerate(indices)) {
    Job &job = jobs[index];
    TrialResult compiled = job.result;
    json::Path::Root root;
    if (!results || position >= results->size() ||
        !fromJSON((*results)[position], job.result, root)) {
      consumeError(root.getError());
      job.result.status = TrialStatus::Crash;
      job.result.reason = "the worker's answer is malformed";
    }
    job.result.transformMs = compiled.transformMs;
    job.result.lowerMs = compiled.lowerMs;
    job.result.compileMs = compiled.compileMs;
    job.result.codeBytes = compiled.codeBytes;
    finish(job);
  }
  if (std::optional<double> noise = reply.getNumber("noise"))
    noiseFloor = *noise;
}

/// Sends compiled jobs to be timed in one request. When the worker dies, the
/// job it announced last is to blame and the others are tried again.
Error WorkerPool::Impl::timeTogether(ArrayRef<size_t> indices) {
  std::vector<size_t> remaining(indices);
  unsigned disturbed = 0;
  while (!remaining.empty() && !stopRequested) {
    if (Error error = startWorkers())
      return error;
    json::Array objects;
    for (size_t index : remaining)
      objects.push_back(jobs[index].object);
    std::optional<json::Object> request =
        json::Object{{"op", "time_together"},
                     {"objects", std::move(objects)},
                     {"run_timeout", runTimeout}};
    std::optional<SlotEvent> event;
    while (!event && !stopRequested) {
      if (request && meter->isIdle()) {
        meter->request(std::move(*request), runTimeout);
        request.reset();
      }
      if (Error error = startWorkers())
        return error;
      wait();
      for (const auto &compiler : compilers)
        if (std::optional<SlotEvent> other = compiler->update())
          if (other->kind == SlotEvent::Kind::Unusable)
            return createStringError(other->reason);
      event = meter->update();
    }
    if (!event)
      break;
    if (event->kind == SlotEvent::Kind::Unusable)
      return createStringError("no worker can be started: " + event->reason);
    if (event->kind == SlotEvent::Kind::Reply) {
      applyTogether(remaining, event->reply);
      break;
    }
    if (event->killedFromOutside && disturbed++ == 0)
      continue;
    // The stage reads "... of finalist N".
    size_t culprit = 0;
    StringRef reason = event->reason;
    size_t mark = reason.rfind("finalist ");
    if (mark != StringRef::npos) {
      StringRef number = reason.substr(mark + strlen("finalist "));
      number.consumeInteger(10, culprit);
    }
    culprit = std::min(culprit, remaining.size() - 1);
    Job &job = jobs[remaining[culprit]];
    job.result.status = event->status;
    job.result.reason = event->reason;
    finish(job);
    remaining.erase(std::next(remaining.begin(), ptrdiff_t(culprit)));
  }
  if (stopRequested && meter->isBusy())
    meter->stop();
  return Error::success();
}

Error WorkerPool::measureTogether(ArrayRef<MeasureRequest> requests,
                                  ResultFn onResult) {
  impl->jobs.assign(requests.size(), {});
  for (auto [job, request] : zip(impl->jobs, requests))
    job.request = &request;
  impl->onResult = &onResult;
  impl->measureEach = false;
  if (Error error = impl->run())
    return error;
  std::vector<size_t> compiled;
  for (auto [index, job] : enumerate(impl->jobs))
    if (job.phase == Job::Phase::Compiled)
      compiled.push_back(index);
  Error error = impl->timeTogether(compiled);
  for (const Job &job : impl->jobs)
    if (!job.object.empty())
      (void)sys::fs::remove(job.object);
  return error;
}

double WorkerPool::getNoiseFloor() const {
  // Nothing below one percent was ever reproducible (prototype measurements:
  // 0.5 to 5.8 percent between repeated estimates).
  return std::max(0.01, impl->noiseFloor);
}

double WorkerPool::getBusySeconds() const { return impl->busySeconds; }

void WorkerPool::requestStop() {
  impl->stopRequested = true;
  char byte = 0;
  [[maybe_unused]] ssize_t written = ::write(impl->wakeWrite, &byte, 1);
}

std::vector<int> WorkerPool::getWorkerPids() const {
  std::vector<int> pids;
  for (WorkerSlot *slot : impl->getSlots())
    if (const WorkerProcess *process = slot->getProcess())
      pids.push_back(process->getPid());
  return pids;
}

unsigned WorkerPool::getNumSpawned() const {
  unsigned count = 0;
  for (WorkerSlot *slot : impl->getSlots())
    count += slot->getNumSpawned();
  return count;
}

} // namespace cwm
