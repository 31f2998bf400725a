//===- TypesTest.cpp - Sketches of products of narrow types -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SketchesTest.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using cwm::test::SketchesTest;

namespace {

/// A product of 64 x 96 x 128 with elements `in` and sums `out`.
std::string makeNarrowMatmul(StringRef in, StringRef out) {
  StringRef zero = out.starts_with("i") ? "0" : "0.0";
  return llvm::formatv(R"mlir(
    func.func @f(%a: tensor<64x128x{0}>, %b: tensor<128x96x{0}>) -> tensor<64x96x{1}> {{
      %z = arith.constant {2} : {1}
      %e = tensor.empty() : tensor<64x96x{1}>
      %i = linalg.fill ins(%z : {1}) outs(%e : tensor<64x96x{1}>) -> tensor<64x96x{1}>
      %r = linalg.matmul ins(%a, %b : tensor<64x128x{0}>, tensor<128x96x{0}>) outs(%i : tensor<64x96x{1}>) -> tensor<64x96x{1}>
      return %r : tensor<64x96x{1}>
    })mlir",
                       in, out, zero)
      .str();
}

TEST_F(SketchesTest, TypesOfSumsOfProducts) {
  EXPECT_EQ(whyNot(makeNarrowMatmul("i8", "i16")),
            "not a sum of products in f32, f64, i32 or i64");
  EXPECT_EQ(whyNot(makeNarrowMatmul("bf16", "bf16")),
            "not a sum of products in f32, f64, i32 or i64");
  for (auto [in, out] : {std::pair<StringRef, StringRef>{"f16", "f32"},
                         {"f16", "f16"},
                         {"bf16", "f32"},
                         {"bf16", "bf16"},
                         {"i8", "i32"},
                         {"f32", "f64"}})
    EXPECT_EQ(names(makeNarrowMatmul(in, out)), "contraction-packed fallback")
        << in.str() << " " << out.str();
  EXPECT_EQ(names(makeNarrowMatmul("i32", "i32")),
            "contraction-direct contraction-packed fallback");
}

TEST_F(SketchesTest, DotProductsNeedInstructions) {
  std::string halves = makeNarrowMatmul("bf16", "f32");
  std::string rounded = makeNarrowMatmul("bf16", "bf16");
  std::string bytes = makeNarrowMatmul("i8", "i32");
  StringRef dot = "contraction-dot contraction-packed fallback";
  StringRef none = "contraction-packed fallback";
  auto fit = [&](StringRef cpu, StringRef features) {
    hardware.cpu = cpu.str();
    hardware.features = features.str();
    return std::pair(names(halves) == dot, names(bytes) == dot);
  };
  EXPECT_EQ(fit("sapphirerapids", "+amx-tile,+amx-bf16"),
            std::pair(true, false));
  EXPECT_EQ(names(rounded), dot);
  EXPECT_EQ(names(makeNarrowMatmul("f16", "f32")), none);
  EXPECT_EQ(fit("sapphirerapids", "+amx-tile,+amx-int8"),
            std::pair(false, true));
  EXPECT_EQ(fit("sapphirerapids", "-amx-tile,+amx-int8"),
            std::pair(false, false));
  EXPECT_EQ(fit("sapphirerapids", "+avx512bf16,+avx512vnni"),
            std::pair(false, true));
  EXPECT_EQ(fit("znver4", "+avx512bf16,+avx512vnni"), std::pair(true, true));
  hardware.vectorBits = 256;
  EXPECT_EQ(fit("znver4", "+avx512bf16,+avx512vnni"), std::pair(false, false));
}

/// One padded tile and what follows it would share a tensor, which vectors
/// under a mask cannot.
TEST_F(SketchesTest, DotProductTilesLeaveSeveralBeforeAnElementwiseOp) {
  hardware.cpu = "sapphirerapids";
  hardware.features = "+amx-tile,+amx-bf16";
  auto getTiles = [&](int64_t m, int64_t n) -> std::string {
    auto spaces = build(llvm::formatv(R"mlir(
      #id = affine_map<(i, j) -> (i, j)>
      func.func @f(%a: tensor<{0}x128xbf16>, %b: tensor<128x{1}xbf16>) -> tensor<{0}x{1}xf32> {{
        %z = arith.constant 0.0 : f32
        %e = tensor.empty() : tensor<{0}x{1}xf32>
        %i = linalg.fill ins(%z : f32) outs(%e : tensor<{0}x{1}xf32>) -> tensor<{0}x{1}xf32>
        %r = linalg.matmul ins(%a, %b : tensor<{0}x128xbf16>, tensor<128x{1}xbf16>) outs(%i : tensor<{0}x{1}xf32>) -> tensor<{0}x{1}xf32>
        %n = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
            ins(%r : tensor<{0}x{1}xf32>) outs(%e : tensor<{0}x{1}xf32>) {{
        ^bb0(%x: f32, %o: f32):
          %y = arith.negf %x : f32
          linalg.yield %y : f32
        } -> tensor<{0}x{1}xf32>
        return %n : tensor<{0}x{1}xf32>
      })mlir",
                                      m, n)
                            .str());
    if (spaces.front()->getName() != "contraction-dot")
      return "";
    return getOptions(*spaces.front(), "mr") + " x " +
           getOptions(*spaces.front(), "nr");
  };
  EXPECT_EQ(getTiles(17, 17), "16 x 32,64");
  EXPECT_EQ(getTiles(12, 60), "16 x 32");
  EXPECT_EQ(getTiles(12, 12), "");
  EXPECT_EQ(getTiles(64, 17), "16,32 x 16,32,64");
}

} // namespace
