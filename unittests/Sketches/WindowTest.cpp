//===- WindowTest.cpp - Convolutions and pools ------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sketches/Convolution.h"
#include "Sketches/Library.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using cwm::WindowLoop;

namespace {

class WindowTest : public ::testing::Test {
protected:
  WindowTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerAllExtensions(registry);
    context.appendDialectRegistry(registry);
    hardware.cpu = "test";
    hardware.vectorBits = 512;
    hardware.numVectorRegisters = 32;
    hardware.l1Bytes = 48 * 1024;
    hardware.l2Bytes = 2 * 1024 * 1024;
  }

  /// `op` of operands of the given shapes on a filled result.
  std::string make(StringRef op, StringRef x, StringRef k, StringRef result) {
    return ("func.func @kernel(%x: tensor<" + x + ">, %k: tensor<" + k +
            ">) -> tensor<" + result +
            "> {\n  %z = arith.constant 0.0 : f32\n" +
            "  %e = tensor.empty() : tensor<" + result +
            ">\n  %i = linalg.fill ins(%z : f32) outs(%e : tensor<" + result +
            ">) -> tensor<" + result + ">\n  %r = linalg." + op +
            " ins(%x, %k : tensor<" + x + ">, tensor<" + k +
            ">) outs(%i : tensor<" + result + ">) -> tensor<" + result +
            ">\n  return %r : tensor<" + result + ">\n}\n")
        .str();
  }

  std::optional<cwm::WindowPayload> analyse(StringRef source) {
    FailureOr<cwm::Payload> payload =
        cwm::Payload::create(parseSourceString<ModuleOp>(source, &context));
    EXPECT_TRUE(succeeded(payload)) << source.str();
    return cwm::analyseWindow(*payload, &why);
  }

  static std::string getLoops(const cwm::WindowPayload &window) {
    std::string text;
    for (WindowLoop loop : window.loops)
      text += "BIFDCW"[static_cast<int>(loop)];
    return text;
  }

  MLIRContext context;
  cwm::HardwareDescription hardware;
  std::string why;
};

TEST_F(WindowTest, LoopsAreInTheOrderOfTheResultThenTheFilter) {
  auto grouped = analyse(make("conv_2d_ngchw_fgchw", "1x3x4x9x11xf32",
                              "8x3x4x2x5xf32", "1x3x8x8x7xf32"));
  ASSERT_TRUE(grouped) << why;
  EXPECT_EQ(getLoops(*grouped), "BDFIICWW");
  EXPECT_EQ(grouped->extents, (SmallVector<int64_t>{1, 3, 8, 8, 7, 4, 2, 5}));
  EXPECT_EQ(grouped->filter, (SmallVector<int64_t>{2, 1, 5, 6, 7}));
  EXPECT_TRUE(grouped->isMultiplyAdd);
  EXPECT_FALSE(grouped->isStrided());
  EXPECT_EQ(grouped->paddedRank, 0);
  // The op has its channels after the image: (n, h, w, c, kh, kw).
  auto depthwise = analyse(make(
      "depthwise_conv_2d_nchw_chw {strides = dense<[1, 2]> : vector<2xi64>}",
      "2x3x9x11xf32", "3x2x3xf32", "2x3x8x5xf32"));
  ASSERT_TRUE(depthwise) << why;
  EXPECT_EQ(getLoops(*depthwise), "BDIIWW");
  EXPECT_EQ(depthwise->order, (SmallVector<int64_t>{0, 3, 1, 2, 4, 5}));
  EXPECT_TRUE(depthwise->isStrided());
  auto pool =
      analyse(make("pooling_nwc_max", "2x9x4xf32", "3xf32", "2x7x4xf32"));
  ASSERT_TRUE(pool) << why;
  EXPECT_EQ(getLoops(*pool), "BIBW");
  EXPECT_FALSE(pool->isMultiplyAdd);
}

