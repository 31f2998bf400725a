//===- SketchesTest.cpp - Which sketch fits which payload -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SketchesTest.h"

#include "Sketches/Library.h"

#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using cwm::test::schedules;
using cwm::test::SketchesTest;

namespace {

/// `%r = sum over k of a * b` with the given shapes and maps.
std::string makeContraction(StringRef a, StringRef b, StringRef c,
                            StringRef dims, StringRef maps,
                            StringRef iterators) {
  std::string text;
  llvm::raw_string_ostream os(text);
  SmallVector<StringRef> results;
  maps.split(results, ';');
  os << "func.func @kernel(%a: tensor<" << a << ">, %b: tensor<" << b
     << ">) -> tensor<" << c << "> {\n  %zero = arith.constant 0.0 : f32\n"
     << "  %empty = tensor.empty() : tensor<" << c << ">\n"
     << "  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<" << c
     << ">) -> tensor<" << c << ">\n  %r = linalg.generic {indexing_maps = [";
  llvm::interleaveComma(results, os, [&](StringRef result) {
    os << "affine_map<(" << dims << ") -> (" << result << ")>";
  });
  os << "], iterator_types = [";
  llvm::interleaveComma(iterators, os, [&](char kind) {
    os << (kind == 'p' ? "\"parallel\"" : "\"reduction\"");
  });
  os << "]} ins(%a, %b : tensor<" << a << ">, tensor<" << b
     << ">) outs(%init : tensor<" << c << ">) {\n"
     << "  ^bb0(%x: f32, %y: f32, %z: f32):\n"
     << "    %p = arith.mulf %x, %y : f32\n    %q = arith.addf %z, %p : f32\n"
     << "    linalg.yield %q : f32\n  } -> tensor<" << c
     << ">\n  return %r : tensor<" << c << ">\n}\n";
  return text;
}

std::string makeMatmul(int64_t m, int64_t n, int64_t k) {
  auto shape = [](int64_t a, int64_t b) {
    return std::to_string(a) + "x" + std::to_string(b) + "xf32";
  };
  return makeContraction(shape(m, k), shape(k, n), shape(m, n), "d0, d1, d2",
                         "d0, d2;d2, d1;d0, d1", "ppr");
}

TEST_F(SketchesTest, SmallMatmulIsReadInPlace) {
  EXPECT_EQ(names(makeMatmul(64, 96, 32)),
            "contraction-direct contraction-packed fallback");
}

TEST_F(SketchesTest, LargeMatmulIsPacked) {
  hardware.l2Bytes = 1 << 20;
  EXPECT_EQ(names(makeMatmul(128, 1024, 256)),
            "contraction-packed contraction-direct fallback");
  // Few rows: nothing is gained by packing the right operand.
  EXPECT_EQ(names(makeMatmul(24, 4096, 256)),
            "contraction-direct contraction-packed fallback");
}

TEST_F(SketchesTest, TilesInPlaceLeaveNoOddVectors) {
  // 17 of 49 columns would be left of tiles of 32, one of tiles of 16.
  auto spaces = build(makeMatmul(64, 49, 32));
  EXPECT_EQ(getOptions(*spaces[0], "nr"), "16");
  spaces = build(makeMatmul(64, 96, 32));
  EXPECT_EQ(getOptions(*spaces[0], "nr"), "16,32,64");
  // Steps of k that do not divide are peeled.
  spaces = build(makeMatmul(64, 96, 31));
  EXPECT_EQ(getOptions(*spaces[0], "kt"), "2,4,8");
}

TEST_F(SketchesTest, PointwiseConvolutionIsAProduct) {
  auto convolution = [](StringRef image, StringRef filter, StringRef result,
                        StringRef name) {
    return (Twine("func.func @f(%x: tensor<") + image + ">, %w: tensor<" +
            filter + ">) -> tensor<" + result +
            "> {\n %zero = arith.constant 0.0 : f32\n %e = tensor.empty() : "
            "tensor<" +
            result + ">\n %f = linalg.fill ins(%zero : f32) outs(%e : tensor<" +
            result + ">) -> tensor<" + result + ">\n %r = linalg." + name +
            " ins(%x, %w : tensor<" + image + ">, tensor<" + filter +
            ">) outs(%f : tensor<" + result + ">) -> tensor<" + result +
            ">\n return %r : tensor<" + result + ">\n}")
        .str();
  };
  EXPECT_EQ(names(convolution("1x96x56x56xf32", "24x96x1x1xf32",
                              "1x24x56x56xf32", "conv_2d_nchw_fchw")),
            "contraction-direct convolution fallback");
  // The image is not whole vectors: 49 columns.
  EXPECT_EQ(names(convolution("1x96x7x7xf32", "24x96x1x1xf32", "1x24x7x7xf32",
                              "conv_2d_nchw_fchw")),
            "convolution contraction-direct fallback");
  EXPECT_EQ(names(convolution("1x56x56x96xf32", "1x1x96x24xf32",
                              "1x56x56x24xf32", "conv_2d_nhwc_hwcf")),
            "convolution fallback");
  EXPECT_EQ(names(convolution("1x96x58x58xf32", "24x96x3x3xf32",
                              "1x24x56x56xf32", "conv_2d_nchw_fchw")),
            "convolution fallback");
}

TEST_F(SketchesTest, OneThreadHasNoParallelLoops) {
  for (StringRef name : {"contraction-packed", "contraction-direct"}) {
    for (int64_t threads : {1, 2, 8}) {
      auto space = build(makeMatmul(512, 512, 512), name, threads);
      auto script = space->bind(*space->getDefault());
      ASSERT_TRUE(succeeded(script));
      std::string text;
      llvm::raw_string_ostream(text) << **script;
      EXPECT_EQ(StringRef(text).contains("use_forall"), threads > 1);
      // What is decided by their number is no part of a key.
      std::string key = space->getKey(*space->getDefault());
      EXPECT_EQ(key.find("parallel"), std::string::npos);
      EXPECT_EQ(key.find("threads"), std::string::npos);
    }
  }
}

TEST_F(SketchesTest, ThreadsGetEqualParts) {
  // Blocks of 192 rows for seven threads leave four of them without work.
  EXPECT_EQ(
      getOptions(*build(makeMatmul(512, 512, 512), "contraction-packed", 7),
                 "mc"),
      "48,96");
  // Parts of one size, along the longer dimension first.
  EXPECT_EQ(getOptions(*build(makeMatmul(40, 96, 64), "contraction-direct", 2),
                       "share"),
            "[0,48],[20,0],[10,0],[5,0]");
  // Batches go round, or tiles do.
  std::string batches = makeContraction(
      "4x256x64xf32", "4x64x256xf32", "4x256x256xf32", "d0, d1, d2, d3",
      "d0, d1, d3;d0, d3, d2;d0, d1, d2", "pppr");
  for (int64_t threads : {1, 2, 3}) {
    auto space = build(batches, "contraction-packed", threads);
    EXPECT_EQ(getOptions(*space, "outer_parallel"),
              threads == 2 ? "true" : "false");
    EXPECT_EQ(getOptions(*space, "parallel"), threads == 3 ? "true" : "false");
  }
}

TEST_F(SketchesTest, WhatTakesNoTimeIsNotSharedOut) {
  auto space = build(makeMatmul(16, 16, 16), "contraction-packed", 2);
  EXPECT_EQ(getOptions(*space, "parallel"), "false");
}

TEST_F(SketchesTest, NamedMatmulWithBias) {
  auto payload = parse(R"mlir(
    func.func @dense(%x: tensor<8x64xf32>, %w: tensor<48x64xf32>,
                     %bias: tensor<48xf32>) -> tensor<8x48xf32> {
      %zero = arith.constant 0.0 : f32
      %t = tensor.empty() : tensor<64x48xf32>
      %wt = linalg.transpose ins(%w : tensor<48x64xf32>)
          outs(%t : tensor<64x48xf32>) permutation = [1, 0]
      %e = tensor.empty() : tensor<8x48xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x48xf32>)
          -> tensor<8x48xf32>
      %r = linalg.matmul ins(%x, %wt : tensor<8x64xf32>, tensor<64x48xf32>)
          outs(%f : tensor<8x48xf32>) -> tensor<8x48xf32>
      %s = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>,
                           affine_map<(i, j) -> (j)>,
                           affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%r, %bias : tensor<8x48xf32>, tensor<48xf32>)
          outs(%e : tensor<8x48xf32>) {
        ^bb0(%p: f32, %q: f32, %o: f32):
          %sum = arith.addf %p, %q : f32
          linalg.yield %sum : f32
      } -> tensor<8x48xf32>
      return %s : tensor<8x48xf32>
    })mlir");
  auto contraction = cwm::analyseContraction(payload);
  ASSERT_TRUE(contraction);
  EXPECT_EQ(contraction->getM(), 8);
  EXPECT_EQ(contraction->getN(), 48);
  EXPECT_EQ(contraction->getK(), 64);
  EXPECT_TRUE(contraction->hasElementwise);
  // The transposition is in the map of the weights: (n, k).
  EXPECT_EQ(contraction->rhsDims,
            (SmallVector<int64_t>{contraction->n, contraction->k}));
  EXPECT_EQ(contraction->elementwiseDims, SmallVector<int64_t>{contraction->n});

  auto spaces = cwm::buildSpaces(payload, hardware, schedules);
  ASSERT_TRUE(succeeded(spaces));
  ASSERT_EQ(spaces->size(), 3u);
  const cwm::Space &rows = *spaces->front();
  EXPECT_EQ(rows.getName(), "contraction-rows");
  // Rows of the weights are divided: 48 has no divisor 10 or 14; 2 to 7 rows of
  // one vector are too few.
  EXPECT_EQ(getOptions(rows, "mr"), "8,12,16");
  EXPECT_EQ(getOptions(rows, "kt"), "2,4,8,16");
}

