//===- SoftmaxTest.cpp - Masks, NaN and infinities --------------*- C++ -*-===//
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
constexpr int64_t length = 37;

/// One row, as the lowering vectorises it when no schedule has.
class SoftmaxTest : public KernelFixture {
protected:
  std::vector<float> run(std::vector<float> row) {
    cwm::LoadedKernel kernel = load(R"mlir(
      #id = affine_map<(i) -> (i)>
      #all = affine_map<(i) -> ()>
      func.func @kernel(%x: tensor<37xf32>) -> tensor<37xf32> {
        %least = arith.constant 0xFF800000 : f32
        %zero = arith.constant 0.0 : f32
        %s = tensor.empty() : tensor<f32>
        %e = tensor.empty() : tensor<37xf32>
        %f = linalg.fill ins(%least : f32) outs(%s : tensor<f32>)
            -> tensor<f32>
        %m = linalg.generic {indexing_maps = [#id, #all],
                             iterator_types = ["reduction"]}
            ins(%x : tensor<37xf32>) outs(%f : tensor<f32>) {
          ^bb0(%a: f32, %o: f32):
            %r = arith.maximumf %a, %o : f32
            linalg.yield %r : f32
        } -> tensor<f32>
        %p = linalg.generic {indexing_maps = [#id, #all, #id],
                             iterator_types = ["parallel"]}
            ins(%x, %m : tensor<37xf32>, tensor<f32>)
            outs(%e : tensor<37xf32>) {
          ^bb0(%a: f32, %b: f32, %o: f32):
            %d = arith.subf %a, %b : f32
            %r = math.exp %d : f32
            linalg.yield %r : f32
        } -> tensor<37xf32>
        %g = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>)
            -> tensor<f32>
        %t = linalg.generic {indexing_maps = [#id, #all],
                             iterator_types = ["reduction"]}
            ins(%p : tensor<37xf32>) outs(%g : tensor<f32>) {
          ^bb0(%a: f32, %o: f32):
            %r = arith.addf %a, %o : f32
            linalg.yield %r : f32
        } -> tensor<f32>
        %q = linalg.generic {indexing_maps = [#id, #all, #id],
                             iterator_types = ["parallel"]}
            ins(%p, %t : tensor<37xf32>, tensor<f32>)
            outs(%e : tensor<37xf32>) {
          ^bb0(%a: f32, %b: f32, %o: f32):
            %r = arith.divf %a, %b : f32
            linalg.yield %r : f32
        } -> tensor<37xf32>
        return %q : tensor<37xf32>
      })mlir",
                                    llvm::cantFail(cwm::probeHardware()));
    std::vector<float> result(row.size(), 7);
    void *buffers[] = {row.data(), result.data()};
    kernel(buffers);
    return result;
  }

  static std::vector<float> makeRow() {
    std::vector<float> row(length);
    for (int64_t i = 0; i < length; ++i)
      row[i] = 20 * std::sin(static_cast<float>(i));
    return row;
  }
};

TEST_F(SoftmaxTest, MaskedElementsAreZero) {
  std::vector<float> row = makeRow();
  double sum = 0;
  for (int64_t i = 0; i < length; ++i) {
    if (i % 3 == 0)
      row[i] = -infinity;
    sum += std::exp(static_cast<double>(row[i]));
  }
  std::vector<float> result = run(row);
  for (int64_t i = 0; i < length; ++i) {
    double want = std::exp(static_cast<double>(row[i])) / sum;
    EXPECT_NEAR(result[i], want, 4e-6 * want) << i;
  }
}

TEST_F(SoftmaxTest, NaNPropagatesFromAnyPlace) {
  for (int64_t at : {0, 15, 16, 31, 32, 36}) {
    std::vector<float> row = makeRow();
    row[at] = -std::nanf("");
    for (float value : run(row))
      EXPECT_TRUE(std::isnan(value)) << at;
  }
}

// As in PyTorch: inf - inf.
TEST_F(SoftmaxTest, RowsOfInfinitiesAreNaN) {
  for (float value : run(std::vector<float>(length, -infinity)))
    EXPECT_TRUE(std::isnan(value));
  std::vector<float> row = makeRow();
  row[5] = infinity;
  EXPECT_TRUE(std::isnan(run(row)[5]));
}

} // namespace
