//===- ObjectCodeTest.cpp - From a payload to a running kernel --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"

#include "llvm-c/Disassembler.h"
#include "llvm-c/Target.h"
#include "llvm/Object/ObjectFile.h"

#include <cmath>

using namespace mlir;

namespace {

using ObjectCodeTest = KernelFixture;

constexpr StringLiteral matmul = R"mlir(
func.func @kernel(%a: tensor<7x13xf32>, %b: tensor<13x9xf32>) -> tensor<7x9xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x9xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<7x9xf32>) -> tensor<7x9xf32>
  %r = linalg.matmul ins(%a, %b : tensor<7x13xf32>, tensor<13x9xf32>)
                     outs(%f : tensor<7x9xf32>) -> tensor<7x9xf32>
  return %r : tensor<7x9xf32>
})mlir";

TEST_F(ObjectCodeTest, MatmulGivesTheRightNumbers) {
  auto hardware = cwm::probeHardware();
  ASSERT_TRUE(bool(hardware));
  auto object = compile(matmul, *hardware);
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  auto bytes = cwm::getCodeBytes(*object);
  ASSERT_TRUE(bool(bytes));
  EXPECT_GT(*bytes, 0);
  EXPECT_LT(*bytes, static_cast<int64_t>(object->size()));
  auto kernel = cwm::LoadedKernel::load(*object);
  ASSERT_TRUE(bool(kernel)) << llvm::toString(kernel.takeError());

  std::vector<float> a(7 * 13), b(13 * 9), c(7 * 9, NAN);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<float>(i % 5) - 2;
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<float>(i % 7) - 3;
  void *buffers[] = {a.data(), b.data(), c.data()};
  (*kernel)(buffers);
  for (size_t i = 0; i < 7; ++i)
    for (size_t j = 0; j < 9; ++j) {
      float sum = 0; // small integers: exact in any order
      for (size_t k = 0; k < 13; ++k)
        sum += a[i * 13 + k] * b[k * 9 + j];
      EXPECT_EQ(c[i * 9 + j], sum) << i << "," << j;
    }
}

TEST_F(ObjectCodeTest, InputsAreNeverWritten) {
  // In place, this would add to its input at each call.
  auto object = compile(R"mlir(
    func.func @kernel(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %r = linalg.add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
      return %r, %x : tensor<4xf32>, tensor<4xf32>
    })mlir",
                        getHardware(R"({"cpu": "x86-64"})"));
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  auto kernel = cwm::LoadedKernel::load(*object);
  ASSERT_TRUE(bool(kernel));
  std::vector<float> x{1, 2, 3, 4}, y{10, 20, 30, 40}, sum(4), copy(4);
  void *buffers[] = {x.data(), y.data(), sum.data(), copy.data()};
  (*kernel)(buffers);
  (*kernel)(buffers);
  EXPECT_EQ(y, (std::vector<float>{10, 20, 30, 40}));
  EXPECT_EQ(sum, (std::vector<float>{11, 22, 33, 44}));
  EXPECT_EQ(copy, x);
}

TEST_F(ObjectCodeTest, RankZeroAndTheSameResultTwice) {
  auto object = compile(R"mlir(
    #in = affine_map<(d0) -> (d0)>
    #out = affine_map<(d0) -> ()>
    func.func @kernel(%x: tensor<5xf64>) -> (tensor<f64>, tensor<f64>) {
      %zero = arith.constant 0.0 : f64
      %e = tensor.empty() : tensor<f64>
      %f = linalg.fill ins(%zero : f64) outs(%e : tensor<f64>) -> tensor<f64>
      %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]}
          ins(%x : tensor<5xf64>) outs(%f : tensor<f64>) {
      ^bb0(%in: f64, %out: f64):
        %s = arith.addf %in, %out : f64
        linalg.yield %s : f64
      } -> tensor<f64>
      return %r, %r : tensor<f64>, tensor<f64>
    })mlir",
                        getHardware(R"({"cpu": "x86-64"})"));
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  auto kernel = cwm::LoadedKernel::load(*object);
  ASSERT_TRUE(bool(kernel));
  double x[5] = {1, 2, 3, 4, 5}, first = NAN, second = NAN;
  void *buffers[] = {x, &first, &second};
  (*kernel)(buffers);
  EXPECT_EQ(first, 15);
  EXPECT_EQ(second, 15);
}

