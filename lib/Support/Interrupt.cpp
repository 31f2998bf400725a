//===- Interrupt.cpp - Ctrl-C once finishes, twice kills ------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Support/Interrupt.h"

#include "llvm/Support/Signals.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <iterator>
#include <unistd.h>

// Only lock-free atomics and async-signal-safe calls below: a handler may run
// between any two instructions.
static std::atomic<cwm::Stoppable *> currentWork{nullptr};
static std::atomic<bool> interrupted{false}, started{false};
static_assert(std::atomic<cwm::Stoppable *>::is_always_lock_free);
static_assert(std::atomic<bool>::is_always_lock_free);

static constexpr int handledSignals[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction previousActions[std::size(handledSignals)];

/// What the user is told when there was nothing to keep yet.
static const char *volatile startMessage = "";

static void handleSignal(int) {
  interrupted = true;
  if (cwm::Stoppable *work = currentWork) {
    work->requestStop();
  } else if (!started) {
    // Workers end with their parent. What a phase holds elsewhere are temporary
    // files, and a database that survives worse.
    [[maybe_unused]] ssize_t written =
        ::write(STDERR_FILENO, startMessage, std::strlen(startMessage));
    llvm::sys::RunInterruptHandlers();
    ::_exit(cwm::interruptedExitCode);
  }
}

cwm::InterruptScope::InterruptScope(const char *message) {
  startMessage = message;
  interrupted = started = false;
  struct sigaction action = {};
  action.sa_handler = handleSignal;
  // One shot each: the second signal meets the default action and kills.
  action.sa_flags = SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(handledSignals); ++i) {
    sigaction(handledSignals[i], nullptr, &previousActions[i]);
    // A signal that our parent ignores (nohup) stays ignored.
    if (previousActions[i].sa_handler != SIG_IGN)
      sigaction(handledSignals[i], &action, nullptr);
  }
}

void cwm::InterruptScope::setWork(Stoppable &work) {
  currentWork = &work;
  started = true;
}

void cwm::InterruptScope::clearWork() { currentWork = nullptr; }

cwm::InterruptScope::~InterruptScope() {
  for (size_t i = 0; i < std::size(handledSignals); ++i)
    sigaction(handledSignals[i], &previousActions[i], nullptr);
  currentWork = nullptr;
}

bool cwm::InterruptScope::wasInterrupted() { return interrupted; }
