//===- CheckTest.cpp - Tests of inputs, check and reference -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunnerTestUtils.h"
#include "cwm/Runner/GuardedBuffer.h"
#include "cwm/Runner/Limits.h"
#include "cwm/Runner/Reference.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

using namespace cwm;
using namespace cwm::test;

namespace {

TensorSpec makeSpec(std::vector<int64_t> shape, llvm::StringRef type) {
  TensorSpec spec;
  spec.shape = std::move(shape);
  spec.elementType = type.str();
  return spec;
}

TEST(ElementsTest, HalfPrecisionsAgreeWithAPFloat) {
  const std::pair<ElementKind, const llvm::fltSemantics *> kinds[] = {
      {ElementKind::F16, &llvm::APFloat::IEEEhalf()},
      {ElementKind::BF16, &llvm::APFloat::BFloat()}};
  for (auto [kind, semantics] : kinds) {
    for (unsigned bits = 0; bits < 65536; ++bits) {
      auto stored = uint16_t(bits);
      llvm::APFloat exact(*semantics, llvm::APInt(16, bits));
      bool losesInfo = false;
      exact.convert(llvm::APFloat::IEEEdouble(),
                    llvm::APFloat::rmNearestTiesToEven, &losesInfo);
      double value = loadFloat(kind, &stored, 0);
      if (exact.isNaN()) {
        ASSERT_TRUE(std::isnan(value));
        continue;
      }
      ASSERT_EQ(value, exact.convertToDouble()) << bits;
      uint16_t again = 0;
      storeFloat(kind, &again, 0, value);
      ASSERT_EQ(again, stored);
      // Just above halfway to the next value: rounds up.
      double nudged =
          value + std::ldexp(value, kind == ElementKind::F16 ? -12 : -9);
      llvm::APFloat rounded(nudged);
      rounded.convert(*semantics, llvm::APFloat::rmNearestTiesToEven,
                      &losesInfo);
      // Double rounding through f32 is exact enough for bf16 here.
      storeFloat(kind, &again, 0, nudged);
      ASSERT_EQ(again, rounded.bitcastToAPInt().getZExtValue()) << bits;
    }
  }
}

TEST(ElementsTest, RandomInputsKeepTheirDomain) {
  TensorSpec spec = makeSpec({1000}, "f32");
  std::vector<float> data(1000), again(1000), other(1000);
  fillRandom(spec, ElementKind::F32, 1, 0, InputStyle::Uniform, data.data());
  fillRandom(spec, ElementKind::F32, 1, 0, InputStyle::Uniform, again.data());
  fillRandom(spec, ElementKind::F32, 1, 1, InputStyle::Uniform, other.data());
  EXPECT_EQ(data, again);
  EXPECT_NE(data, other);
  auto [low, high] = std::minmax_element(data.begin(), data.end());
  EXPECT_GE(*low, -1);
  EXPECT_LT(*low, -0.9);
  EXPECT_LT(*high, 1);
  EXPECT_GT(*high, 0.9);
  spec.domain = InputDomain::Nonnegative;
  fillRandom(spec, ElementKind::F32, 1, 0, InputStyle::Uniform, data.data());
  EXPECT_GT(*std::min_element(data.begin(), data.end()), 0);

  TensorSpec rows = makeSpec({1000}, "i64");
  rows.domain = InputDomain::Index;
  rows.upperBound = 12;
  for (InputStyle style :
       {InputStyle::Uniform, InputStyle::Nonnegative, InputStyle::Uneven}) {
    std::vector<int64_t> indices(1000);
    fillRandom(rows, ElementKind::I64, 1, 0, style, indices.data());
    auto [first, last] = std::minmax_element(indices.begin(), indices.end());
    EXPECT_EQ(*first, 0);
    EXPECT_EQ(*last, 11);
  }

  std::vector<int8_t> bits(1000);
  fillRandom(makeSpec({1000}, "i1"), ElementKind::I1, 1, 0, InputStyle::Uniform,
             bits.data());
  EXPECT_EQ(std::count(bits.begin(), bits.end(), 0) +
                std::count(bits.begin(), bits.end(), 1),
            1000);
}

class NumericCheckTest : public ::testing::Test {
protected:
  CheckOutcome check(std::vector<float> actual, std::vector<double> expected) {
    return checkResult("result 0", makeSpec({int64_t(actual.size())}, "f32"),
                       actual.data(), {std::move(expected), {}}, 1e-5);
  }
  static constexpr float inf = std::numeric_limits<float>::infinity();
  static constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  static constexpr float mask = -std::numeric_limits<float>::max();
};

TEST_F(NumericCheckTest, ComparesEveryElement) {
  EXPECT_TRUE(check({1, 2, 3}, {1, 2, 3}).ok);
  EXPECT_TRUE(check({1, 2, 3.00001f}, {1, 2, 3}).ok);
  CheckOutcome wrong = check({1, 2, 3, 4.5f}, {1, 2, 3, 4});
  EXPECT_FALSE(wrong.ok);
  EXPECT_EQ(wrong.message, "result 0 differs at 1 of 4 elements, first at [3]: "
                           "got 4.5, expected 4");
  EXPECT_GT(wrong.maxError, 0.05);
}

TEST_F(NumericCheckTest, NaNNeverPasses) {
  EXPECT_FALSE(check({nan, 2}, {1, 2}).ok);
  EXPECT_FALSE(check({nan, 2}, {inf, 2}).ok);
  EXPECT_FALSE(check({-nan}, {mask}).ok);
}

TEST_F(NumericCheckTest, InfinitiesMustMatch) {
  EXPECT_TRUE(check({inf, -inf}, {inf, -inf}).ok);
  EXPECT_FALSE(check({inf}, {-inf}).ok);
  EXPECT_FALSE(check({inf}, {1}).ok);
  EXPECT_FALSE(check({1e38f}, {inf}).ok);
  // Beyond f32: infinity is what it becomes.
  EXPECT_TRUE(check({-inf}, {-6.8e38}).ok);
  EXPECT_FALSE(check({mask}, {-6.8e38}).ok);
}

TEST_F(NumericCheckTest, MasksDoNotHideOtherErrors) {
  EXPECT_TRUE(check({mask, 1, 2}, {mask, 1, 2}).ok);
  EXPECT_FALSE(check({mask, 1, 2.5f}, {mask, 1, 2}).ok);
  EXPECT_FALSE(check({mask * 0.9f, 1, 2}, {mask, 1, 2}).ok);
}

TEST_F(NumericCheckTest, IntegersMustBeEqual) {
  int8_t actual[] = {1, -2, 3};
  ReferenceTensor expected{{}, {1, -2, 3}};
  TensorSpec spec = makeSpec({3}, "i8");
  EXPECT_TRUE(checkResult("r", spec, actual, expected, 0).ok);
  actual[1] = -3;
  EXPECT_EQ(checkResult("r", spec, actual, expected, 1).message,
            "r differs at 1 of 3 elements, first at [1]: got -3, expected -2");
}

TEST_F(NumericCheckTest, SubnormalResultsHaveNoRelativeAccuracy) {
  float step = std::numeric_limits<float>::denorm_min();
  EXPECT_TRUE(check({98 * step}, {100.2 * double(step)}).ok);
  EXPECT_TRUE(check({9 * step}, {-0.0}).ok);
  EXPECT_FALSE(check({1000 * step}, {1100 * double(step)}).ok);
  EXPECT_FALSE(check({0}, {1100 * double(step)}).ok);
  // Next to ordinary numbers nothing changes.
  EXPECT_FALSE(check({1, 2.001f}, {1, 2}).ok);
}

/// Results computed from floats may jump: a few, by a step, and only where the
/// payload is known to.
TEST_F(NumericCheckTest, IntegersFromFloatsMayJump) {
  TensorSpec spec = makeSpec({1000}, "i8");
  std::vector<int8_t> actual(1000, 5);
  ReferenceTensor expected{{}, std::vector<char>(1000, 5)};
  Deviation own;
  own.numDifferent = 1;
  own.step = 1;
  auto isOk = [&](const Tolerance &tolerance) {
    return checkResult("r", spec, actual.data(), expected, tolerance).ok;
  };
  Tolerance wide = widenTolerance(1e-5, 6e-8, own, /*fromFloats=*/true, 1000);
  Tolerance strict =
      widenTolerance(1e-5, 6e-8, own, /*fromFloats=*/false, 1000);
  actual[7] = 6;
  EXPECT_TRUE(isOk(wide));
  EXPECT_FALSE(isOk(strict));
  EXPECT_FALSE(isOk(1e-5));
  // Fifteen of a thousand are no accident, nor is a jump of 40.
  std::fill_n(actual.begin(), 15, 4);
  EXPECT_TRUE(isOk(wide));
  std::fill_n(actual.begin(), 16, 4);
  EXPECT_FALSE(isOk(wide));
  std::fill_n(actual.begin(), 16, 5);
  actual[7] = 45;
  EXPECT_FALSE(isOk(wide));
  // Small results have no room for accidents that the payload does not have.
  EXPECT_EQ(widenTolerance(1e-5, 6e-8, {}, true, 60).numDifferent, 0);
  EXPECT_EQ(widenTolerance(1e-5, 6e-8, own, true, 60).numDifferent, 1);
}

TEST_F(NumericCheckTest, ToleranceGrowsWithTheReduction) {
  Payload small = makeMatmul(4, 4, 16), large = makeMatmul(4, 4, 1024);
  EXPECT_EQ(getReductionLength(small.getModule()), 16);
  EXPECT_DOUBLE_EQ(getTolerance(small.getModule()), 0x1p-24 * (64 + 16 * 4));
  // Half precision counts where values are rounded to it.
  auto tolerance = [](llvm::StringRef in, llvm::StringRef out) {
    Payload payload = makePayload(llvm::formatv(R"mlir(
      func.func @f(%a: tensor<4x16x{0}>, %b: tensor<16x4x{0}>) -> tensor<4x4x{1}> {{
        %z = arith.constant 0.0 : {1}
        %e = tensor.empty() : tensor<4x4x{1}>
        %i = linalg.fill ins(%z : {1}) outs(%e : tensor<4x4x{1}>) -> tensor<4x4x{1}>
        %r = linalg.matmul ins(%a, %b : tensor<4x16x{0}>, tensor<16x4x{0}>) outs(%i : tensor<4x4x{1}>) -> tensor<4x4x{1}>
        return %r : tensor<4x4x{1}>
      })mlir",
                                                in, out)
                                      .str());
    return getTolerance(payload.getModule());
  };
  EXPECT_DOUBLE_EQ(tolerance("bf16", "f32"), 0x1p-24 * (64 + 16 * 4));
  EXPECT_DOUBLE_EQ(tolerance("f16", "f16"), 0x1p-11 * (8 + 16 * 4));
  EXPECT_DOUBLE_EQ(tolerance("bf16", "bf16"), 0.25);
  EXPECT_DOUBLE_EQ(getTolerance(large.getModule()), 0x1p-24 * (64 + 16 * 32));
}

TEST(GuardedBufferTest, KnowsItsNeighbourhood) {
  llvm::Expected<GuardedBuffer> made = GuardedBuffer::create("result 7", 12);
  ASSERT_TRUE(bool(made));
  GuardedBuffer buffer = std::move(*made);
  char *data = static_cast<char *>(buffer.getData());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
  EXPECT_EQ(buffer.checkCanaries(), "");
  buffer.poison(true);
  EXPECT_TRUE(std::isnan(loadFloat(ElementKind::F32, data, 2)));
  EXPECT_EQ(buffer.checkCanaries(), "");
  data[12] = 0;
  EXPECT_EQ(buffer.checkCanaries(), "wrote behind the end of result 7");
  data[12] = 0x5a;
  data[-1] = 0;
  EXPECT_EQ(buffer.checkCanaries(), "wrote in front of result 7");

  char text[100];
  ASSERT_TRUE(describeGuardedAccess(data + 100, true, text, sizeof(text)));
  EXPECT_STREQ(text, "wrote outside of result 7 (88 bytes behind its end)");
  ASSERT_TRUE(describeGuardedAccess(data - 5000, false, text, sizeof(text)));
  EXPECT_STREQ(text, "read outside of result 7 (5000 bytes in front of it)");
  ASSERT_TRUE(describeGuardedAccess(data + 4, true, text, sizeof(text)));
  EXPECT_STREQ(text, "wrote to result 7");
  EXPECT_FALSE(describeGuardedAccess(text, true, text, sizeof(text)));
}

/// Result 0 of the payload as plain loops over random inputs would give it.
std::vector<double> multiply(int64_t m, int64_t n, int64_t k, uint64_t seed) {
  std::vector<float> a(m * k), b(k * n);
  fillRandom(makeSpec({m, k}, "f32"), ElementKind::F32, seed, 0,
             InputStyle::Uniform, a.data());
  fillRandom(makeSpec({k, n}, "f32"), ElementKind::F32, seed, 1,
             InputStyle::Uniform, b.data());
  std::vector<double> c(m * n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t l = 0; l < k; ++l)
        c[i * n + j] += double(a[i * k + l]) * double(b[l * n + j]);
  return c;
}

TEST(ReferenceTest, ComputesInDoublePrecision) {
  Payload payload = makeMatmul(5, 7, 33);
  llvm::Expected<Reference> reference =
      computeReference(payload, getHardware(), 3);
  ASSERT_TRUE(bool(reference)) << llvm::toString(reference.takeError());
  EXPECT_EQ(reference->style, InputStyle::Uniform);
  std::vector<double> expected = multiply(5, 7, 33, 3);
  ASSERT_EQ(reference->results.size(), 1u);
  ASSERT_EQ(reference->results[0].floats.size(), expected.size());
  for (auto [got, wanted] : llvm::zip(reference->results[0].floats, expected))
    EXPECT_NEAR(got, wanted, 1e-14);
}

TEST(ReferenceTest, MovesTheContiguousLoopInnermost) {
  bool inDoublePrecision = false;
  auto module = buildReferenceModule(makeMatmul(5, 7, 33), inDoublePrecision);
  ASSERT_TRUE(mlir::succeeded(module));
  EXPECT_TRUE(inDoublePrecision);
  std::vector<mlir::utils::IteratorType> innermost;
  (*module)->walk([&](mlir::linalg::GenericOp op) {
    innermost.push_back(op.getIteratorTypesArray().back());
  });
  // The fill, and the matmul whose last loop was the reduction.
  EXPECT_EQ(innermost, std::vector<mlir::utils::IteratorType>(
                           2, mlir::utils::IteratorType::parallel));
}

//===----------------------------------------------------------------------===//
// Precision of the payload itself
//===----------------------------------------------------------------------===//

const char *mulAdd = "%t = arith.mulf %x, %scale : f32\n"
                     "%y = arith.addf %t, %shift : f32\n";
const char *expLog = "%te = math.exp %x : f32\n"
                     "%ts = arith.addf %te, %small : f32\n"
                     "%y = math.log %ts : f32\n";
const char *tanhAlone = "%y = math.tanh %x : f32\n";

class PrecisionTest : public ::testing::TestWithParam<const char *> {
protected:
  /// The widened tolerance of `payload`.
  static double getWidened(const Payload &payload, const Reference &reference) {
    auto errors = computeOwnErrors(payload, getHardware(), 0, reference);
    EXPECT_TRUE(bool(errors)) << llvm::toString(errors.takeError());
    mlir::ModuleOp module = payload.getModule();
    return widenTolerance(getTolerance(module), getRoundoff(module),
                          errors->front(), /*fromFloats=*/true, 1)
        .relative;
  }
  static Reference getExact(const Payload &payload) {
    auto reference = computeReference(payload, getHardware(), 0);
    EXPECT_TRUE(bool(reference)) << llvm::toString(reference.takeError());
    return std::move(*reference);
  }
};

TEST_P(PrecisionTest, LongChainsAreRightAndAMissingOpIsFound) {
  Payload payload = makeChain(200, GetParam());
  TemporaryFolder folder;
  WorkerPoolOptions options;
  options.workDir = folder.get();
  options.numCompileWorkers = 1;
  options.compileTimeoutSeconds = 120;
  auto pool = WorkerPool::create(payload, getHardware(), options);
  ASSERT_TRUE(bool(pool)) << llvm::toString(pool.takeError());
  TrialResult result = measure(**pool, {makeScript("")}).front();
  EXPECT_EQ(result.status, TrialStatus::Ok) << result.reason;

  Reference exact = getExact(payload);
  double tolerance = getWidened(payload, exact);
  EXPECT_LE(tolerance, 0x1p-12);
  Reference shorter = getExact(makeChain(199, GetParam()));
  EXPECT_GT(getDeviation(payload.getResults()[0], shorter.results[0],
                         exact.results[0])
                .relative,
            2 * tolerance);
}

INSTANTIATE_TEST_SUITE_P(Chains, PrecisionTest,
                         ::testing::Values(mulAdd, expLog, tanhAlone));

TEST_F(PrecisionTest, CancellationIsNoExcuse) {
  Payload payload = makeChain(1, "%t = arith.addf %x, %large : f32\n"
                                 "%y = arith.subf %t, %large : f32\n");
  Reference exact = getExact(payload);
  EXPECT_EQ(getWidened(payload, exact), 0x1p-12);
  TemporaryFolder folder;
  WorkerPoolOptions options;
  options.workDir = folder.get();
  options.numCompileWorkers = 1;
  options.compileTimeoutSeconds = 120;
  auto pool = WorkerPool::create(payload, getHardware(), options);
  ASSERT_TRUE(bool(pool)) << llvm::toString(pool.takeError());
  TrialResult result = measure(**pool, {makeScript("")}).front();
  EXPECT_EQ(result.status, TrialStatus::WrongResult);
  EXPECT_NE(result.reason.find("; the payload itself, in its own precision, is "
                               "off by a relative error of "),
            std::string::npos)
      << result.reason;
}

TEST_F(PrecisionTest, SumsKeepTheirTolerance) {
  // Whatever the signs: a dropped term must not hide behind the evaluation's
  // own errors.
  Payload mixed = makeMatmul(4, 4, 6912);
  EXPECT_EQ(getWidened(mixed, getExact(mixed)),
            getTolerance(mixed.getModule()));
  Reference positive = getExact(mixed);
  std::string text;
  llvm::raw_string_ostream(text) << mixed.getModule();
  for (size_t at = 0;
       (at = text.find("x6912xf32>, %", at)) != std::string::npos;)
    text.insert(at + 10, " {cwm.domain = \"nonnegative\"}");
  Payload sums = makePayload(text);
  EXPECT_EQ(getWidened(sums, getExact(sums)), getTolerance(sums.getModule()));
}

TEST_F(PrecisionTest, ErrorsAreCached) {
  TemporaryFolder folder;
  Payload payload = makeChain(20, mulAdd);
  Reference exact = getExact(payload);
  std::string path =
      folder.get("precision-" + payload.getWorkloadHash().str() + "-0.json");
  auto get = [&] {
    auto errors = getOwnErrors(payload, getHardware(), 0, exact, folder.get());
    EXPECT_TRUE(bool(errors));
    return errors ? errors->front().relative : -1;
  };
  double error = get();
  EXPECT_GT(error, 0);
  EXPECT_LT(error, 1e-4);
  auto write = [&](llvm::StringRef text) {
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << text;
  };
  std::string entry = R"({"relative": 0.125, "different": 3, "step": 1})";
  write("[" + entry + "]");
  EXPECT_EQ(get(), 0.125);
  for (const std::string &bad :
       {std::string(), std::string("[]"), "[" + entry + ", " + entry + "]",
        std::string("[0.5]"), std::string(R"([{"relative": 0.125}])"),
        std::string("{}"), "[" + entry}) {
    write(bad);
    EXPECT_EQ(get(), error) << bad;
  }
}

/// Rounds to i8 what lies next to the middle between two integers.
TEST_F(PrecisionTest, QuantisedResultsAreNoErrors) {
  Payload payload = makePayload(R"(
    func.func @kernel(%a: tensor<4096x1024xf32>) -> tensor<4096x1024xi8> {
      %e = tensor.empty() : tensor<4096x1024xi8>
      %d = arith.constant 3.0 : f32
      %m = arith.constant 127.0 : f32
      %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4096x1024xf32>) outs(%e : tensor<4096x1024xi8>) {
      ^bb0(%x: f32, %o: i8):
        %q = arith.divf %x, %d : f32
        %s = arith.mulf %q, %m : f32
        %t = math.roundeven %s : f32
        %y = arith.fptosi %t : f32 to i8
        linalg.yield %y : i8
      } -> tensor<4096x1024xi8>
      return %r : tensor<4096x1024xi8>
    })");
  EXPECT_TRUE(dependsOnFloats(payload, 0));
  Reference exact = getExact(payload);
  auto own = computeOwnErrors(payload, getHardware(), 0, exact);
  ASSERT_TRUE(bool(own)) << llvm::toString(own.takeError());
  EXPECT_GT(own->front().numDifferent, 0);
  EXPECT_EQ(own->front().step, 1);
  TemporaryFolder folder;
  WorkerPoolOptions options;
  options.workDir = folder.get();
  options.numCompileWorkers = 1;
  auto pool = WorkerPool::create(payload, getHardware(), options);
  ASSERT_TRUE(bool(pool)) << llvm::toString(pool.takeError());
  TrialResult result = measure(**pool, {makeScript("")}).front();
  EXPECT_EQ(result.status, TrialStatus::Ok) << result.reason;
}

