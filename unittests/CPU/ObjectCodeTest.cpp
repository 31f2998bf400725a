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
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <cstring>

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

TEST_F(ObjectCodeTest, ConstantsArePackedOnce) {
  cwm::LoadedKernel kernel = load(R"mlir(
    func.func @kernel(%x: memref<4xf32>, %w: memref<2x2xf32> {cwm.constant}, %r: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %transposed = memref.alloc() : memref<2x2xf32>
      linalg.transpose ins(%w : memref<2x2xf32>) outs(%transposed : memref<2x2xf32>) permutation = [1, 0]
      %flat = memref.collapse_shape %transposed [[0, 1]] : memref<2x2xf32> into memref<4xf32>
      scf.for %i = %c0 to %c4 step %c1 {
        %0 = memref.load %x[%i] : memref<4xf32>
        %1 = memref.load %flat[%i] : memref<4xf32>
        %2 = arith.addf %0, %1 : f32
        memref.store %2, %r[%i] : memref<4xf32>
      }
      return
    })mlir",
                                  getHardware(R"({"cpu": "x86-64"})"));
  std::vector<float> x{10, 20, 30, 40}, w{1, 2, 3, 4}, r(4);
  void *buffers[] = {x.data(), w.data(), r.data()};
  const std::vector<float> first{11, 23, 32, 44}, second{15, 20, 35, 40};
  kernel(buffers);
  EXPECT_EQ(r, first);

  r.assign(4, -1);
  kernel.prepack(buffers);
  kernel(buffers);
  EXPECT_EQ(r, first);
  // Calls no longer look at the constants; until they are packed again.
  w = {5, 5, 0, 0};
  buffers[1] = w.data();
  r.assign(4, -1);
  kernel(buffers);
  EXPECT_EQ(r, first);
  kernel.prepack(buffers);
  kernel(buffers);
  EXPECT_EQ(r, second);
  w = {1, 2, 3, 4};
  kernel.dropPacked();
  kernel(buffers);
  EXPECT_EQ(r, first);
}

TEST_F(ObjectCodeTest, NothingToPackIsNoError) {
  cwm::LoadedKernel kernel = load(matmul, getHardware(R"({"cpu": "x86-64"})"));
  std::vector<float> a(7 * 13, 1), b(13 * 9, 2), c(7 * 9, NAN);
  void *buffers[] = {a.data(), b.data(), c.data()};
  kernel.prepack(buffers);
  kernel(buffers);
  EXPECT_EQ(c, std::vector<float>(7 * 9, 26));
}

