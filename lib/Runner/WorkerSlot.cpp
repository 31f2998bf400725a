//===- WorkerSlot.cpp - A place for one worker, refilled --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkerSlot.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <csignal>
#include <poll.h>
#include <unistd.h>

using namespace llvm;

namespace cwm {

/// How much longer than its CPU limit a worker may take by the wall clock: a
/// loaded machine must not turn good candidates into timeouts.
static constexpr double wallFactor = 4;
static constexpr unsigned maxFailedStarts = 3;

/// CPU seconds of another process; 0 when it cannot be told.
static double getCPUSeconds(pid_t pid) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
      MemoryBuffer::getFileAsStream("/proc/" + Twine(pid) + "/stat");
  if (!buffer)
    return 0;
  // The command name, in parentheses, may hold spaces.
  StringRef text = (*buffer)->getBuffer();
  SmallVector<StringRef> fields;
  text.substr(text.rfind(')') + 2).split(fields, ' ');
  uint64_t user = 0, system = 0;
  if (fields.size() < 13 || fields[11].getAsInteger(10, user) ||
      fields[12].getAsInteger(10, system))
    return 0;
  return double(user + system) / double(sysconf(_SC_CLK_TCK));
}

static Clock::duration toDuration(double seconds) {
  return std::chrono::microseconds(int64_t(seconds * 1e6));
}

Error WorkerSlot::ensureStarted() {
  if (process)
    return Error::success();
  Expected<std::unique_ptr<WorkerProcess>> started =
      WorkerProcess::spawn(options.command, options.limits);
  if (!started)
    return started.takeError();
  ++numSpawned;
  process = std::move(*started);
  ready = busy = false;
  requestsServed = 0;
  stage = "start-up";
  armTimeout(options.initTimeoutSeconds);
  process->send(options.init);
  return Error::success();
}

void WorkerSlot::armTimeout(double seconds) {
  timeoutSeconds = seconds;
  startedAt = Clock::now();
  cpuAtStart = getCPUSeconds(process->getPid());
  deadline = startedAt + toDuration(seconds);
}

bool WorkerSlot::isOverdue() {
  Clock::time_point now = Clock::now();
  if ((ready && !busy) || now < deadline)
    return false;
  double wall = std::chrono::duration<double>(now - startedAt).count();
  double used = (getCPUSeconds(process->getPid()) - cpuAtStart) /
                double(options.numThreads);
  double left =
      std::min(timeoutSeconds - used, wallFactor * timeoutSeconds - wall);
  // Look again when it may have used up what is left.
  deadline = now + toDuration(left + 1e-3);
  return left <= 0;
}

void WorkerSlot::request(json::Object message, double seconds) {
  busy = true;
  stage = "the request";
  ++requestsServed;
  armTimeout(seconds);
  process->send(message);
}

void WorkerSlot::stop() {
  process.reset();
  ready = busy = false;
}

std::optional<SlotEvent> WorkerSlot::fail(TrialStatus status,
                                          std::string reason,
                                          bool killedFromOutside) {
  SlotEvent event{SlotEvent::Kind::Failed,
                  {},
                  status,
                  std::move(reason),
                  killedFromOutside};
  if (!ready) {
    event.kind = SlotEvent::Kind::Unusable;
    // A worker may fall victim to a full machine; try again a few times.
    if (++failedStarts < maxFailedStarts) {
      stop();
      return std::nullopt;
    }
  }
  // Nobody waited for a worker that died while it was idle.
  bool harmless = ready && !busy;
  stop();
  if (harmless)
    return std::nullopt;
  return event;
}

std::optional<SlotEvent> WorkerSlot::handle(json::Object message) {
  if (std::optional<StringRef> announced = message.getString("stage")) {
    stage = announced->str();
    if (std::optional<double> seconds = message.getNumber("timeout"))
      armTimeout(*seconds);
    return std::nullopt;
  }
  if (!ready) {
    if (std::optional<StringRef> error = message.getString("error")) {
      // What it was told to work on is no good: no other worker can do better.
      failedStarts = maxFailedStarts;
      return fail(TrialStatus::Crash, error->str());
    }
    ready = true;
    failedStarts = 0;
    initReply = std::move(message);
    return std::nullopt;
  }
  busy = false;
  SlotEvent event;
  event.reply = std::move(message);
  if (event.reply.getBoolean("retire").value_or(false) ||
      requestsServed >= options.maxRequests)
    stop();
  return event;
}

std::optional<SlotEvent> WorkerSlot::update() {
  if (!process)
    return std::nullopt;
  bool alive = process->pump();
  // What it said before it died is its last word on the request.
  while (process) {
    Expected<std::optional<json::Object>> message = process->receive();
    if (!message)
      return fail(TrialStatus::Crash, "the " + options.name + " worker wrote " +
                                          toString(message.takeError()));
    if (!*message)
      break;
    if (std::optional<SlotEvent> event = handle(std::move(**message)))
      return event;
  }
  if (!process)
    return std::nullopt;
  if (!alive) {
    WorkerExit exit = process->wait();
    TrialStatus status =
        exit.signal == SIGXCPU ? options.timeoutStatus : TrialStatus::Crash;
    StringRef last = exit.lastStderrLine;
    bool outOfMemory = last.contains("out of memory") ||
                       last.contains_insensitive("allocation failed") ||
                       last.contains("bad_alloc");
    bool fromOutside = exit.signal == SIGKILL || exit.signal == SIGTERM ||
                       exit.signal == SIGHUP;
    return fail(status,
                formatv("{0}the {1} worker died of {2} during {3}{4}",
                        outOfMemory ? "not enough memory: " : "", options.name,
                        exit.describe(), stage,
                        exit.signal == SIGKILL
                            ? "; the system kills what takes too much memory"
                            : ""),
                fromOutside);
  }
  if (isOverdue()) {
    // Another try would take as long.
    if (!ready)
      failedStarts = maxFailedStarts;
    return fail(options.timeoutStatus, formatv("{0} took longer than {1:f1} s",
                                               stage, timeoutSeconds));
  }
  return std::nullopt;
}

std::optional<Clock::time_point> WorkerSlot::getDeadline() const {
  if (!process || (ready && !busy))
    return std::nullopt;
  return deadline;
}

void pollSlots(ArrayRef<WorkerSlot *> slots, int wakeDescriptor) {
  SmallVector<pollfd> descriptors = {{wakeDescriptor, POLLIN, 0}};
  // Bounded, so that a lost wake-up costs a moment and not for ever.
  Clock::time_point until = Clock::now() + std::chrono::milliseconds(500);
  for (WorkerSlot *slot : slots) {
    const WorkerProcess *process = slot->getProcess();
    if (!process)
      continue;
    short events = POLLIN;
    if (process->wantsToWrite())
      events |= POLLOUT;
    descriptors.push_back({process->getStream(), events, 0});
    descriptors.push_back({process->getErrorStream(), POLLIN, 0});
    if (std::optional<Clock::time_point> deadline = slot->getDeadline())
      until = std::min(until, *deadline);
  }
  int64_t milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(
                             until - Clock::now())
                             .count();
  poll(descriptors.data(), descriptors.size(),
       static_cast<int>(std::max<int64_t>(0, milliseconds + 1)));
}

} // namespace cwm
