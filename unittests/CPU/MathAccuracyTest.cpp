//===- MathAccuracyTest.cpp - Polynomials against libm ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"

#include <cmath>
#include <cstring>
#include <optional>

using namespace mlir;

namespace {

/// Floats of every magnitude and both signs, the neighbours of every power of
/// two, and the special values.
std::vector<float> getSamples() {
  std::vector<float> samples;
  auto add = [&](uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof(value));
    samples.push_back(value);
    samples.push_back(-value);
  };
  for (uint32_t bits = 0; bits < 0x7f800000; bits += 1021)
    add(bits);
  for (uint32_t exponent = 0; exponent < 0xff; ++exponent)
    for (int32_t offset = -2; offset <= 2; ++offset)
      add((exponent << 23) + static_cast<uint32_t>(offset) % 0x7f800000);
  for (float value = -20; value < 20; value += 1.0F / 1024)
    samples.push_back(value);
  for (uint32_t bits : {0x7f800000U, 0x7f7fffffU, 0x00000001U, 0x007fffffU,
                        0x00800000U, 0x7fc00000U})
    add(bits);
  samples.resize((samples.size() + 63) / 64 * 64, 0.5F);
  return samples;
}

/// Distance in units in the last place of the exact value `want`, as f32.
double getUlps(float got, double want) {
  auto rounded = static_cast<float>(want);
  if (std::isnan(rounded) || std::isnan(got))
    return std::isnan(rounded) && std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(rounded) || std::isinf(got))
    return rounded == got ? 0 : INFINITY;
  double ulp = std::nextafter(std::fabs(rounded), INFINITY) -
               std::fabs(static_cast<double>(rounded));
  return std::fabs(got - want) / ulp;
}

struct Function {
  const char *name;
  double (*exact)(double);
  double maxUlps;
  /// The second operand, a constant.
  std::optional<double> exponent = std::nullopt;
};

void PrintTo(const Function &function, std::ostream *stream) {
  *stream << function.name;
}

class MathAccuracyTest : public KernelFixture,
                         public ::testing::WithParamInterface<Function> {
protected:
  /// `%result = f(%operand)`.
  static std::string makeCall(StringRef result, StringRef operand,
                              const std::string &type) {
    const Function &function = GetParam();
    std::string call =
        "%" + result.str() + " = math." + function.name + " %" + operand.str();
    if (!function.exponent)
      return call + " : " + type + "\n";
    std::string value = std::to_string(*function.exponent);
    return "%exponent = arith.constant " +
           (type == "f32" ? value : "dense<" + value + ">") + " : " + type +
           "\n" + call + ", %exponent : " + type + "\n";
  }

  /// Worst sample over whole vectors and over scalars.
  void check(const std::string &source, const std::vector<float> &samples) {
    cwm::LoadedKernel kernel =
        load(source, llvm::cantFail(cwm::probeHardware()));
    std::vector<float> results(samples.size(), 7);
    void *buffers[] = {const_cast<float *>(samples.data()), results.data()};
    kernel(buffers);
    double worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < samples.size(); ++i) {
      double ulps = getUlps(results[i], GetParam().exact(samples[i]));
      if (ulps > worst) {
        worst = ulps;
        at = i;
      }
    }
    RecordProperty("ulps", std::to_string(worst));
    EXPECT_LE(worst, GetParam().maxUlps)
        << GetParam().name << "(" << samples[at] << ") = " << results[at]
        << ", exact " << GetParam().exact(samples[at]);
  }
};

TEST_P(MathAccuracyTest, Scalars) {
  std::vector<float> samples = getSamples();
  std::string type = "memref<" + std::to_string(samples.size()) + "xf32>";
  check("func.func @kernel(%x: " + type + ", %r: " + type + R"mlir() {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %end = memref.dim %x, %zero : )mlir" +
            type + R"mlir(
    scf.for %i = %zero to %end step %one {
      %v = memref.load %x[%i] : )mlir" +
            type + R"mlir(
      )mlir" +
            makeCall("w", "v", "f32") + R"mlir(
      memref.store %w, %r[%i] : )mlir" +
            type + R"mlir(
    }
    return
  })mlir",
        samples);
}

TEST_P(MathAccuracyTest, Vectors) {
  std::vector<float> samples = getSamples();
  std::string type = "memref<" + std::to_string(samples.size()) + "xf32>";
  check("func.func @kernel(%x: " + type + ", %r: " + type + R"mlir() {
    %zero = arith.constant 0 : index
    %step = arith.constant 32 : index
    %end = memref.dim %x, %zero : )mlir" +
            type + R"mlir(
    scf.for %i = %zero to %end step %step {
      %v = vector.load %x[%i] : )mlir" +
            type + R"mlir(, vector<32xf32>
      %m = vector.shape_cast %v : vector<32xf32> to vector<2x16xf32>
      )mlir" +
            makeCall("n", "m", "vector<2x16xf32>") + R"mlir(
      %w = vector.shape_cast %n : vector<2x16xf32> to vector<32xf32>
      vector.store %w, %r[%i] : )mlir" +
            type + R"mlir(, vector<32xf32>
    }
    return
  })mlir",
        samples);
}

INSTANTIATE_TEST_SUITE_P(
    Functions, MathAccuracyTest,
    // The bounds that Passes.td states.
    ::testing::Values(
        Function{"exp", std::exp, 1}, Function{"expm1", std::expm1, 3},
        Function{"tanh", std::tanh, 5}, Function{"erf", std::erf, 5},
        Function{"log", std::log, 1}, Function{"log2", std::log2, 2},
        Function{"log1p", std::log1p, 3},
        Function{"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1.5}),
    [](const auto &info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Powers, MathAccuracyTest,
    // The bounds that Passes.td states.
    ::testing::Values(
        Function{"powf", [](double) { return 1.0; }, 0, 0},
        Function{"powf", [](double x) { return x; }, 0, 1},
        Function{"powf", [](double x) { return x * x; }, 0.5, 2},
        Function{"powf", [](double x) { return std::pow(x, 3); }, 2, 3},
        Function{"powf", [](double x) { return std::pow(x, 4); }, 3, 4},
        Function{"powf", [](double x) { return std::pow(x, -1); }, 0.5, -1},
        Function{"powf", [](double x) { return std::pow(x, -2); }, 3, -2},
        Function{"powf", [](double x) { return std::pow(x, -3); }, 5, -3},
        Function{"powf", [](double x) { return std::pow(x, -4); }, 7, -4},
        Function{"powf", [](double x) { return std::pow(x, 0.5); }, 0.5, 0.5},
        Function{"powf", [](double x) { return std::pow(x, -0.5); }, 1.5,
                 -0.5}),
    [](const auto &info) {
      return std::string(info.param.name) + std::to_string(info.index);
    });

} // namespace
