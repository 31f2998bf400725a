//===- Limits.cpp - What a worker process may use ---------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/Limits.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sched.h>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

using namespace llvm;

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

/// The number that follows `key` in a line of the file, in units of `unit`;
/// nullopt when there is none ("max").
static std::optional<uint64_t> readField(const std::string &path, StringRef key,
                                         uint64_t unit = 1) {
  auto buffer = MemoryBuffer::getFileAsStream(path);
  if (!buffer)
    return std::nullopt;
  StringRef rest = (*buffer)->getBuffer();
  while (!rest.empty()) {
    auto [line, next] = rest.split('\n');
    rest = next;
    uint64_t value = 0;
    if (line.consume_front(key) && !line.ltrim().consumeInteger(10, value))
      return value * unit;
  }
  return std::nullopt;
}

/// What the control group in `folder` leaves: its page cache can go.
static std::optional<uint64_t> getGroupBytes(const std::string &folder,
                                             const char *limitName,
                                             const char *usageName,
                                             StringRef cacheName) {
  auto limit = readField(folder + "/" + limitName, "");
  auto usage = readField(folder + "/" + usageName, "");
  if (!limit || !usage)
    return std::nullopt;
  uint64_t cache = readField(folder + "/memory.stat", cacheName).value_or(0);
  uint64_t used = *usage - std::min(*usage, cache);
  return *limit - std::min(*limit, used);
}

uint64_t getAvailableBytes() {
  uint64_t available =
      readField("/proc/meminfo", "MemAvailable:", 1024).value_or(UINT64_MAX);
  auto apply = [&](std::optional<uint64_t> bytes) {
    // A limit of 0 left is no limit that tells anything.
    if (bytes && *bytes > 0)
      available = std::min(available, *bytes);
  };
  // Each group above limits too; in a container the own one is the root.
  auto own = MemoryBuffer::getFileAsStream("/proc/self/cgroup");
  StringRef path =
      own ? (*own)->getBuffer().split("0::").second.split('\n').first
          : StringRef();
  for (path = path.rtrim('/');; path = path.substr(0, path.rfind('/'))) {
    apply(getGroupBytes("/sys/fs/cgroup" + path.str(), "memory.max",
                        "memory.current", "inactive_file "));
    if (path.empty())
      break;
  }
  apply(getGroupBytes("/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                      "memory.usage_in_bytes", "total_inactive_file "));
  return available == UINT64_MAX ? 0 : available;
}

void limitMoreMemory([[maybe_unused]] uint64_t bytes) {
#if !LLVM_ADDRESS_SANITIZER_BUILD
  // Counts private writable memory, unlike RLIMIT_AS not what is only mapped.
  if (auto used = readField("/proc/self/status", "VmData:", 1024))
    setSoftLimit(RLIMIT_DATA, rlim_t(*used + bytes));
#endif
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