TEST_F(PrecisionTest, OnlyWhatFloatsDecideMayJump) {
  Payload payload = makePayload(R"(
    func.func @kernel(%a: tensor<8xf32>, %b: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi1>) {
      %e = tensor.empty() : tensor<8xi32>
      %f = tensor.empty() : tensor<8xi1>
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%b : tensor<8xi32>) outs(%e : tensor<8xi32>) {
      ^bb0(%x: i32, %o: i32):
        %y = arith.addi %x, %x : i32
        linalg.yield %y : i32
      } -> tensor<8xi32>
      %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%f : tensor<8xi1>) {
      ^bb0(%x: f32, %o: i1):
        %z = arith.constant 0.0 : f32
        %y = arith.cmpf ogt, %x, %z : f32
        linalg.yield %y : i1
      } -> tensor<8xi1>
      return %r, %s : tensor<8xi32>, tensor<8xi1>
    })");
  EXPECT_FALSE(dependsOnFloats(payload, 0));
  EXPECT_TRUE(dependsOnFloats(payload, 1));
}

TEST(ReferenceTest, PayloadsThatDoNotFitAreRefused) {
  // 2^40 numbers: an argument, or a value between two small ones.
  Payload argument = makePayload(R"mlir(
    func.func @kernel(%a: tensor<1048576x1048576xf32>) -> tensor<4xf32> {
      %one = arith.constant 1.0 : f32
      %e = tensor.empty() : tensor<4xf32>
      %r = linalg.fill ins(%one : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    })mlir");
  Payload between = makePayload(R"mlir(
    func.func @kernel(%a: tensor<1048576xf32>) -> tensor<1048576xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<1048576x1048576xf32>
      %b = linalg.broadcast ins(%a : tensor<1048576xf32>) outs(%e : tensor<1048576x1048576xf32>) dimensions = [1]
      %x = linalg.exp ins(%b : tensor<1048576x1048576xf32>) outs(%e : tensor<1048576x1048576xf32>) -> tensor<1048576x1048576xf32>
      %f = tensor.empty() : tensor<1048576xf32>
      %g = linalg.fill ins(%zero : f32) outs(%f : tensor<1048576xf32>) -> tensor<1048576xf32>
      %r = linalg.reduce { arith.addf } ins(%x : tensor<1048576x1048576xf32>) outs(%g : tensor<1048576xf32>) dimensions = [1]
      return %r : tensor<1048576xf32>
    })mlir");
  for (const Payload *payload : {&argument, &between}) {
    auto reference = computeReference(*payload, getHardware(), 0);
    ASSERT_FALSE(bool(reference));
    std::string message = llvm::toString(reference.takeError());
    EXPECT_EQ(message.find("the payload does not fit into memory: its tensors "
                           "and those of the reference take "),
              0u)
        << message;
    EXPECT_NE(message.find(" bytes, "), std::string::npos) << message;
    EXPECT_NE(message.find(" are available"), std::string::npos) << message;
  }
}

