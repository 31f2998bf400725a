//===- HardwareProbe.cpp - Describe this machine ----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Features.h"
#include "Measure.h"

#include "cwm/Support/ReadFile.h"
#include "cwm/Support/WriteFile.h"
#include "cwm/Target/CPU/DotProducts.h"
#include "cwm/Target/CPU/Hardware.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MD5.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/TargetParser/Host.h"

#include <chrono>
#include <cstdlib>
#include <sched.h>
#include <unistd.h>

using namespace cwm;

/// First line of a small file of the system; empty when it cannot be read.
static std::string readLine(const llvm::Twine &path) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream(path);
  if (!buffer)
    return {};
  return (*buffer)->getBuffer().split('\n').first.trim().str();
}

static int64_t readNumber(const llvm::Twine &path) {
  std::string line = readLine(path);
  int64_t number = 0;
  if (llvm::StringRef(line).consumeInteger(10, number))
    return 0;
  return number;
}

/// "+avx,-avx512f,...", sorted, so that equal machines give equal text.
static std::string getHostFeatures() {
  std::vector<std::string> features;
  // Tile registers are there only for those who get them.
  bool hasTiles = requestTileRegisters();
  for (const auto &feature : llvm::sys::getHostCPUFeatures()) {
    bool has =
        feature.second && (hasTiles || !feature.first().starts_with("amx-"));
    features.push_back((has ? "+" : "-") + feature.first().str());
  }
  llvm::sort(features, [](llvm::StringRef a, llvm::StringRef b) {
    return a.drop_front() < b.drop_front();
  });
  return llvm::join(features, ",");
}

int64_t cwm::getNumUsableCores() {
  int64_t cores = 1;
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0)
    cores = std::max(1, CPU_COUNT(&mask));
  int64_t quota = 0, period = 0;
  std::string line = readLine("/sys/fs/cgroup/cpu.max"); // version 2
  if (!line.empty()) {
    auto [first, second] = llvm::StringRef(line).split(' ');
    if (first.getAsInteger(10, quota) || second.getAsInteger(10, period))
      return cores; // "max"
  } else {
    quota = readNumber("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    period = readNumber("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  }
  if (quota > 0 && period > 0)
    cores =
        std::min(cores, std::max<int64_t>(1, (quota + period - 1) / period));
  return cores;
}

/// "48K" or "1M" as sysfs writes sizes.
static int64_t parseSize(llvm::StringRef text) {
  int64_t size = 0;
  if (text.consumeInteger(10, size))
    return 0;
  if (text == "K")
    return size << 10;
  return text == "M" ? size << 20 : size;
}

static void readCaches(HardwareDescription &hardware) {
  for (int index = 0; index < 8; ++index) {
    std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    std::string type = readLine(folder + "/type");
    if (type != "Data" && type != "Unified")
      continue;
    int64_t size = parseSize(readLine(folder + "/size"));
    switch (readNumber(folder + "/level")) {
    case 1:
      hardware.l1Bytes = size;
      hardware.l1Ways = readNumber(folder + "/ways_of_associativity");
      break;
    case 2:
      hardware.l2Bytes = size;
      break;
    case 3:
      hardware.l3Bytes = size;
      break;
    default:
      break;
    }
  }
  // Containers without sysfs: glibc asks CPUID.
  auto fill = [](int64_t &value, int name) {
    if (value <= 0)
      value = std::max<int64_t>(0, sysconf(name));
  };
  fill(hardware.l1Bytes, _SC_LEVEL1_DCACHE_SIZE);
  fill(hardware.l1Ways, _SC_LEVEL1_DCACHE_ASSOC);
  fill(hardware.l2Bytes, _SC_LEVEL2_CACHE_SIZE);
  fill(hardware.l3Bytes, _SC_LEVEL3_CACHE_SIZE);
}

/// Processor model as the kernel names it ("Intel(R) Xeon(R) ...").
static std::string getModelName() {
  auto buffer = llvm::MemoryBuffer::getFileAsStream("/proc/cpuinfo");
  if (!buffer)
    return {};
  llvm::StringRef text = (*buffer)->getBuffer();
  size_t at = text.find("model name");
  return at == llvm::StringRef::npos ? std::string()
                                     : text.substr(at).split('\n').first.str();
}