TEST_F(WindowTest, OtherPayloadsAreNoWindows) {
  EXPECT_FALSE(analyse(make("matmul", "4x5xf32", "5x6xf32", "4x6xf32")));
  EXPECT_EQ(why, "no window that slides");
  // Reads the input where its square is meant: no sum of products of both.
  auto square = analyse(R"mlir(
    func.func @kernel(%x: tensor<9xf32>, %k: tensor<3xf32>) -> tensor<7xf32> {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<7xf32>
      %i = linalg.fill ins(%z : f32) outs(%e : tensor<7xf32>) -> tensor<7xf32>
      %r = linalg.generic {
          indexing_maps = [affine_map<(w, k) -> (w + k)>,
                           affine_map<(w, k) -> (k)>, affine_map<(w, k) -> (w)>],
          iterator_types = ["parallel", "reduction"]}
          ins(%x, %k : tensor<9xf32>, tensor<3xf32>) outs(%i : tensor<7xf32>) {
        ^bb0(%a: f32, %b: f32, %c: f32):
          %p = arith.mulf %a, %a : f32
          %s = arith.addf %c, %p : f32
          linalg.yield %s : f32
      } -> tensor<7xf32>
      return %r : tensor<7xf32>
    })mlir");
  ASSERT_TRUE(square) << why;
  EXPECT_FALSE(square->isMultiplyAdd);
  // Bufferisation would write into an argument.
  EXPECT_FALSE(analyse(R"mlir(
    func.func @kernel(%x: tensor<9xf32>, %k: tensor<3xf32>, %i: tensor<7xf32>)
        -> tensor<7xf32> {
      %r = linalg.conv_1d ins(%x, %k : tensor<9xf32>, tensor<3xf32>)
          outs(%i : tensor<7xf32>) -> tensor<7xf32>
      return %r : tensor<7xf32>
    })mlir"));
  EXPECT_EQ(why, "an initial value that is not computed for this use");
}

TEST_F(WindowTest, BlocksOfPaddedChannelsDivideThem) {
  auto window = analyse(R"mlir(
    func.func @kernel(%x: tensor<1x56x56x96xf32>, %k: tensor<3x3x96xf32>)
        -> tensor<1x56x56x96xf32> {
      %z = arith.constant 0.0 : f32
      %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
      ^bb0(%a: index, %b: index, %c: index, %d: index):
        tensor.yield %z : f32
      } : tensor<1x56x56x96xf32> to tensor<1x58x58x96xf32>
      %e = tensor.empty() : tensor<1x56x56x96xf32>
      %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x56x56x96xf32>)
          -> tensor<1x56x56x96xf32>
      %r = linalg.depthwise_conv_2d_nhwc_hwc
          ins(%p, %k : tensor<1x58x58x96xf32>, tensor<3x3x96xf32>)
          outs(%i : tensor<1x56x56x96xf32>) -> tensor<1x56x56x96xf32>
      return %r : tensor<1x56x56x96xf32>
    })mlir");
  ASSERT_TRUE(window) << why;
  EXPECT_EQ(window->paddedRank, 4);
  EXPECT_TRUE(
      cwm::fitConvolution(*window, hardware, /*threads=*/1, &context).empty());
  auto sketches = cwm::fitWindow(*window, hardware, /*threads=*/1, &context);
  ASSERT_EQ(sketches.size(), 2u);
  EXPECT_EQ(sketches[0].name, "window-inside");
  EXPECT_EQ(sketches[1].name, "window");
  EXPECT_EQ(sketches[0].getFile(), "window");
  Builder builder(&context);
  auto row = [&](ArrayRef<int64_t> values) {
    return builder.getArrayAttr(builder.getDenseI64ArrayAttr(values));
  };
  EXPECT_EQ(sketches[0].options.lookup("inside"), row({0, 1, 1, 0}));
  EXPECT_EQ(sketches[0].options.lookup("inside_sizes"), row({1, 54, 54, 96}));
  EXPECT_EQ(sketches[1].options.lookup("block"),
            builder.getI64ArrayAttr({16, 32, 48, 96}));
  EXPECT_EQ(sketches[1].templates.lookup("tile"),
            builder.getArrayAttr(
                {builder.getI64IntegerAttr(0), builder.getI64IntegerAttr(1),
                 builder.getStringAttr("rows"), builder.getStringAttr("v")}));
}