/// Assembly of all code in `object`, as LLVM prints it.
std::string disassemble(ArrayRef<char> object) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeDisassembler();
  auto file = llvm::cantFail(
      llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(
          StringRef(object.data(), object.size()), "kernel")));
  // Every feature, so that no instruction is unknown.
  LLVMDisasmContextRef disassembler = LLVMCreateDisasmCPUFeatures(
      file->makeTriple().str().c_str(), "",
      "+avx512f,+avx512vl,+avx512bw,+avx512dq", nullptr, 0, nullptr, nullptr);
  std::string text;
  for (const llvm::object::SectionRef &section : file->sections()) {
    if (!section.isText())
      continue;
    std::string bytes = llvm::cantFail(section.getContents()).str();
    auto *data = reinterpret_cast<uint8_t *>(bytes.data());
    for (size_t at = 0; at < bytes.size();) {
      char line[128];
      size_t size = LLVMDisasmInstruction(
          disassembler, data + at, bytes.size() - at, at, line, sizeof(line));
      EXPECT_NE(size, 0u) << "unknown instruction";
      at += std::max<size_t>(1, size);
      text += line;
      text += '\n';
    }
  }
  LLVMDisasmDispose(disassembler);
  return text;
}

TEST_F(ObjectCodeTest, CodeKeepsToTheHardwareFile) {
  // 16 lanes: one register of AVX-512, two of AVX2, four of SSE.
  constexpr StringLiteral source = R"mlir(
    func.func @kernel(%x: memref<16xf32>, %y: memref<16xf32>) {
      %c = arith.constant 0 : index
      %a = vector.load %x[%c] : memref<16xf32>, vector<16xf32>
      %b = vector.load %y[%c] : memref<16xf32>, vector<16xf32>
      %r = vector.fma %a, %b, %b : vector<16xf32>
      vector.store %r, %y[%c] : memref<16xf32>, vector<16xf32>
      return
    })mlir";
  auto contains = [&](const cwm::HardwareDescription &hardware,
                      StringRef text) {
    auto object = compile(source, hardware);
    EXPECT_TRUE(bool(object));
    return StringRef(disassemble(*object)).contains(text);
  };
  auto avx2 = cwm::HardwareDescription::fromFile(
      CWM_SOURCE_DIR "/test/Target/CPU/Inputs/avx2.json");
  ASSERT_TRUE(bool(avx2)) << llvm::toString(avx2.takeError());
  EXPECT_EQ(avx2->vectorBits, 256);
  EXPECT_TRUE(contains(*avx2, "%ymm"));
  EXPECT_TRUE(contains(*avx2, "vfmadd"));
  EXPECT_FALSE(contains(*avx2, "%zmm"));
  EXPECT_TRUE(contains(getHardware(R"({"cpu": "skylake-avx512"})"), "%zmm"));
  EXPECT_FALSE(contains(getHardware(R"({"cpu": "x86-64"})"), "%ymm"));
}

TEST_F(ObjectCodeTest, MissingSymbolsAreNamed) {
  auto object = compile(R"mlir(
    llvm.func @cwm_test_missing_symbol(!llvm.ptr)
    llvm.func @kernel(%p: !llvm.ptr) {
      llvm.call @cwm_test_missing_symbol(%p) : (!llvm.ptr) -> ()
      llvm.return
    })mlir",
                        getHardware(R"({"cpu": "x86-64"})"));
  ASSERT_TRUE(bool(object)) << llvm::toString(object.takeError());
  auto kernel = cwm::LoadedKernel::load(*object);
  ASSERT_FALSE(bool(kernel));
  EXPECT_NE(llvm::toString(kernel.takeError()).find("cwm_test_missing_symbol"),
            std::string::npos);
}

TEST_F(ObjectCodeTest, RefusesWhatHasNoPackedEntry) {
  auto expectError = [&](StringRef source, StringRef message) {
    auto object = compile(source, getHardware(R"({"cpu": "x86-64"})"));
    ASSERT_FALSE(bool(object));
    std::string text = llvm::toString(object.takeError());
    EXPECT_NE(text.find(message), std::string::npos) << text;
  };
  expectError("module {}", "the lowered module has no function @kernel");
  expectError("llvm.func @kernel()", "the lowered module has no function");
  expectError("llvm.func @kernel(%x: f32) { llvm.return }",
              "argument #0 of @kernel is not a bare pointer");
  expectError("llvm.func @kernel(%p: !llvm.ptr) -> !llvm.ptr { llvm.return %p "
              ": !llvm.ptr }",
              "@kernel still returns a value");
}

} // namespace
