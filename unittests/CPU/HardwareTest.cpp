//===- HardwareTest.cpp - Hardware descriptions -----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Target/CPU/Hardware.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

#include <chrono>
#include <cstdlib>
#include <unistd.h>

using cwm::HardwareDescription;

namespace {

void expectRefused(llvm::StringRef json, llvm::StringRef message) {
  auto hardware = HardwareDescription::fromJSON(json);
  ASSERT_FALSE(bool(hardware)) << json.str();
  std::string text = llvm::toString(hardware.takeError());
  EXPECT_NE(text.find(message), std::string::npos)
      << "got: " << text << "\nwanted: " << message.str();
}

TEST(Hardware, FileFieldsAreRead) {
  auto hardware = HardwareDescription::fromJSON(
      R"({"cpu": "haswell", "cores": 4, "l1_bytes": 32768, "l1_ways": 8,
          "peak_gflops": 99.5, "machine": "lab1"})");
  ASSERT_TRUE(bool(hardware));
  EXPECT_EQ(hardware->cpu, "haswell");
  EXPECT_EQ(hardware->numCores, 4);
  EXPECT_EQ(hardware->l1Ways, 8);
  EXPECT_EQ(hardware->peakGflops, 99.5);
  EXPECT_EQ(hardware->getTargetKey(2), "cpu:haswell:lab1:t2");
}

TEST(Hardware, VectorsFollowFromCpuAndFeatures) {
  auto get = [](llvm::StringRef json) {
    HardwareDescription hardware =
        llvm::cantFail(HardwareDescription::fromJSON(json));
    return std::pair(hardware.vectorBits, hardware.numVectorRegisters);
  };
  EXPECT_EQ(get(R"({"cpu": "x86-64"})"), std::pair(128L, 16L));
  EXPECT_EQ(get(R"({"cpu": "haswell"})"), std::pair(256L, 16L));
  EXPECT_EQ(get(R"({"cpu": "skylake-avx512"})"), std::pair(512L, 32L));
  EXPECT_EQ(get(R"({"cpu": "skylake-avx512", "features": "-avx512f"})"),
            std::pair(256L, 16L));
  EXPECT_EQ(get(R"({"cpu": "x86-64", "features": "+avx512f"})"),
            std::pair(512L, 32L));
  EXPECT_EQ(get(R"({"cpu": "skylake-avx512", "vector_bits": 256})"),
            std::pair(256L, 32L));
}

TEST(Hardware, RoundTripsThroughJSON) {
  auto hardware = HardwareDescription::fromJSON(
      R"({"kind": "cpu", "cpu": "znver4", "features": "+avx512f,-sse4a",
          "cores": 3, "l1_bytes": 1, "l1_ways": 2, "l2_bytes": 3,
          "l3_bytes": 4, "peak_gflops": 5.5, "bandwidth_gbs": 6.25})");
  ASSERT_TRUE(bool(hardware));
  auto again = HardwareDescription::fromJSON(hardware->toJSON());
  ASSERT_TRUE(bool(again));
  EXPECT_EQ(again->toJSON(), hardware->toJSON());
  EXPECT_EQ(again->getVector(), hardware->getVector());
  EXPECT_EQ(again->machine, hardware->machine);
  EXPECT_EQ(hardware->machine.substr(0, 5), "file-");
}

TEST(Hardware, EachErrorNamesItsField) {
  expectRefused("[]", "must be a JSON object");
  expectRefused("{", "Expected object key");
  expectRefused("{}", "field 'cpu': is required");
  expectRefused(R"({"cpu": 7})", "field 'cpu': must be a string");
  expectRefused(R"({"cpu": "haswel"})", "field 'cpu': LLVM knows no");
  expectRefused(R"({"cpu": "haswell", "features": "avx2"})",
                "field 'features': 'avx2' must start with + or -");
  expectRefused(R"({"cpu": "haswell", "features": "+avx3"})", "feature 'avx3'");
  expectRefused(R"({"cpu": "haswell", "cores": 0})",
                "field 'cores': must be an integer from 1 to 65536");
  expectRefused(R"({"cpu": "haswell", "vector_bits": 192})",
                "field 'vector_bits': must be 128, 256 or 512");
  expectRefused(R"({"cpu": "haswell", "vector_bits": 512})",
                "field 'vector_bits': 512 is more than 'cpu' and 'features'");
  expectRefused(R"({"cpu": "haswell", "l1_bytes": -1})", "field 'l1_bytes':");
  expectRefused(R"({"cpu": "haswell", "peak_gflops": -2})",
                "field 'peak_gflops': must be a number");
  expectRefused(R"({"cpu": "haswell", "l1": 7})",
                "field 'l1': is unknown; known fields are kind, cpu");
  expectRefused(R"({"cpu": "haswell", "kind": "gpu"})",
                "field 'kind': must be \"cpu\"");
  expectRefused(R"({"cpu": "haswell", "machine": "a:b"})",
                "field 'machine': must not contain a colon");
}