TEST_F(WindowTest, InsideOfStridedAndDilatedWindows) {
  // Padded to 4 + 11 + 1: windows of 5 elements, 2 apart, begin at 0, 3, 6 and
  // 9; the first two reach into the padding before, the last ends at 14.
  auto window = analyse(R"mlir(
    func.func @kernel(%x: tensor<1x11x32xf32>) -> tensor<1x4x32xf32> {
      %z = arith.constant 0.0 : f32
      %p = tensor.pad %x low[0, 4, 0] high[0, 1, 0] {
      ^bb0(%a: index, %b: index, %c: index):
        tensor.yield %z : f32
      } : tensor<1x11x32xf32> to tensor<1x16x32xf32>
      %e = tensor.empty() : tensor<1x4x32xf32>
      %i = linalg.fill ins(%z : f32) outs(%e : tensor<1x4x32xf32>)
          -> tensor<1x4x32xf32>
      %k = tensor.empty() : tensor<3xf32>
      %r = linalg.pooling_nwc_sum {strides = dense<3> : vector<1xi64>,
                                   dilations = dense<2> : vector<1xi64>}
          ins(%p, %k : tensor<1x16x32xf32>, tensor<3xf32>)
          outs(%i : tensor<1x4x32xf32>) -> tensor<1x4x32xf32>
      return %r : tensor<1x4x32xf32>
    })mlir");
  ASSERT_TRUE(window) << why;
  auto sketches = cwm::fitWindow(*window, hardware, /*threads=*/1, &context);
  ASSERT_EQ(sketches.size(), 2u);
  Builder builder(&context);
  EXPECT_EQ(sketches[0].options.lookup("inside"),
            builder.getArrayAttr(builder.getDenseI64ArrayAttr({0, 2, 0})));
  EXPECT_EQ(sketches[0].options.lookup("inside_sizes"),
            builder.getArrayAttr(builder.getDenseI64ArrayAttr({1, 2, 32})));
}

TEST_F(WindowTest, DefaultTileOfChannelsLastLeavesRegisters) {
  auto getTile = [&](StringRef source) {
    auto window = analyse(source);
    auto sketches =
        cwm::fitConvolution(*window, hardware, /*threads=*/1, &context);
    auto get = [&](StringRef knob) {
      ArrayAttr options = sketches.front().options.lookup(knob);
      return cast<IntegerAttr>(options[sketches.front().defaults.lookup(knob)])
          .getInt();
    };
    return std::pair(get("f"), get("w"));
  };
  // 28 accumulators and 3 operands fill the 32 registers.
  EXPECT_EQ(getTile(make("conv_2d_nchw_fchw", "1x64x30x30xf32", "64x64x3x3xf32",
                         "1x64x28x28xf32")),
            (std::pair<int64_t, int64_t>(32, 14)));
  auto [f, w] = getTile(make("conv_2d_nhwc_hwcf", "1x30x30x64xf32",
                             "3x3x64x64xf32", "1x28x28x64xf32"));
  EXPECT_EQ(f, 32);
  EXPECT_LE(w, 12);
  EXPECT_GE(w, 7);
}

TEST_F(WindowTest, TemplatesReplaceKnobsOfTheirName) {
  auto schedule = parseSourceString<ModuleOp>(R"mlir(
    module attributes {transform.with_named_sequence} {
      transform.named_sequence @__transform_main(%m: !transform.any_op) {
        %t, %l = transform.structured.tile_using_for %m tile_sizes [1]
            {cwm.bind = {static_sizes = {knob = "tile", options = [[1]]},
                         interchange = {knob = "other", options = [[0]]}}}
            : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
        transform.yield
      }
    })mlir",
                                              &context);
  ASSERT_TRUE(schedule);
  llvm::StringMap<ArrayAttr> templates;
  Builder builder(&context);
  templates["tile"] = builder.getArrayAttr(
      {builder.getI64IntegerAttr(2), builder.getStringAttr("n")});
  cwm::fillTemplates(*schedule, templates);
  unsigned bound = 0;
  schedule->walk([&](Operation *op) {
    auto bind = op->getAttrOfType<DictionaryAttr>("cwm.bind");
    if (!bind)
      return;
    ++bound;
    EXPECT_EQ(bind.get("static_sizes"), templates["tile"]);
    EXPECT_TRUE(isa<DictionaryAttr>(bind.get("interchange")));
  });
  EXPECT_EQ(bound, 1u);
}

} // namespace
