//===- Limits.h - What a worker process may use -----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_LIMITS_H
#define CWM_RUNNER_LIMITS_H

#include <cstdint>
#include <string>
#include <vector>

namespace cwm {

/// Limits of one worker process. Zero means no limit.
struct ProcessLimits {
  /// RLIMIT_AS. Ignored under AddressSanitizer, whose shadow needs terabytes.
  uint64_t addressSpaceBytes = 0;
  /// RLIMIT_STACK of the main thread: upstream's rewrites recurse deeply.
  uint64_t stackBytes = 0;
  /// CPUs to run on; empty means wherever the driver may.
  std::vector<int> cpus;
};

/// Applies `limits` to the calling process: no core files, the limits above,
/// affinity; a limit beyond the hard limit is cut to it. Async-signal-safe, to
/// be called between fork and exec.
void applyProcessLimits(const ProcessLimits &limits);

/// Allows the calling process `seconds` of CPU time from now (rounded up);
/// beyond, the kernel sends SIGXCPU.
void allowCPUSeconds(double seconds);

/// Resident bytes of the calling process, and CPU seconds it has used.
uint64_t getResidentBytes();
double getProcessCPUSeconds();

/// Bytes that the machine or the control groups of this process have left for
/// it; 0 when the system does not tell.
uint64_t getAvailableBytes();

/// Lets allocations of the calling process fail, rather than the system kill
/// it, beyond `bytes` more than it has now. Ignored under AddressSanitizer.
void limitMoreMemory(uint64_t bytes);

/// CPUs the calling process may run on, ascending.
std::vector<int> getAllowedCPUs();
/// Binds the calling thread to `cpus`; nothing for an empty list.
void bindThread(const std::vector<int> &cpus);

} // namespace cwm

#endif // CWM_RUNNER_LIMITS_H