TEST(LimitsTest, AvailableMemoryIsKnown) {
  uint64_t bytes = getAvailableBytes();
  EXPECT_GT(bytes, uint64_t(1) << 20);
  EXPECT_LT(bytes, uint64_t(1) << 50);
}

const char *rsqrtPayload =
    "#map = affine_map<(d0) -> (d0)>\n"
    "func.func @kernel(%x: tensor<64xf32> ATTRIBUTE) -> tensor<64xf32> {\n"
    "  %empty = tensor.empty() : tensor<64xf32>\n"
    "  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = "
    "[\"parallel\"]} ins(%x : tensor<64xf32>) outs(%empty : tensor<64xf32>) {\n"
    "  ^bb0(%in: f32, %out: f32):\n"
    "    %offset = arith.constant OFFSET : f32\n"
    "    %sum = arith.addf %in, %offset : f32\n"
    "    %root = math.rsqrt %sum : f32\n"
    "    linalg.yield %root : f32\n"
    "  } -> tensor<64xf32>\n"
    "  return %r : tensor<64xf32>\n"
    "}\n";

Payload makeRsqrt(llvm::StringRef attribute, llvm::StringRef offset) {
  std::string text = rsqrtPayload;
  text.replace(text.find("ATTRIBUTE"), 9, attribute.str());
  text.replace(text.find("OFFSET"), 6, offset.str());
  return makePayload(text);
}

