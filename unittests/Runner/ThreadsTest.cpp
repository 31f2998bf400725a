//===- ThreadsTest.cpp - Tests of kernels with several threads --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunnerTestUtils.h"
#include "cwm/Runner/MeasureStage.h"
#include "cwm/Runner/Timing.h"
#include "cwm/Target/CPU/OpenMPRuntime.h"

#include "mlir/Pass/PassManager.h"

#include <cstdlib>

using namespace cwm;
using namespace cwm::test;

namespace {

/// Twice the input; no schedule of it is slow to check.
Payload makeDouble() {
  return makePayload(R"mlir(
    func.func @kernel(%x: tensor<64xf32>) -> tensor<64xf32> {
      %e = tensor.empty() : tensor<64xf32>
      %r = linalg.add ins(%x, %x : tensor<64xf32>, tensor<64xf32>)
                      outs(%e : tensor<64xf32>) -> tensor<64xf32>
      return %r : tensor<64xf32>
    })mlir");
}

class ThreadsTest : public ::testing::Test {
protected:
  void SetUp() override {
    llvm::Error error = loadOpenMPRuntime(2);
    ASSERT_FALSE(bool(error)) << llvm::toString(std::move(error));
  }

  /// Checks what `body` computes from %x into %r, in bare memory.
  TrialResult measure(const std::string &globals, const std::string &body,
                      int64_t threads) {
    std::string text = globals +
                       "func.func @kernel(%x: memref<64xf32>, "
                       "%r: memref<64xf32>) {\n" +
                       body + "return\n}\n";
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::parseSourceString<mlir::ModuleOp>(text, &getContext());
    EXPECT_TRUE(bool(module)) << text;
    mlir::PassManager manager(&getContext());
    CPULoweringOptions lowering;
    lowering.threads = threads;
    buildCPULowering(manager, lowering);
    EXPECT_TRUE(mlir::succeeded(manager.run(*module)));
    auto object = compileToObject(*module, "kernel", getHardware());
    EXPECT_TRUE(bool(object));
    Payload payload = makeDouble();
    auto stage = MeasureStage::create(payload, getHardware(), /*seed=*/0,
                                      /*cacheFolder=*/"", threads);
    EXPECT_TRUE(bool(stage));
    return (*stage)->measure(*object, MeasureStage::Options(),
                             [](llvm::StringRef, double) {});
  }
};

constexpr char twice[] = R"mlir(
  scf.forall (%i) in (64) {
    %v = memref.load %x[%i] : memref<64xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %r[%i] : memref<64xf32>
  }
)mlir";

TEST_F(ThreadsTest, SeveralThreadsAreCheckedAndTimed) {
  TrialResult result = measure("", twice, 2);
  EXPECT_TRUE(result.isOk()) << result.reason;
  EXPECT_GT(result.timeNs, 0);
}

/// Every other call rounds otherwise, within the tolerance: what threads do
/// that write the same elements.
constexpr char state[] =
    "memref.global \"private\" @calls : memref<1xi32> = dense<0>\n";
constexpr char unsteady[] = R"mlir(
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %table = memref.get_global @calls : memref<1xi32>
  %calls = memref.load %table[%c0] : memref<1xi32>
  %next = arith.addi %calls, %one : i32
  memref.store %next, %table[%c0] : memref<1xi32>
  %odd = arith.andi %calls, %one : i32
  %f = arith.sitofp %odd : i32 to f32
  %ulp = arith.constant 2.0e-7 : f32
  %shift = arith.mulf %f, %ulp : f32
  %unit = arith.constant 1.0 : f32
  %factor = arith.addf %unit, %shift : f32
  scf.forall (%i) in (64) {
    %v = memref.load %x[%i] : memref<64xf32>
    %w = arith.addf %v, %v : f32
    %u = arith.mulf %w, %factor : f32
    memref.store %u, %r[%i] : memref<64xf32>
  }
)mlir";

TEST_F(ThreadsTest, ResultsThatVaryAreRefused) {
  TrialResult result = measure(state, unsteady, 2);
  EXPECT_EQ(result.status, TrialStatus::WrongResult);
  EXPECT_EQ(result.reason,
            "result 0 differs from call to call: threads write the same "
            "elements, or add up in varying order");
  // One thread has nobody to race with.
  EXPECT_TRUE(measure(state, unsteady, 1).isOk());
}

TEST_F(ThreadsTest, TheReferenceKernelUsesAllThreads) {
  auto one = ReferenceKernel::create(&getContext(), getHardware());
  auto two = ReferenceKernel::create(&getContext(), getHardware(), 2);
  ASSERT_TRUE(bool(one) && bool(two));
  EXPECT_EQ(two->getFlops(), 2 * one->getFlops());
  TimingOptions options;
  options.clock = getWallSeconds;
  TimeEstimate estimate = timeKernel(*two, [&] { two->run(); }, 2e-4, options);
  // Not a bound on noise, but on blunders.
  EXPECT_GT(estimate.score, 0.05);
  EXPECT_LT(estimate.score, 20);
}

TEST_F(ThreadsTest, APoolNeedsItsCPUs) {
  Payload payload = makeDouble();
  WorkerPoolOptions options;
  options.workDir = ::testing::TempDir() + "threads-test";
  options.lowering.threads = 4096;
  auto pool = WorkerPool::create(payload, getHardware(), options);
  ASSERT_FALSE(bool(pool));
  EXPECT_NE(llvm::toString(pool.takeError())
                .find("a kernel of 4096 threads needs as many CPUs"),
            std::string::npos);
}

TEST(OpenMPRuntimeTest, AMissingLibraryIsNamed) {
  setenv("CWM_OPENMP_LIBRARY", "/nowhere/libomp.so", 1);
  EXPECT_FALSE(bool(loadOpenMPRuntime(1)));
  llvm::Error error = loadOpenMPRuntime(2);
  unsetenv("CWM_OPENMP_LIBRARY");
  ASSERT_TRUE(bool(error));
  std::string message = llvm::toString(std::move(error));
  EXPECT_NE(message.find("/nowhere/libomp.so"), std::string::npos);
  EXPECT_NE(message.find("libomp-22-dev"), std::string::npos);
}

} // namespace
