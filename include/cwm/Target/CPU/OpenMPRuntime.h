//===- OpenMPRuntime.h - Threads of generated code --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TARGET_CPU_OPENMPRUNTIME_H
#define CWM_TARGET_CPU_OPENMPRUNTIME_H

#include "llvm/Support/Error.h"

#include <cstdint>

namespace cwm {

/// Loads LLVM's OpenMP runtime into this process, where LoadedKernel finds it,
/// for kernels of `threads` threads; nothing happens for one. Call it before
/// the first such kernel is loaded, once, and after the process was bound to
/// its CPUs: the runtime looks at both when it starts. Variables OMP_* and
/// KMP_* of the environment are replaced by ours, so that a time means the same
/// on each call. An error names the library and the package it is in.
llvm::Error loadOpenMPRuntime(int64_t threads);

} // namespace cwm

#endif // CWM_TARGET_CPU_OPENMPRUNTIME_H
