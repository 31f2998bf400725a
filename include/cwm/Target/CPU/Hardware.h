//===- Hardware.h - Description of a CPU ------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TARGET_CPU_HARDWARE_H
#define CWM_TARGET_CPU_HARDWARE_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cwm {

/// What schedules, scores and records need to know of a CPU.
struct HardwareDescription {
  /// LLVM's name and feature string of the CPU ("+avx512f,...").
  std::string cpu, features;
  /// Identity of the machine: hash of CPU model, features and machine id, so
  /// that records of two machines are never mixed.
  std::string machine;
  int64_t numCores = 1;
  /// Widest vector register that the features allow, in bits, and how many.
  int64_t vectorBits = 128, numVectorRegisters = 16;
  /// Data caches of one core, in bytes; l3 is shared.
  int64_t l1Bytes = 0, l1Ways = 0, l2Bytes = 0, l3Bytes = 0;
  /// Measured on one core: f32 multiply-adds (GFLOP/s), reads of a buffer far
  /// larger than the caches (GB/s).
  double peakGflops = 0, bandwidthGBs = 0;

  /// The hardware vector h, field by field as docs/Hardware.md lists them.
  std::vector<float> getVector() const;
  /// Key of the target in records: "cpu:<cpu>:<machine>:t<threads>".
  std::string getTargetKey(int64_t numThreads) const;

  /// One line of JSON for records and hardware files; docs/Hardware.md has the
  /// fields. fromJSON(toJSON()) gives the same description.
  std::string toJSON() const;
  /// Fields that are missing are derived from `cpu` and `features` or stay 0.
  /// An error names the field and the rule.
  static llvm::Expected<HardwareDescription> fromJSON(llvm::StringRef text);
  static llvm::Expected<HardwareDescription> fromFile(llvm::StringRef path);
};

/// Probes this machine; peak and bandwidth are measured once (below 1 s) and
/// cached in the user's cache folder by machine identity.
llvm::Expected<HardwareDescription> probeHardware();

/// Cores that this process may use: its affinity mask, and the quota of its
/// control group rounded up.
int64_t getNumUsableCores();

} // namespace cwm

#endif // CWM_TARGET_CPU_HARDWARE_H