/// Rows are not read one element at a time, whatever divides them.
TEST_F(SketchesTest, StepsAlongRowsAreNoOuterProducts) {
  auto getSteps = [&](int64_t k) -> std::string {
    std::string rows = llvm::formatv("96x{0}xf32", k);
    auto payload = parse(makeContraction(llvm::formatv("64x{0}xf32", k).str(),
                                         rows, "64x96xf32", "d0, d1, d2",
                                         "d0, d2;d1, d2;d0, d1", "ppr"));
    auto spaces = cwm::buildSpaces(payload, hardware, schedules);
    if (failed(spaces) || spaces->front()->getName() != "contraction-rows")
      return "";
    return getOptions(*spaces->front(), "kt");
  };
  EXPECT_EQ(getSteps(22), "2");
  EXPECT_EQ(getSteps(49), "7");
  EXPECT_EQ(getSteps(75), "3,5");
  EXPECT_EQ(getSteps(121), "");
}

TEST_F(SketchesTest, AllDefaultsBindAndVerify) {
  std::string sources[] = {makeMatmul(1, 1, 1),
                           makeMatmul(3, 5, 7),
                           makeMatmul(17, 1, 9),
                           makeMatmul(2, 2, 2),
                           makeMatmul(1, 64, 32),
                           makeMatmul(64, 1, 32),
                           makeMatmul(512, 512, 512),
                           makeContraction("3x8x16xf32", "3x48x16xf32",
                                           "3x8x48xf32", "d0, d1, d2, d3",
                                           "d0, d1, d3;d0, d2, d3;d0, d1, d2",
                                           "pppr")};
  for (const std::string &source : sources)
    for (const auto &space : build(source)) {
      std::string why;
      std::optional<cwm::Assignment> assignment = space->getDefault(&why);
      ASSERT_TRUE(assignment) << space->getName().str() << ": " << why;
      auto bound = space->bind(*assignment);
      ASSERT_TRUE(succeeded(bound)) << space->getName().str();
      EXPECT_TRUE(succeeded(verify(**bound)));
    }
}

