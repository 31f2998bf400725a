//===- FaultHandler.h - Faults of generated code ----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_FAULTHANDLER_H
#define CWM_RUNNER_FAULTHANDLER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace cwm {

/// Told of a fault in a signal handler: one line, and whether it was an access
/// outside of a guarded buffer or a write to an input (then the candidate is
/// wrong) or anything else (a crash). Must not return to the faulting code.
using FaultFn = void (*)(const char *what, bool outsideOfBuffer);

/// Installs handlers for SIGSEGV, SIGBUS, SIGFPE and SIGILL that describe the
/// fault and call `onFault`. They run on a stack of their own in threads of
/// runOnGuardedStack.
void installFaultHandlers(FaultFn onFault);

/// Runs `body` in a thread of its own, whose stack has `stackBytes` and
/// continues in unmapped pages, and waits for it. What overflows that stack is
/// reported as such.
llvm::Error runOnGuardedStack(size_t stackBytes,
                              llvm::function_ref<void()> body);

} // namespace cwm

#endif // CWM_RUNNER_FAULTHANDLER_H
