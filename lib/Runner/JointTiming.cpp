//===- JointTiming.cpp - Finalists against each other --------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkerPoolImpl.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace cwm {

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

} // namespace cwm