TEST_F(SketchesTest, DefaultsFollowTheRegisterFile) {
  hardware.vectorBits = 256;
  hardware.numVectorRegisters = 16;
  auto spaces = build(makeMatmul(512, 512, 512));
  const cwm::Space &packed = *spaces.front();
  EXPECT_EQ(getOptions(packed, "nr"), "8,16,32");
  // 12 accumulators of 8 elements at most.
  EXPECT_EQ(getOptions(packed, "most_elements"), "96");
  cwm::RandomEngine engine(1);
  for (int i = 0; i < 50; ++i)
    EXPECT_TRUE(packed.satisfies(*packed.sample(engine)));
}

TEST_F(SketchesTest, RolesOfABatchInTheMiddle) {
  auto payload = parse(makeContraction(
      "5x19x21xf32", "5x21x33xf32", "19x5x33xf32", "d0, d1, d2, d3",
      "d0, d1, d3;d0, d3, d2;d1, d0, d2", "pppr"));
  auto contraction = cwm::analyseContraction(payload);
  ASSERT_TRUE(contraction);
  EXPECT_EQ(contraction->getM(), 19);
  EXPECT_EQ(contraction->getN(), 33);
  EXPECT_EQ(contraction->getK(), 21);
}

TEST_F(SketchesTest, SwappedOperands) {
  auto payload =
      parse(makeContraction("29x50xf32", "37x29xf32", "37x50xf32", "d0, d1, d2",
                            "d2, d1;d0, d2;d0, d1", "ppr"));
  auto contraction = cwm::analyseContraction(payload);
  ASSERT_TRUE(contraction);
  EXPECT_EQ(contraction->rhs, 0u);
  EXPECT_EQ(contraction->lhs, 1u);
}