TEST(ReferenceTest, FindsInputsWithoutNaN) {
  llvm::Expected<Reference> reference =
      computeReference(makeRsqrt("", "0.0"), getHardware(), 0);
  ASSERT_TRUE(bool(reference)) << llvm::toString(reference.takeError());
  EXPECT_EQ(reference->style, InputStyle::Nonnegative);
  reference = computeReference(
      makeRsqrt("{cwm.domain = \"nonnegative\"}", "0.0"), getHardware(), 0);
  ASSERT_TRUE(bool(reference)) << llvm::toString(reference.takeError());
  EXPECT_EQ(reference->style, InputStyle::Uniform);
}

/// Whether any element of a row (all elements of it: andi) is what `compare`
/// says of %in.
Payload makeQuestion(llvm::StringRef type, llvm::StringRef compare,
                     llvm::StringRef combine, llvm::StringRef neutral) {
  std::string text = R"(
    func.func @kernel(%x: tensor<40x500xTYPE>) -> tensor<40xi1> {
      %limit = arith.constant 9.0e-01 : f32
      %zero = arith.constant 0.0 : f32
      %neutral = arith.constant NEUTRAL
      %empty = tensor.empty() : tensor<40xi1>
      %init = linalg.fill ins(%neutral : i1) outs(%empty : tensor<40xi1>)
          -> tensor<40xi1>
      %r = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>,
                           affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<40x500xTYPE>) outs(%init : tensor<40xi1>) {
      ^bb0(%in: TYPE, %out: i1):
        %is = COMPARE
        %next = COMBINE %is, %out : i1
        linalg.yield %next : i1
      } -> tensor<40xi1>
      return %r : tensor<40xi1>
    })";
  for (auto [name, value] :
       {std::pair<llvm::StringRef, llvm::StringRef>("TYPE", type),
        {"COMPARE", compare},
        {"COMBINE", combine},
        {"NEUTRAL", neutral}})
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, name.size(), value.str());
  return makePayload(text);
}

