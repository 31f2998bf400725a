//===- Measure.cpp - Peak and bandwidth of one core -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure.h"

#include <algorithm>
#include <ctime>
#include <memory>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/// CPU seconds of this thread: other processes do not count.
static double getSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

/// Keeps `value` alive: the loops below have no other effect.
static volatile float sink;

// Twelve independent chains hide the latency of two units (4 cycles each) and
// fit into the 16 registers of AVX2.
static constexpr int64_t numChains = 12, numSteps = 200000;

#if defined(__x86_64__)
#define CWM_FMA_LOOP(VECTOR, SET1, FMA, FIRST)                                 \
  VECTOR factor = SET1(1.0F), term = SET1(1e-9F);                              \
  VECTOR a0 = term, a1 = term, a2 = term, a3 = term, a4 = term, a5 = term;     \
  VECTOR a6 = term, a7 = term, a8 = term, a9 = term, a10 = term, a11 = term;   \
  for (int64_t i = 0; i < numSteps; ++i) {                                     \
    a0 = FMA(a0, factor, term), a1 = FMA(a1, factor, term);                    \
    a2 = FMA(a2, factor, term), a3 = FMA(a3, factor, term);                    \
    a4 = FMA(a4, factor, term), a5 = FMA(a5, factor, term);                    \
    a6 = FMA(a6, factor, term), a7 = FMA(a7, factor, term);                    \
    a8 = FMA(a8, factor, term), a9 = FMA(a9, factor, term);                    \
    a10 = FMA(a10, factor, term), a11 = FMA(a11, factor, term);                \
    /* Not to be folded into one multiplication. */                            \
    asm volatile(""                                                            \
                 : "+v"(a0), "+v"(a1), "+v"(a2), "+v"(a3), "+v"(a4), "+v"(a5), \
                   "+v"(a6), "+v"(a7), "+v"(a8), "+v"(a9), "+v"(a10),          \
                   "+v"(a11));                                                 \
  }                                                                            \
  sink = FIRST(a0) + FIRST(a1) + FIRST(a2) + FIRST(a3) + FIRST(a4) +           \
         FIRST(a5) + FIRST(a6) + FIRST(a7) + FIRST(a8) + FIRST(a9) +           \
         FIRST(a10) + FIRST(a11)

__attribute__((target("avx512f"))) static void multiplyAdd512() {
  CWM_FMA_LOOP(__m512, _mm512_set1_ps, _mm512_fmadd_ps, _mm512_cvtss_f32);
}
__attribute__((target("avx2,fma"))) static void multiplyAdd256() {
  CWM_FMA_LOOP(__m256, _mm256_set1_ps, _mm256_fmadd_ps, _mm256_cvtss_f32);
}
#endif

/// For machines without the instructions above: four lanes, whatever the
/// compiler makes of them.
static void multiplyAdd128() {
  using Vector = float __attribute__((vector_size(16)));
  Vector chains[numChains], term = {1e-9F, 1e-9F, 1e-9F, 1e-9F}, factor = term;
  std::fill(chains, chains + numChains, term);
  for (int64_t i = 0; i < numSteps; ++i)
    for (Vector &chain : chains)
      chain = chain * factor + term;
  for (Vector &chain : chains)
    sink = chain[0];
}

double cwm::measurePeakGflops(int64_t vectorBits) {
  void (*loop)() = multiplyAdd128;
  int64_t bits = 128;
#if defined(__x86_64__)
  if (vectorBits >= 512 && __builtin_cpu_supports("avx512f")) {
    loop = multiplyAdd512;
    bits = 512;
  } else if (vectorBits >= 256 && __builtin_cpu_supports("fma")) {
    loop = multiplyAdd256;
    bits = 256;
  }
#endif
  int64_t lanes = bits / 32;
  double flops = 2.0 * static_cast<double>(lanes * numChains * numSteps);
  double best = 0, end = getSeconds() + 0.15;
  while (true) {
    double start = getSeconds();
    loop();
    double now = getSeconds();
    best = std::max(best, flops / (now - start) * 1e-9);
    if (now > end)
      return best;
  }
}

/// Sum of `count` words in eight chains; at -O1, too, limited by memory.
static uint64_t readAll(const uint64_t *data, int64_t count) {
  using Vector = uint64_t __attribute__((vector_size(64)));
  const auto *vectors = reinterpret_cast<const Vector *>(data);
  Vector sums[4] = {};
  for (int64_t i = 0; i < count / 32; ++i)
    for (int64_t j = 0; j < 4; ++j)
      sums[j] += vectors[4 * i + j];
  return sums[0][0] + sums[1][1] + sums[2][2] + sums[3][3];
}

double cwm::measureBandwidthGBs(int64_t cacheBytes) {
  constexpr int64_t mebibyte = 1 << 20;
  int64_t bytes =
      std::clamp(4 * cacheBytes, 64 * mebibyte, 256 * mebibyte) / 256 * 256;
  int64_t count = bytes / 8;
  void *memory = nullptr;
  if (posix_memalign(&memory, 4096, static_cast<size_t>(bytes)) != 0)
    return 0;
  auto *data = static_cast<uint64_t *>(memory);
  std::fill(data, data + count, 1);
  double best = 0;
  // Many short ones: between two slices of the neighbours one may be alone.
  for (int round = 0; round < 12; ++round) {
    double start = getSeconds();
    sink = static_cast<float>(readAll(data, count));
    best = std::max(best,
                    static_cast<double>(bytes) / (getSeconds() - start) * 1e-9);
  }
  free(memory);
  return best;
}