TEST_F(SketchesTest, UnitDimensionsAreNoRoles) {
  EXPECT_EQ(whyNot(makeMatmul(17, 9, 1)), "no dimension k: an outer product");
  EXPECT_EQ(whyNot(makeMatmul(1, 1, 9)), "a result of one element");
}

TEST_F(SketchesTest, ProductsWithAVector) {
  // Columns of the matrix are contiguous: [K, N].
  EXPECT_EQ(names(makeMatmul(1, 48, 10)), "contraction-vecmat fallback");
  // Rows are: [M, K].
  std::string source = makeMatmul(48, 1, 32);
  EXPECT_EQ(names(source), "contraction-matvec fallback");
  auto spaces = build(source);
  EXPECT_EQ(getOptions(*spaces.front(), "nt"), "1,2,4,8");
  EXPECT_EQ(getOptions(*spaces.front(), "kt"), "16,32");
  // Nothing divides a prime.
  EXPECT_EQ(names(makeMatmul(1, 17, 9)), "fallback");
  EXPECT_EQ(names(makeMatmul(17, 1, 9)), "chain-rows fallback");
}

TEST_F(SketchesTest, OtherPayloadsFallBack) {
  EXPECT_EQ(
      whyNot(makeContraction("65xf32", "65xf32", "f32", "d0", "d0;d0;", "r")),
      "a result of one element");
  EXPECT_EQ(whyNot(makeContraction("9x8x7xf32", "8x7x6xf32", "9x6xf32",
                                   "d0, d1, d2, d3",
                                   "d0, d2, d3;d2, d3, d1;d0, d1", "pprr")),
            "several reductions");
  EXPECT_EQ(names(R"mlir(
    func.func @relu(%x: tensor<7x9xf32>) -> tensor<7x9xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<7x9xf32>
      %r = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>,
                           affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<7x9xf32>) outs(%e : tensor<7x9xf32>) {
        ^bb0(%p: f32, %o: f32):
          %m = arith.maximumf %p, %zero : f32
          linalg.yield %m : f32
      } -> tensor<7x9xf32>
      return %r : tensor<7x9xf32>
    })mlir"),
            "chain-columns fallback");
}