TEST(ReferenceTest, FindsInputsWithBothAnswers) {
  const char *large = "arith.cmpf ogt, %in, %limit : f32";
  Payload questions[] = {
      makeQuestion("f32", large, "arith.ori", "false"),
      makeQuestion("f32", "arith.cmpf ogt, %in, %zero : f32", "arith.andi",
                   "true"),
      makeQuestion("f32", "arith.cmpf olt, %in, %limit : f32", "arith.andi",
                   "true"),
      makeQuestion("i1", "arith.ori %in, %in : i1", "arith.ori", "false"),
      makeQuestion("i1", "arith.ori %in, %in : i1", "arith.andi", "true"),
  };
  for (const Payload &payload : questions) {
    llvm::Expected<Reference> reference =
        computeReference(payload, getHardware(), 0);
    ASSERT_TRUE(bool(reference)) << llvm::toString(reference.takeError());
    EXPECT_EQ(reference->style, InputStyle::Uneven);
    const std::vector<char> &answers = reference->results.front().bytes;
    EXPECT_GE(std::count(answers.begin(), answers.end(), 0), 4);
    EXPECT_GE(std::count(answers.begin(), answers.end(), 1), 4);
  }
  // Each answer by itself: nothing to mend.
  llvm::Expected<Reference> reference = computeReference(
      makeQuestion("f32", large, "arith.xori", "false"), getHardware(), 0);
  ASSERT_TRUE(bool(reference)) << llvm::toString(reference.takeError());
  EXPECT_EQ(reference->style, InputStyle::Uniform);
}