static std::string getMachineIdentity(const HardwareDescription &hardware) {
  std::string id = readLine("/etc/machine-id");
  if (id.empty()) {
    char name[256] = {};
    gethostname(name, sizeof(name) - 1);
    id = name;
  }
  std::string text = getModelName() + "\n" + hardware.cpu + "\n" +
                     hardware.features + "\n" + id;
  return llvm::toHex(llvm::MD5::hash(llvm::arrayRefFromStringRef(text)),
                     /*LowerCase=*/true)
      .substr(0, 12);
}

static std::string getCachePath(llvm::StringRef machine) {
  llvm::SmallString<128> path;
  if (std::optional<std::string> folder =
          llvm::sys::Process::GetEnv("XDG_CACHE_HOME");
      folder && !folder->empty())
    path = *folder;
  else if (!llvm::sys::path::home_directory(path))
    return {};
  else
    llvm::sys::path::append(path, ".cache");
  llvm::sys::path::append(path, "cwm", "hardware-" + machine + ".json");
  return std::string(path);
}

/// Takes the measured fields from the cache; false when there is none, or what
/// is there cannot be trusted.
static bool readCache(llvm::StringRef path, HardwareDescription &hardware) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> text =
      readOwnFile(path, /*maxBytes=*/1 << 20);
  if (!text) {
    llvm::consumeError(text.takeError());
    return false;
  }
  llvm::Expected<HardwareDescription> cached =
      HardwareDescription::fromJSON((*text)->getBuffer());
  if (!cached) {
    llvm::consumeError(cached.takeError());
    return false;
  }
  if (cached->machine != hardware.machine || cached->peakGflops <= 0 ||
      cached->bandwidthGBs <= 0)
    return false;
  hardware.peakGflops = cached->peakGflops;
  hardware.bandwidthGBs = cached->bandwidthGBs;
  return true;
}

/// A cache that cannot be written costs a measurement next time, no more.
static void writeCache(llvm::StringRef path,
                       const HardwareDescription &hardware) {
  if (llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path)))
    return;
  llvm::consumeError(writeFile(path, hardware.toJSON() + "\n"));
}

/// A measurement counts for three days, one on a loaded machine for an hour.
static constexpr std::chrono::hours maxAge(72), loadedMaxAge(1);

static bool isFresh(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status))
    return false;
  auto age =
      std::chrono::system_clock::now() - status.getLastModificationTime();
  // A clock that was set back must not keep a file for ever.
  return age < maxAge && age > -maxAge;
}

/// Makes the file look as old as `age`: its date is when it was measured.
static void setAge(llvm::StringRef path, std::chrono::hours age) {
  int descriptor = -1;
  if (llvm::sys::fs::openFileForWrite(path, descriptor,
                                      llvm::sys::fs::CD_OpenExisting,
                                      llvm::sys::fs::OF_Append))
    return;
  (void)llvm::sys::fs::setLastAccessAndModificationTime(
      descriptor, std::chrono::time_point_cast<std::chrono::nanoseconds>(
                      std::chrono::system_clock::now() - age));
  close(descriptor);
}

/// True when half of the cores were busy during the last minute.
static bool isMachineLoaded(int64_t numCores) {
  double load = 0;
  return getloadavg(&load, 1) == 1 && load > 0.5 * double(numCores);
}

llvm::Expected<HardwareDescription> cwm::probeHardware() {
  HardwareDescription hardware;
  hardware.cpu = llvm::sys::getHostCPUName().str();
  hardware.features = getHostFeatures();
  llvm::Expected<VectorRegisters> registers =
      getVectorRegisters(hardware.cpu, hardware.features);
  if (!registers)
    return registers.takeError();
  hardware.vectorBits = registers->bits;
  hardware.numVectorRegisters = registers->count;
  hardware.numCores = getNumUsableCores();
  readCaches(hardware);
  hardware.machine = getMachineIdentity(hardware);

  std::string path = getCachePath(hardware.machine);
  bool isCached = !path.empty() && readCache(path, hardware);
  if (isCached && isFresh(path))
    return hardware;
  // Neighbours only ever make a machine look slower: the larger one counts, of
  // now and of what an older file says.
  bool isLoaded = isMachineLoaded(hardware.numCores);
  hardware.peakGflops =
      std::max(hardware.peakGflops, measurePeakGflops(hardware.vectorBits));
  hardware.bandwidthGBs =
      std::max(hardware.bandwidthGBs, measureBandwidthGBs(hardware.l3Bytes));
  if (path.empty())
    return hardware;
  writeCache(path, hardware);
  if (isLoaded)
    setAge(path, maxAge - loadedMaxAge);
  return hardware;
}