/// The sums of the rows of a matrix and a second result, from `body`.
std::string makeResults(const std::string &body, const std::string &second) {
  return R"mlir(
    #id = affine_map<(i, j) -> (i, j)>
    #row = affine_map<(i, j) -> (i)>
    func.func @results(%x: tensor<7x32xf32>, %y: tensor<32xf32>)
        -> (tensor<7xf32>, )mlir" +
         second + R"mlir() {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<7xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<7xf32>)
          -> tensor<7xf32>
      %s = linalg.generic {indexing_maps = [#id, #row],
          iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<7x32xf32>) outs(%f : tensor<7xf32>) {
        ^bb0(%p: f32, %o: f32):
          %m = arith.addf %p, %o : f32
          linalg.yield %m : f32
      } -> tensor<7xf32>
      )mlir" +
         body + "return %s, %r : tensor<7xf32>, " + second + "}";
}

TEST_F(SketchesTest, SeveralResults) {
  // The second result reads the first.
  std::string source = makeResults(R"mlir(
      %e2 = tensor.empty() : tensor<7x32xf32>
      %r = linalg.generic {indexing_maps = [#id, #row, #id],
          iterator_types = ["parallel", "parallel"]}
          ins(%x, %s : tensor<7x32xf32>, tensor<7xf32>)
          outs(%e2 : tensor<7x32xf32>) {
        ^bb0(%p: f32, %q: f32, %o: f32):
          %m = arith.divf %p, %q : f32
          linalg.yield %m : f32
      } -> tensor<7x32xf32>
)mlir",
                                   "tensor<7x32xf32>");
  EXPECT_EQ(names(source), "chain-rows fallback");
  auto spaces = build(source);
  EXPECT_EQ(getOptions(*spaces.front(), "results"), "1");
  EXPECT_EQ(getOptions(*spaces.front(), "last"), "1");
  EXPECT_EQ(getOptions(*spaces.front(), "find"), "@cwm_result_producer");
  // It has nothing in common with it but the argument.
  EXPECT_EQ(names(makeResults(R"mlir(
      %r = linalg.generic {indexing_maps = [#id, #row],
          iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<7x32xf32>) outs(%f : tensor<7xf32>) {
        ^bb0(%p: f32, %o: f32):
          %m = arith.maximumf %p, %o : f32
          linalg.yield %m : f32
      } -> tensor<7xf32>
)mlir",
                              "tensor<7xf32>")),
            "chain-rows fallback");
  // No dimension of it is one of the loop around the chain.
  EXPECT_EQ(names(makeResults(R"mlir(
      %e2 = tensor.empty() : tensor<32xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>,
          affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%y : tensor<32xf32>) outs(%e2 : tensor<32xf32>) {
        ^bb0(%p: f32, %o: f32):
          %m = arith.negf %p : f32
          linalg.yield %m : f32
      } -> tensor<32xf32>
)mlir",
                              "tensor<32xf32>")),
            "fallback");
}

TEST_F(SketchesTest, MissingFolderIsAnError) {
  auto spaces =
      cwm::buildSpaces(parse(makeMatmul(8, 8, 8)), hardware, "/nowhere");
  EXPECT_TRUE(failed(spaces));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("cannot read '/nowhere/"), std::string::npos);
}

TEST_F(SketchesTest, LoadedSketchesStandAlone) {
  for (StringRef name :
       {"contraction-packed", "contraction-rows", "contraction-matvec",
        "contraction-vecmat", "fallback"}) {
    auto sketch = cwm::loadSketch(schedules, name, &context);
    ASSERT_TRUE(succeeded(sketch)) << name.str();
    (*sketch)->walk([&](transform::NamedSequenceOp sequence) {
      EXPECT_FALSE(sequence.isExternal()) << sequence.getSymName().str();
    });
  }
}

} // namespace
