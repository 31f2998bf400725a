//===- FaultHandler.cpp - Faults of generated code --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/FaultHandler.h"

#include "cwm/Runner/GuardedBuffer.h"
#include "cwm_runtime.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sys/mman.h>
#include <system_error>
#include <ucontext.h>
#include <unistd.h>

using namespace llvm;

namespace cwm {

/// Unmapped bytes below the stack: one frame of a badly tiled kernel can be
/// megabytes, and must not jump over them.
static constexpr size_t stackGuardBytes = size_t(64) << 20;
static constexpr size_t signalStackBytes = size_t(64) << 10;

static FaultFn faultFn = nullptr;
static std::atomic<const char *> stackGuardBegin{nullptr};
static std::atomic<const char *> stackGuardEnd{nullptr};

static bool isWriteAccess(const void *context) {
#if defined(__x86_64__)
  // Bit 1 of the page-fault error code (Intel SDM, volume 3, section 4.7).
  const auto *state = static_cast<const ucontext_t *>(context);
  return (state->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  return true;
#endif
}

/// Threads of one kernel often fault together: the first one has the word, and
/// ends the process.
static void waitUnlessFirst() {
  static std::atomic_flag isTaken = ATOMIC_FLAG_INIT;
  while (isTaken.test_and_set())
    pause();
}

static void onSignal(int number, siginfo_t *info, void *context) {
  waitUnlessFirst();
  char text[200];
  const char *address = static_cast<const char *>(info->si_addr);
  bool isAccess = number == SIGSEGV || number == SIGBUS;
  if (isAccess && describeGuardedAccess(address, isWriteAccess(context), text,
                                        sizeof(text)))
    faultFn(text, true);
  else if (isAccess && cwm_checking_covers(address))
    faultFn(isWriteAccess(context) ? "wrote outside of a temporary buffer"
                                   : "read outside of a temporary buffer",
            true);
  else if (isAccess && address >= stackGuardBegin && address < stackGuardEnd)
    faultFn("stack overflow in generated code", false);
  else {
    // Not strsignal: it may allocate.
    const char *name = number == SIGSEGV  ? "segmentation fault"
                       : number == SIGBUS ? "bus error"
                       : number == SIGFPE ? "arithmetic exception"
                                          : "illegal instruction";
    std::snprintf(
        text, sizeof(text), "signal %d (%s) at address %p", number, name,
        isAccess ? static_cast<const void *>(address) : info->si_addr);
    faultFn(text, false);
  }
}

static void onOutOfMemory(size_t size) {
  waitUnlessFirst();
  char text[100];
  std::snprintf(text, sizeof(text),
                "not enough memory: a temporary buffer of %zu bytes", size);
  faultFn(text, false);
}

void installFaultHandlers(FaultFn onFault) {
  faultFn = onFault;
  cwm_set_out_of_memory_handler(onOutOfMemory);
  struct sigaction action = {};
  action.sa_sigaction = onSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    sigaction(number, &action, nullptr);
}

static void *runBody(void *argument) {
  stack_t signalStack = {};
  signalStack.ss_sp = std::malloc(signalStackBytes);
  signalStack.ss_size = signalStackBytes;
  sigaltstack(&signalStack, nullptr);
  (*static_cast<function_ref<void()> *>(argument))();
  signalStack.ss_flags = SS_DISABLE;
  void *memory = signalStack.ss_sp;
  sigaltstack(&signalStack, nullptr);
  std::free(memory);
  return nullptr;
}

Error runOnGuardedStack(size_t stackBytes, function_ref<void()> body) {
  size_t total = stackGuardBytes + stackBytes;
  void *mapping = mmap(nullptr, total, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return createStringError(std::error_code(errno, std::generic_category()),
                             "cannot allocate a stack");
  char *stack = static_cast<char *>(mapping) + stackGuardBytes;
  mprotect(stack, stackBytes, PROT_READ | PROT_WRITE);
  stackGuardBegin = static_cast<char *>(mapping);
  stackGuardEnd = stack;

  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, stackBytes);
  pthread_t thread;
  int code = pthread_create(&thread, &attributes, runBody, &body);
  pthread_attr_destroy(&attributes);
  if (code == 0)
    pthread_join(thread, nullptr);
  stackGuardBegin = stackGuardEnd = nullptr;
  munmap(mapping, total);
  if (code != 0)
    return createStringError(std::error_code(code, std::generic_category()),
                             "cannot start a thread");
  return Error::success();
}

} // namespace cwm
