//===- RelaxedArithmeticTest.cpp - Divisions and maxima ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"

#include <cmath>
#include <limits>

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::nanf("");

/// Both signs of values from all over the range, and the special ones.
std::vector<float> getSamples(float ratio) {
  std::vector<float> samples{0.0F,     0x1p-149F,       0x1.8p-140F, 0x1p-126F,
                             0x1p127F, 0x1.fffffep127F, infinity,    nan};
  for (float value = 0x1.23456p-148F; value < 0x1p127F; value *= ratio)
    samples.push_back(value);
  for (size_t i = 0, end = samples.size(); i < end; ++i)
    samples.push_back(-samples[i]);
  return samples;
}

class RelaxedArithmeticTest : public KernelFixture {
protected:
  cwm::LoadedKernel load(const std::string &source) {
    return KernelFixture::load(source, llvm::cantFail(cwm::probeHardware()));
  }
};

TEST_F(RelaxedArithmeticTest, DivisionByAScalar) {
  cwm::LoadedKernel kernel = load(R"mlir(
    func.func @kernel(%x: memref<16xf32>, %s: memref<1xf32>,
                      %r: memref<16xf32>) {
      %zero = arith.constant 0 : index
      %v = vector.load %x[%zero] : memref<16xf32>, vector<16xf32>
      %d = memref.load %s[%zero] : memref<1xf32>
      %b = vector.broadcast %d : f32 to vector<16xf32>
      %q = arith.divf %v, %b : vector<16xf32>
      vector.store %q, %r[%zero] : memref<16xf32>, vector<16xf32>
      return
    })mlir");
  std::vector<float> dividends = getSamples(3.7F);
  dividends.resize((dividends.size() + 15) / 16 * 16, 1.0F);
  double worst = 0;
  for (float divisor : getSamples(1.37F))
    for (size_t i = 0; i < dividends.size(); i += 16) {
      float results[16];
      void *buffers[] = {&dividends[i], &divisor, results};
      kernel(buffers);
      for (int lane = 0; lane < 16; ++lane) {
        float x = dividends[i + lane], got = results[lane];
        float want = x / divisor;
        if (std::isnan(want) || std::isinf(want) || std::isinf(x) ||
            want == 0) {
          // The quotient of the largest numbers may round to infinity or not.
          bool same = std::isnan(want) ? std::isnan(got) : got == want;
          double exact = double(x) / double(divisor);
          same |= std::isinf(got) && std::fabs(exact) > 0x1.fffffcp127;
          same |= std::fabs(got) <= 0x1p-149F && std::fabs(exact) < 0x1p-148;
          EXPECT_TRUE(same) << x << " / " << divisor << " = " << got;
          continue;
        }
        double ulp =
            std::nextafter(std::fabs(want), infinity) - std::fabs(double(want));
        double exact = double(x) / double(divisor);
        if (std::isinf(got) && std::fabs(exact) > 0x1.fffffcp127)
          continue;
        worst = std::max(worst, std::fabs(got - exact) / ulp);
      }
    }
  RecordProperty("ulps", std::to_string(worst));
  // The bound that Passes.td states.
  EXPECT_LE(worst, 2);
}

TEST_F(RelaxedArithmeticTest, MaximaOfVectors) {
  cwm::LoadedKernel kernel = load(R"mlir(
    func.func @kernel(%x: memref<16xf32>, %r: memref<2xf32>) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %v = vector.load %x[%zero] : memref<16xf32>, vector<16xf32>
      %least = arith.constant 0xFF800000 : f32
      %most = arith.constant 0x7F800000 : f32
      %a = vector.reduction <maximumf>, %v, %least : vector<16xf32> into f32
      %b = vector.reduction <minimumf>, %v, %most : vector<16xf32> into f32
      memref.store %a, %r[%zero] : memref<2xf32>
      memref.store %b, %r[%one] : memref<2xf32>
      return
    })mlir");
  auto run = [&](std::vector<float> values) {
    std::vector<float> results(2);
    void *buffers[] = {values.data(), results.data()};
    kernel(buffers);
    return results;
  };
  std::vector<float> all(16, -infinity);
  EXPECT_EQ(run(all), (std::vector<float>{-infinity, -infinity}));
  for (int lane = 0; lane < 16; ++lane) {
    std::vector<float> values(16, -infinity);
    values[lane] = -3;
    EXPECT_EQ(run(values)[0], -3) << lane;
    values.assign(16, infinity);
    values[lane] = 5;
    EXPECT_EQ(run(values)[1], 5) << lane;
    for (float bad : {nan, -nan}) {
      values[lane] = bad;
      EXPECT_TRUE(std::isnan(run(values)[0])) << lane;
      EXPECT_TRUE(std::isnan(run(values)[1])) << lane;
    }
  }
}

} // namespace
