//===- Limits.cpp - What a worker process may use ---------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/Limits.h"

#include "llvm/Support/Compiler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

namespace cwm {

/// Sets the soft limit, cut to the hard one, and leaves the hard one alone.
static void setSoftLimit(int resource, rlim_t value) {
  rlimit limit;
  if (getrlimit(resource, &limit) != 0)
    return;
  limit.rlim_cur =
      limit.rlim_max == RLIM_INFINITY ? value : std::min(value, limit.rlim_max);
  setrlimit(resource, &limit);
}

void bindThread(const std::vector<int> &cpus) {
  if (cpus.empty())
    return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : cpus)
    if (cpu >= 0 && cpu < CPU_SETSIZE)
      CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

void applyProcessLimits(const ProcessLimits &limits) {
  setSoftLimit(RLIMIT_CORE, 0);
  if (limits.stackBytes)
    setSoftLimit(RLIMIT_STACK, limits.stackBytes);
#if !LLVM_ADDRESS_SANITIZER_BUILD
  if (limits.addressSpaceBytes)
    setSoftLimit(RLIMIT_AS, limits.addressSpaceBytes);
#endif
  bindThread(limits.cpus);
}

double getProcessCPUSeconds() {
  rusage usage;
  if (getrusage(RUSAGE_SELF, &usage) != 0)
    return 0;
  return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

void allowCPUSeconds(double seconds) {
  // The kernel compares whole seconds.
  setSoftLimit(RLIMIT_CPU, rlim_t(std::ceil(getProcessCPUSeconds() + seconds)));
}

uint64_t getResidentBytes() {
  std::FILE *file = std::fopen("/proc/self/statm", "r");
  if (!file)
    return 0;
  std::array<char, 256> line{};
  bool isRead = std::fgets(line.data(), line.size(), file) != nullptr;
  std::fclose(file);
  if (!isRead)
    return 0;
  // All pages, then the resident ones.
  char *rest = nullptr;
  (void)std::strtoull(line.data(), &rest, 10);
  return std::strtoull(rest, nullptr, 10) * uint64_t(sysconf(_SC_PAGESIZE));
}

std::vector<int> getAllowedCPUs() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set))
        cpus.push_back(cpu);
  return cpus;
}

} // namespace cwm
