//===- OpenMPRuntime.cpp - Threads of generated code ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Target/CPU/OpenMPRuntime.h"

#include "cwm/Target/CPU/OpenMPConfig.inc"

#include "llvm/ADT/StringRef.h"

#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <unistd.h>
#include <vector>

using namespace llvm;

static void setEnvironment(int64_t threads) {
  std::vector<std::string> foreign;
  for (char **entry = environ; *entry; ++entry) {
    StringRef name = StringRef(*entry).split('=').first;
    if (name.starts_with("OMP_") || name.starts_with("KMP_"))
      foreign.push_back(name.str());
  }
  for (const std::string &name : foreign)
    unsetenv(name.c_str());
  setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
  setenv("OMP_DYNAMIC", "false", 1);
  // Not to CPUs of their own: where one of these is taken by somebody else, a
  // thread that cannot leave it makes all others wait (measured on a machine
  // with a busy process of higher priority: 100 ms for a call of 1 us).
  setenv("OMP_PROC_BIND", "false", 1);
  // Threads that have nothing to do spin for so many milliseconds, then sleep.
  // The runtime's own 200 would take the CPUs away from what compiles next; far
  // more than the pause between two calls, it times what a program sees that
  // calls one kernel after the other.
  setenv("KMP_BLOCKTIME", "20", 1);
  // As much as the thread has that calls the kernel.
  setenv("OMP_STACKSIZE", "8M", 1);
}

Error cwm::loadOpenMPRuntime(int64_t threads) {
  if (threads <= 1)
    return Error::success();
  const char *environment = std::getenv("CWM_OPENMP_LIBRARY");
  std::string path = environment ? environment : CWM_OPENMP_LIBRARY_PATH;
  setEnvironment(threads);
  // Never closed: its threads run on.
  if (::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE))
    return Error::success();
  const char *reason = ::dlerror();
  return createStringError(
      "cannot load LLVM's OpenMP runtime: " +
      std::string(reason ? reason : path.c_str()) +
      "; kernels of several threads need the package libomp-22-dev "
      "(scripts/setup.sh), or CWM_OPENMP_LIBRARY");
}