TEST(ReferenceTest, RefusesAPayloadThatIsAlwaysNaN) {
  llvm::Expected<Reference> reference =
      computeReference(makeRsqrt("", "-2.0"), getHardware(), 0);
  ASSERT_FALSE(bool(reference));
  EXPECT_NE(llvm::toString(reference.takeError())
                .find("result 0 of the payload is NaN"),
            std::string::npos);
}

TEST(ReferenceTest, CacheIsCheckedBeforeUse) {
  TemporaryFolder folder;
  Payload payload = makeMatmul(3, 4, 5);
  std::vector<double> expected = multiply(3, 4, 5, 9);
  std::string path =
      folder.get("reference-" + payload.getWorkloadHash().str() + "-9.bin");
  auto get = [&] {
    llvm::Expected<Reference> reference =
        getReference(payload, getHardware(), 9, folder.get());
    EXPECT_TRUE(bool(reference));
    return reference ? reference->results[0].floats[0] : 0;
  };
  EXPECT_NEAR(get(), expected[0], 1e-14);
  std::string text = (*llvm::MemoryBuffer::getFile(path))->getBuffer().str();
  auto write = [&](llvm::StringRef bytes) {
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << bytes;
  };
  // A valid file is believed: this is how we see that it is read at all.
  EXPECT_NEAR(get(), expected[0], 1e-14);
  std::string damaged = text;
  damaged[40] ^= 1;
  write(damaged);
  EXPECT_NEAR(get(), expected[0], 1e-14);
  EXPECT_EQ((*llvm::MemoryBuffer::getFile(path))->getBuffer(), text);
  write(llvm::StringRef(text).drop_back(20));
  EXPECT_NEAR(get(), expected[0], 1e-14);
  // A pipe would wait for a writer.
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_NEAR(get(), expected[0], 1e-14);
  ASSERT_EQ(::unlink(path.c_str()), 0);
  write("");
  EXPECT_NEAR(get(), expected[0], 1e-14);
}

} // namespace
