//===- ArgExtremumTest.cpp - Places of maxima and minima --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFixture.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
/// Two wide steps of the vectoriser, two vectors and a rest, of eight lanes.
constexpr int64_t length = 64 + 16 + 5;

struct Place {
  float value;
  int64_t index;
};

/// One row, as the lowering vectorises it: what `steps` would give.
class ArgExtremumTest : public KernelFixture {
protected:
  static constexpr const char *maximum =
      "%c = arith.cmpf ogt, %a, %v : f32\n%w = arith.maximumf %v, %a : f32";
  static constexpr const char *minimum =
      "%c = arith.cmpf olt, %a, %v : f32\n%w = arith.select %c, %a, %v : f32";

  Place run(std::vector<float> row, const char *body, const char *start) {
    std::string source = llvm::formatv(R"mlir(
      func.func @kernel(%x: tensor<{0}xf32>) -> (tensor<f32>, tensor<i64>) {{
        %start = arith.constant {1} : f32
        %none = arith.constant -1 : i64
        %e = tensor.empty() : tensor<f32>
        %f = tensor.empty() : tensor<i64>
        %g = linalg.fill ins(%start : f32) outs(%e : tensor<f32>)
            -> tensor<f32>
        %h = linalg.fill ins(%none : i64) outs(%f : tensor<i64>)
            -> tensor<i64>
        %r:2 = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>,
                                                affine_map<(i) -> ()>,
                                                affine_map<(i) -> ()>],
                               iterator_types = ["reduction"]}
            ins(%x : tensor<{0}xf32>) outs(%g, %h : tensor<f32>, tensor<i64>) {{
          ^bb0(%a: f32, %v: f32, %i: i64):
            %k = linalg.index 0 : index
            %l = arith.index_cast %k : index to i64
            {2}
            %j = arith.select %c, %l, %i : i64
            linalg.yield %w, %j : f32, i64
        } -> (tensor<f32>, tensor<i64>)
        return %r#0, %r#1 : tensor<f32>, tensor<i64>
      })mlir",
                                       length, start, body);
    cwm::LoadedKernel kernel =
        load(source, llvm::cantFail(cwm::probeHardware()));
    Place place{7, 7};
    void *buffers[] = {row.data(), &place.value, &place.index};
    kernel(buffers);
    return place;
  }
  Place runMaximum(std::vector<float> row) {
    return run(std::move(row), maximum, "0xFF800000");
  }

  static std::vector<float> makeRow() {
    std::vector<float> row(length);
    for (int64_t i = 0; i < length; ++i)
      row[i] = 20 * std::sin(static_cast<float>(i));
    return row;
  }
};

TEST_F(ArgExtremumTest, GreatestAtAnyPlace) {
  for (int64_t at = 0; at < length; at += 3) {
    std::vector<float> row = makeRow();
    row[at] = 100;
    Place place = runMaximum(row);
    EXPECT_EQ(place.value, 100);
    EXPECT_EQ(place.index, at);
  }
}

TEST_F(ArgExtremumTest, FirstOfEqualOnes) {
  std::vector<float> row = makeRow();
  // In other lanes, the later ones first; and in the rest.
  row[33] = row[18] = row[17] = row[84] = 100;
  EXPECT_EQ(runMaximum(row).index, 17);
  std::vector<float> equal(length, 3);
  EXPECT_EQ(runMaximum(equal).index, 0);
}

TEST_F(ArgExtremumTest, NothingIsGreaterThanTheStart) {
  Place place = runMaximum(std::vector<float>(length, -infinity));
  EXPECT_EQ(place.value, -infinity);
  EXPECT_EQ(place.index, -1);
}

TEST_F(ArgExtremumTest, Least) {
  std::vector<float> row = makeRow();
  row[70] = row[83] = -100;
  Place place = run(row, minimum, "0x7F800000");
  EXPECT_EQ(place.value, -100);
  EXPECT_EQ(place.index, 70);
}

// Step by step, nothing is greater than a NaN.
TEST_F(ArgExtremumTest, NaNKeepsLaterOnesOut) {
  for (int64_t at : {0, 1, 15, 40, 66, 80, 84}) {
    std::vector<float> row = makeRow();
    row[length - 2] = 100;
    row[at] = std::nanf("");
    int64_t want = -1;
    float greatest = -infinity;
    for (int64_t i = 0; i < at; ++i)
      if (row[i] > greatest) {
        greatest = row[i];
        want = i;
      }
    Place place = runMaximum(row);
    EXPECT_TRUE(std::isnan(place.value)) << at;
    EXPECT_EQ(place.index, want) << at;
  }
}

// A choice by comparison never takes a NaN.
TEST_F(ArgExtremumTest, NaNIsNoMinimum) {
  std::vector<float> row = makeRow();
  row[3] = std::nanf("");
  row[20] = -100;
  Place place = run(row, minimum, "0x7F800000");
  EXPECT_EQ(place.value, -100);
  EXPECT_EQ(place.index, 20);
}

} // namespace