/// A function for each shape would take longer to compile than all in one.
TEST_F(ObjectCodeTest, TransposesOfEveryShape) {
  constexpr int64_t shapes[][2] = {
      {2, 2},  {2, 7},   {3, 5},   {4, 4},   {4, 16},  {5, 3},
      {6, 16}, {7, 9},   {8, 8},   {8, 16},  {12, 16}, {14, 4},
      {16, 2}, {16, 16}, {16, 32}, {17, 19}, {32, 16}};
  for (StringRef element : {"f32", "i64"}) {
    std::string arguments, body;
    for (const auto &[index, shape] : llvm::enumerate(shapes)) {
      auto type = [&](int64_t rows, int64_t columns) {
        return llvm::formatv("{0}x{1}x{2}>", rows, columns, element).str();
      };
      std::string from = type(shape[0], shape[1]);
      std::string to = type(shape[1], shape[0]);
      arguments += llvm::formatv("{0}%a{1}: memref<{2}, %b{1}: memref<{3}",
                                 index ? ", " : "", index, from, to);
      body += llvm::formatv(
          R"mlir(
      %r{0} = vector.transfer_read %a{0}[%c0, %c0], %pad {{in_bounds = [true, true]} : memref<{1}, vector<{1}
      %t{0} = vector.transpose %r{0}, [1, 0] : vector<{1} to vector<{2}
      vector.transfer_write %t{0}, %b{0}[%c0, %c0] {{in_bounds = [true, true]} : vector<{2}, memref<{2})mlir",
          index, from, to);
    }
    cwm::LoadedKernel kernel = load(
        llvm::formatv("func.func @kernel({0}) {{\n%c0 = arith.constant 0 : "
                      "index\n%pad = ub.poison : {1}{2}\nreturn\n}",
                      arguments, element, body)
            .str(),
        getHardware(R"({"cpu": "x86-64"})"));
    size_t bytes = element == "f32" ? 4 : 8;
    std::vector<std::vector<char>> storage;
    std::vector<void *> buffers;
    for (const auto &shape : shapes) {
      int64_t count = shape[0] * shape[1];
      std::vector<char> from(count * bytes), to(count * bytes, char(0xff));
      for (int64_t i = 0; i < count; ++i) {
        auto real = static_cast<float>(i);
        std::memcpy(from.data() + i * bytes,
                    bytes == 4 ? static_cast<const void *>(&real) : &i, bytes);
      }
      storage.push_back(std::move(from));
      storage.push_back(std::move(to));
    }
    for (std::vector<char> &buffer : storage)
      buffers.push_back(buffer.data());
    kernel(buffers.data());
    for (const auto &[index, shape] : llvm::enumerate(shapes))
      for (int64_t r = 0; r < shape[0]; ++r)
        for (int64_t c = 0; c < shape[1]; ++c)
          ASSERT_EQ(
              std::memcmp(
                  storage[2 * index].data() + (r * shape[1] + c) * bytes,
                  storage[2 * index + 1].data() + (c * shape[0] + r) * bytes,
                  bytes),
              0)
              << element.str() << " " << shape[0] << "x" << shape[1] << " at "
              << r << "," << c;
  }
}

TEST_F(ObjectCodeTest, VectorsOfBooleansReadBytes) {
  cwm::LoadedKernel kernel = load(R"mlir(
    func.func @kernel(%p: memref<16xi1>, %x: memref<16xf32>, %y: memref<16xf32>, %q: memref<20xi1>) {
      %c = arith.constant 0 : index
      %c6 = arith.constant 6 : index
      %no = arith.constant false
      %zero = arith.constant dense<0.0> : vector<16xf32>
      %a = vector.load %x[%c] : memref<16xf32>, vector<16xf32>
      %b = vector.transfer_read %p[%c], %no {in_bounds = [true]} : memref<16xi1>, vector<16xi1>
      %r = arith.select %b, %a, %zero : vector<16xi1>, vector<16xf32>
      vector.store %r, %y[%c] : memref<16xf32>, vector<16xf32>
      %n = arith.cmpf ogt, %a, %zero : vector<16xf32>
      // Two lanes would be behind the end, and every second one is masked.
      %m = arith.constant dense<[1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]> : vector<16xi1>
      vector.transfer_write %n, %q[%c6], %m {in_bounds = [false]} : vector<16xi1>, memref<20xi1>
      return
    })mlir",
                                  getHardware(R"({"cpu": "x86-64"})"));
  uint8_t p[16], q[20];
  float x[16], y[16];
  for (int i = 0; i < 16; ++i) {
    p[i] = i % 3 == 0;
    x[i] = static_cast<float>(i % 5 - 2);
  }
  memset(q, 1, sizeof(q));
  void *buffers[] = {p, x, y, q};
  kernel(buffers);
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ(y[i], i % 3 == 0 ? x[i] : 0) << i;
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(q[i], i >= 6 && i % 2 == 0 ? x[i - 6] > 0 : 1) << i;
}

TEST_F(ObjectCodeTest, WhatCannotBeBufferisedIsDecomposed) {
  cwm::LoadedKernel kernel = load(R"mlir(
    func.func @kernel(%x: tensor<3x5xf32>) -> (tensor<2x2x2x4xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<6x5xf32>) {
      %pad = arith.constant 7.0 : f32
      %table = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [1.5, 2.5, 3.5, 4.5, 5.5], [0.0, 1.0, 0.0, 1.0, 0.0]]> : tensor<3x5xf32>
      %e0 = tensor.empty() : tensor<2x2x2x4xf32>
      %packed = linalg.pack %x padding_value(%pad : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %e0 : tensor<3x5xf32> -> tensor<2x2x2x4xf32>
      %e1 = tensor.empty() : tensor<3x5xf32>
      %back = linalg.unpack %packed inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %e1 : tensor<2x2x2x4xf32> -> tensor<3x5xf32>
      %sum = arith.addf %back, %table : tensor<3x5xf32>
      %soft = linalg.softmax dimension(1) ins(%x : tensor<3x5xf32>) outs(%e1 : tensor<3x5xf32>) -> tensor<3x5xf32>
      %both = tensor.concat dim(0) %x, %table : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<6x5xf32>
      return %packed, %sum, %soft, %both : tensor<2x2x2x4xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<6x5xf32>
    })mlir",
                                  getHardware(R"({"cpu": "x86-64"})"));
  const float table[3][5] = {
      {1, 2, 3, 4, 5}, {1.5, 2.5, 3.5, 4.5, 5.5}, {0, 1, 0, 1, 0}};
  float x[3][5], packed[2][2][2][4], sum[3][5], soft[3][5], both[6][5];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j)
      x[i][j] = static_cast<float>(i * 5 + j) / 4;
  void *buffers[] = {x, packed, sum, soft, both};
  kernel(buffers);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 8; ++j)
      EXPECT_EQ(packed[i / 2][j / 4][i % 2][j % 4],
                i < 3 && j < 5 ? x[i][j] : 7);
  for (int i = 0; i < 3; ++i) {
    float total = 0;
    for (int j = 0; j < 5; ++j)
      total += std::exp(x[i][j]);
    for (int j = 0; j < 5; ++j) {
      EXPECT_EQ(sum[i][j], x[i][j] + table[i][j]);
      EXPECT_NEAR(soft[i][j], std::exp(x[i][j]) / total, 1e-6);
      EXPECT_EQ(both[i][j], x[i][j]);
      EXPECT_EQ(both[i + 3][j], table[i][j]);
    }
  }
}

