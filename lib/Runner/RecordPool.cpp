//===- RecordPool.cpp - Records candidates in worker processes --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/RecordPool.h"

#include "WorkerPoolImpl.h"

#include "llvm/ADT/ScopeExit.h"

using namespace llvm;

namespace cwm {

struct RecordPool::Impl {
  RecordPoolOptions options;
  WakePipe wakePipe;
  std::vector<std::unique_ptr<WorkerSlot>> slots;
  std::atomic<bool> stopRequested{false};

  struct Job {
    size_t index;
    std::string script;
    /// Times that its worker was killed from outside.
    unsigned disturbed = 0;
  };
  /// What a slot works on, and what has to be done once more.
  std::map<WorkerSlot *, Job> assigned;
  std::vector<Job> again;
  /// Fetched, and given to no worker yet.
  std::optional<Job> ahead;
  size_t numJobs = 0;
  bool exhausted = false;

  Error start(const Payload &payload, const HardwareDescription &hardware);
  std::vector<WorkerSlot *> getSlots() const;
  std::optional<Job> takeJob(NextFn next);
  Error dispatch(NextFn next);
  Error handle(WorkerSlot &slot, SlotEvent event, ResultFn onResult);
};

RecordPool::RecordPool() : impl(std::make_unique<Impl>()) {}

RecordPool::~RecordPool() = default;

Expected<std::unique_ptr<RecordPool>>
RecordPool::create(const Payload &payload, const HardwareDescription &hardware,
                   const RecordPoolOptions &options) {
  std::unique_ptr<RecordPool> pool(new RecordPool());
  pool->impl->options = options;
  if (Error error = pool->impl->start(payload, hardware))
    return std::move(error);
  return std::move(pool);
}

Error RecordPool::Impl::start(const Payload &payload,
                              const HardwareDescription &hardware) {
  if (Error error = wakePipe.open())
    return error;
  if (Error error = findRunner(options.runnerPath))
    return error;

  WorkerPoolOptions common;
  common.compileTimeoutSeconds = options.timeoutSeconds;
  common.lowering.threads = options.threads;
  WorkerSlot::Options slot;
  slot.name = "recording";
  slot.command = {options.runnerPath, "--role=compile"};
  slot.command.insert(slot.command.end(), options.runnerArguments.begin(),
                      options.runnerArguments.end());
  slot.init = makeInitMessage(payload, printPayload(payload), hardware, common,
                              /*cache=*/"");
  slot.initTimeoutSeconds = 60;
  slot.timeoutStatus = TrialStatus::CompileTimeout;
  slot.maxRequests = options.maxCandidatesPerWorker;
  slot.limits.addressSpaceBytes = options.memoryBytes;
  slot.limits.stackBytes = compileStackBytes;
  size_t count =
      options.numWorkers ? options.numWorkers : getAllowedCPUs().size();
  for (size_t i = 0; i < count; ++i)
    slots.push_back(std::make_unique<WorkerSlot>(slot));
  return Error::success();
}

std::vector<WorkerSlot *> RecordPool::Impl::getSlots() const {
  std::vector<WorkerSlot *> all;
  all.reserve(slots.size());
  for (const auto &slot : slots)
    all.push_back(slot.get());
  return all;
}

std::optional<RecordPool::Impl::Job> RecordPool::Impl::takeJob(NextFn next) {
  if (!again.empty()) {
    Job job = std::move(again.back());
    again.pop_back();
    return job;
  }
  std::optional<MeasureRequest> request;
  if (!exhausted)
    request = next();
  exhausted |= !request;
  if (!request)
    return std::nullopt;
  return Job{numJobs++, std::move(request->script)};
}

/// Hands candidates to idle workers; starts those that are needed. One more is
/// fetched ahead, which takes the driver's time while workers use theirs.
Error RecordPool::Impl::dispatch(NextFn next) {
  for (const auto &slot : slots) {
    if (slot->isBusy())
      continue;
    if (!ahead)
      ahead = takeJob(next);
    if (!ahead)
      break;
    if (Error error = slot->ensureStarted())
      return error;
    if (!slot->isIdle())
      continue;
    slot->request(json::Object{{"op", "record"}, {"script", ahead->script}},
                  options.timeoutSeconds);
    assigned.emplace(slot.get(), std::move(*ahead));
    ahead.reset();
  }
  if (!ahead)
    ahead = takeJob(next);
  return Error::success();
}

Error RecordPool::Impl::handle(WorkerSlot &slot, SlotEvent event,
                               ResultFn onResult) {
  if (event.kind == SlotEvent::Kind::Unusable)
    return createStringError("no worker can be started: " + event.reason);
  auto it = assigned.find(&slot);
  if (it == assigned.end())
    return Error::success();
  Job job = std::move(it->second);
  assigned.erase(it);
  RecordResult result;
  if (event.kind == SlotEvent::Kind::Failed) {
    // Whatever ended it, the candidate may be innocent.
    if (event.killedFromOutside && job.disturbed++ == 0) {
      again.push_back(std::move(job));
      return Error::success();
    }
    result.trial.status = event.status;
    result.trial.reason = event.reason;
  } else {
    json::Path::Root root("answer");
    const json::Value *history = event.reply.get("history");
    json::Value trial = json::Object(event.reply);
    if (!fromJSON(trial, result.trial, root) || !history ||
        !fromJSON(*history, result.history, root)) {
      result = RecordResult();
      result.trial.status = TrialStatus::Crash;
      result.trial.reason =
          "the worker's answer is malformed" +
          (history ? ": " + toString(root.getError()) : std::string());
    }
  }
  return onResult(job.index, std::move(result));
}

Error RecordPool::record(NextFn next, ResultFn onResult) {
  Impl &self = *impl;
  self.numJobs = 0;
  self.exhausted = false;
  self.again.clear();
  self.ahead.reset();
  llvm::scope_exit cleanUp([&] {
    // After a stop or an error: what is in flight has no reader any more.
    for (auto &entry : self.assigned)
      entry.first->stop();
    self.assigned.clear();
  });
  std::vector<WorkerSlot *> slots = self.getSlots();
  while (!self.stopRequested) {
    if (Error error = self.dispatch(next))
      return error;
    if (!self.ahead && self.assigned.empty())
      break;
    pollSlots(slots, self.wakePipe.getReadEnd());
    for (WorkerSlot *slot : slots)
      while (std::optional<SlotEvent> event = slot->update())
        if (Error error = self.handle(*slot, std::move(*event), onResult))
          return error;
  }
  return Error::success();
}

void RecordPool::requestStop() {
  impl->stopRequested = true;
  impl->wakePipe.wake();
}

std::vector<int> RecordPool::getWorkerPids() const {
  return getPids(impl->getSlots());
}

} // namespace cwm
