//===- WorkerPool.cpp - Measures candidates in worker processes -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkerPoolImpl.h"

#include "cwm/Trajectory/StateText.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cwm {

WorkerPool::WorkerPool() : impl(std::make_unique<Impl>()) {}

WorkerPool::~WorkerPool() {
  impl->compilers.clear();
  impl->meter.reset();
  if (!impl->objectFolder.empty())
    (void)sys::fs::remove_directories(impl->objectFolder);
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
  pollSlots(getSlots(), wakePipe.getReadEnd());
  busySeconds += std::chrono::duration<double>(Clock::now() - before).count();
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
    if (Error error = createFolder(objectFolder))
      return error;
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

double WorkerPool::getNoiseFloor() const {
  // Nothing below one percent was ever reproducible (prototype measurements:
  // 0.5 to 5.8 percent between repeated estimates).
  return std::max(0.01, impl->noiseFloor);
}

double WorkerPool::getBusySeconds() const { return impl->busySeconds; }

void WorkerPool::requestStop() {
  impl->stopRequested = true;
  impl->wakePipe.wake();
}

std::vector<int> WorkerPool::getWorkerPids() const {
  return getPids(impl->getSlots());
}

unsigned WorkerPool::getNumSpawned() const {
  unsigned count = 0;
  for (WorkerSlot *slot : impl->getSlots())
    count += slot->getNumSpawned();
  return count;
}

} // namespace cwm