TEST_F(ObjectCodeTest, VectorsThatAScheduleLeftAreLowered) {
  // A contraction, a transposed read behind the end of its source, a masked
  // reduction, and a loop over tiles that is still on tensors.
  cwm::LoadedKernel kernel = load(R"mlir(
    #a = affine_map<(i, j, k) -> (i, k)>
    #b = affine_map<(i, j, k) -> (k, j)>
    #c = affine_map<(i, j, k) -> (i, j)>
    #transposed = affine_map<(i, j) -> (j, i)>
    func.func @kernel(%x: tensor<6x4xf32>, %y: tensor<4x3xf32>) -> (tensor<6x3xf32>, tensor<1xf32>) {
      %i0 = arith.constant 0 : index
      %zero = arith.constant 0.0 : f32
      %acc = arith.constant dense<0.0> : vector<2x4xf32>
      %e = tensor.empty() : tensor<6x3xf32>
      %bt = vector.transfer_read %y[%i0, %i0], %zero {permutation_map = #transposed, in_bounds = [false, true]} : tensor<4x3xf32>, vector<4x4xf32>
      %b = vector.transpose %bt, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
      %r = scf.forall (%t) in (3) shared_outs(%o = %e) -> tensor<6x3xf32> {
        %row = affine.apply affine_map<(d0) -> (2 * d0)>(%t)
        %s = tensor.extract_slice %o[%row, 0] [2, 3] [1, 1] : tensor<6x3xf32> to tensor<2x3xf32>
        %a = vector.transfer_read %x[%row, %i0], %zero {in_bounds = [true, true]} : tensor<6x4xf32>, vector<2x4xf32>
        %p = vector.contract {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %acc : vector<2x4xf32>, vector<4x4xf32> into vector<2x4xf32>
        %w = vector.transfer_write %p, %s[%i0, %i0] {in_bounds = [true, false]} : vector<2x4xf32>, tensor<2x3xf32>
        scf.forall.in_parallel {
          tensor.parallel_insert_slice %w into %o[%row, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<6x3xf32>
        }
      }
      %mask = vector.constant_mask [1, 3] : vector<2x4xi1>
      %a0 = vector.transfer_read %x[%i0, %i0], %zero {in_bounds = [true, true]} : tensor<6x4xf32>, vector<2x4xf32>
      %sum = vector.mask %mask { vector.multi_reduction <add>, %a0, %zero [0, 1] : vector<2x4xf32> to f32 } : vector<2x4xi1> -> f32
      %e1 = tensor.empty() : tensor<1xf32>
      %total = tensor.insert %sum into %e1[%i0] : tensor<1xf32>
      return %r, %total : tensor<6x3xf32>, tensor<1xf32>
    })mlir",
                                  getHardware(R"({"cpu": "haswell"})"));
  float x[6][4], y[4][3], r[6][3], total;
  for (int i = 0; i < 24; ++i)
    x[i / 4][i % 4] = static_cast<float>(i % 7 - 3);
  for (int i = 0; i < 12; ++i)
    y[i / 3][i % 3] = static_cast<float>(i % 5 - 1);
  void *buffers[] = {x, y, r, &total};
  kernel(buffers);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 3; ++j) {
      float sum = 0;
      for (int k = 0; k < 4; ++k)
        sum += x[i][k] * y[k][j];
      EXPECT_EQ(r[i][j], sum) << i << "," << j;
    }
  EXPECT_EQ(total, x[0][0] + x[0][1] + x[0][2]);
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