TEST(Hardware, FileErrorsNameTheFile) {
  auto hardware = HardwareDescription::fromFile("/nonexistent.json");
  ASSERT_FALSE(bool(hardware));
  EXPECT_NE(llvm::toString(hardware.takeError()).find("'/nonexistent.json': "),
            std::string::npos);
}

/// Probing with a cache folder of its own.
class HardwareProbe : public ::testing::Test {
protected:
  HardwareProbe() {
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("cwm-cache", folder));
    if (const char *value = getenv("XDG_CACHE_HOME"))
      previous = value;
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  }
  ~HardwareProbe() override {
    llvm::sys::fs::remove_directories(folder);
    if (previous)
      setenv("XDG_CACHE_HOME", previous->c_str(), 1);
    else
      unsetenv("XDG_CACHE_HOME");
  }

  std::string getCacheFile(const HardwareDescription &hardware) const {
    return (folder + "/cwm/hardware-" + hardware.machine + ".json").str();
  }
  static void write(llvm::StringRef path, llvm::StringRef text) {
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    ASSERT_FALSE(error);
    stream << text;
  }

  llvm::SmallString<128> folder;
  std::optional<std::string> previous;
};

TEST_F(HardwareProbe, OldMeasurementsAreRepeatedAndTheLargerCounts) {
  auto first = cwm::probeHardware();
  ASSERT_TRUE(bool(first));
  std::string path = getCacheFile(*first);
  auto age = [&](std::chrono::hours hours) {
    int descriptor = -1;
    ASSERT_FALSE(llvm::sys::fs::openFileForWrite(path, descriptor,
                                                 llvm::sys::fs::CD_OpenExisting,
                                                 llvm::sys::fs::OF_Append));
    EXPECT_FALSE(llvm::sys::fs::setLastAccessAndModificationTime(
        descriptor, std::chrono::time_point_cast<std::chrono::nanoseconds>(
                        std::chrono::system_clock::now() - hours)));
    close(descriptor);
  };
  // As if the neighbours had left next to nothing of the bandwidth.
  HardwareDescription planted = *first;
  planted.bandwidthGBs = 0.001;
  planted.peakGflops = 123456;
  for (std::chrono::hours hours :
       {std::chrono::hours(24 * 30), std::chrono::hours(-24 * 30)}) {
    write(path, planted.toJSON());
    age(hours);
    auto second = cwm::probeHardware();
    ASSERT_TRUE(bool(second));
    EXPECT_GT(second->bandwidthGBs, 0.1);
    EXPECT_EQ(second->peakGflops, 123456);
    // It was written, and is good for an hour at least.
    auto cached = HardwareDescription::fromFile(path);
    ASSERT_TRUE(bool(cached));
    EXPECT_EQ(cached->bandwidthGBs, second->bandwidthGBs);
    llvm::sys::fs::file_status status;
    ASSERT_FALSE(llvm::sys::fs::status(path, status));
    auto elapsed =
        std::chrono::system_clock::now() - status.getLastModificationTime();
    EXPECT_LT(elapsed, std::chrono::hours(72));
  }
  // A young one is believed.
  write(path, planted.toJSON());
  age(std::chrono::hours(24));
  auto third = cwm::probeHardware();
  ASSERT_TRUE(bool(third));
  EXPECT_EQ(third->bandwidthGBs, 0.001);
}

TEST_F(HardwareProbe, MeasuresOnceAndRecoversFromABadCache) {
  auto first = cwm::probeHardware();
  ASSERT_TRUE(bool(first));
  EXPECT_GT(first->peakGflops, 0.5);
  EXPECT_GT(first->bandwidthGBs, 0.1);
  EXPECT_GE(first->numCores, 1);
  EXPECT_GT(first->l1Bytes, 1024);
  EXPECT_GT(first->l1Ways, 0);
  EXPECT_EQ(first->machine.size(), 12u);
  EXPECT_TRUE(bool(HardwareDescription::fromJSON(first->toJSON())));

  // The cache is used: what it says comes back.
  std::string path = getCacheFile(*first);
  HardwareDescription planted = *first;
  planted.peakGflops = 123456;
  write(path, planted.toJSON());
  auto second = cwm::probeHardware();
  ASSERT_TRUE(bool(second));
  EXPECT_EQ(second->peakGflops, 123456);

  // Not when it is cut, of another machine, or without a measurement.
  std::string foreign = planted.toJSON();
  foreign.replace(foreign.find(planted.machine), 12, "000000000000");
  planted.peakGflops = 0;
  for (const std::string &text :
       {planted.toJSON().substr(0, 40), foreign, planted.toJSON()}) {
    write(path, text);
    auto probed = cwm::probeHardware();
    ASSERT_TRUE(bool(probed));
    EXPECT_GT(probed->peakGflops, 0.5) << text;
    EXPECT_NE(probed->peakGflops, 123456) << text;
    // The bad file was replaced by a good one.
    auto cached = HardwareDescription::fromFile(path);
    ASSERT_TRUE(bool(cached));
    EXPECT_EQ(cached->peakGflops, probed->peakGflops);
  }
}

} // namespace
