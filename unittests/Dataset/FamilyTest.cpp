//===- FamilyTest.cpp - What kind of operators a payload has ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Dataset/Family.h"

#include "cwm/InitAll.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace cwm;

namespace {

/// "family shape" of a function whose signature is `types` and whose body ends
/// with %r.
std::string describe(llvm::StringRef signature, llvm::StringRef result,
                     llvm::StringRef body) {
  MLIRContext context(getAllDialects(), MLIRContext::Threading::DISABLED);
  std::string text =
      ("func.func @kernel(" + signature + ") -> " + result + " {\n" +
       "%zero = arith.constant 0.0 : f32\n" + "%e = tensor.empty() : " +
       result + "\n%i = linalg.fill ins(%zero : f32) outs(%e : " + result +
       ") -> " + result + "\n" + body + "\nreturn %r : " + result + "\n}")
          .str();
  FailureOr<Payload> payload =
      Payload::create(parseSourceString<ModuleOp>(text, &context));
  if (failed(payload))
    return "refused";
  return getOperatorFamily(*payload).str() + " " + getShapeKey(*payload);
}

TEST(Family, Products) {
  EXPECT_EQ(describe("%a: tensor<4x5xf32>, %b: tensor<5x6xf32>",
                     "tensor<4x6xf32>",
                     "%r = linalg.matmul ins(%a, %b : tensor<4x5xf32>, "
                     "tensor<5x6xf32>) outs(%i : tensor<4x6xf32>) -> "
                     "tensor<4x6xf32>"),
            "matmul 4x6x5");
  EXPECT_EQ(describe("%a: tensor<1x5xf32>, %b: tensor<5x6xf32>",
                     "tensor<1x6xf32>",
                     "%r = linalg.matmul ins(%a, %b : tensor<1x5xf32>, "
                     "tensor<5x6xf32>) outs(%i : tensor<1x6xf32>) -> "
                     "tensor<1x6xf32>"),
            "vector 1x6x5");
  EXPECT_EQ(describe("%a: tensor<2x4x5xf32>, %b: tensor<2x5x6xf32>",
                     "tensor<2x4x6xf32>",
                     "%r = linalg.batch_matmul ins(%a, %b : tensor<2x4x5xf32>, "
                     "tensor<2x5x6xf32>) outs(%i : tensor<2x4x6xf32>) -> "
                     "tensor<2x4x6xf32>"),
            "batch_matmul 2x4x6x5");
  EXPECT_EQ(describe("%a: tensor<4x5xf32>, %b: tensor<5xf32>", "tensor<4xf32>",
                     "%r = linalg.matvec ins(%a, %b : tensor<4x5xf32>, "
                     "tensor<5xf32>) outs(%i : tensor<4xf32>) -> "
                     "tensor<4xf32>"),
            "vector 4x5");
}

TEST(Family, StructureAndNotNames) {
  EXPECT_EQ(describe("%a: tensor<4x5xf32>, %b: tensor<6x5xf32>",
                     "tensor<4x6xf32>",
                     R"(%r = linalg.generic {indexing_maps = [
    affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
    affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<4x5xf32>, tensor<6x5xf32>)
    outs(%i : tensor<4x6xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %p, %z : f32
      linalg.yield %s : f32 } -> tensor<4x6xf32>)"),
            "matmul 4x6x5");
}

TEST(Family, Windows) {
  EXPECT_EQ(describe("%a: tensor<1x3x8x8xf32>, %b: tensor<5x3x3x3xf32>",
                     "tensor<1x5x6x6xf32>",
                     "%r = linalg.conv_2d_nchw_fchw ins(%a, %b : "
                     "tensor<1x3x8x8xf32>, tensor<5x3x3x3xf32>) outs(%i : "
                     "tensor<1x5x6x6xf32>) -> tensor<1x5x6x6xf32>"),
            "conv2d 1x5x6x6x3x3x3");
  EXPECT_EQ(describe("%a: tensor<1x3x8xf32>, %b: tensor<5x3x3xf32>",
                     "tensor<1x5x6xf32>",
                     "%r = linalg.conv_1d_ncw_fcw ins(%a, %b : "
                     "tensor<1x3x8xf32>, tensor<5x3x3xf32>) outs(%i : "
                     "tensor<1x5x6xf32>) -> tensor<1x5x6xf32>"),
            "conv1d 1x5x6x3x3");
  EXPECT_EQ(describe("%a: tensor<1x3x8x8x8xf32>, %b: tensor<5x3x3x3x3xf32>",
                     "tensor<1x5x6x6x6xf32>",
                     "%r = linalg.conv_3d_ncdhw_fcdhw ins(%a, %b : "
                     "tensor<1x3x8x8x8xf32>, tensor<5x3x3x3x3xf32>) outs(%i : "
                     "tensor<1x5x6x6x6xf32>) -> tensor<1x5x6x6x6xf32>"),
            "conv3d 1x5x6x6x6x3x3x3x3");
  EXPECT_EQ(describe("%a: tensor<1x4x8x8xf32>, %b: tensor<4x3x3xf32>",
                     "tensor<1x4x6x6xf32>",
                     "%r = linalg.depthwise_conv_2d_nchw_chw ins(%a, %b : "
                     "tensor<1x4x8x8xf32>, tensor<4x3x3xf32>) outs(%i : "
                     "tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>"),
            "depthwise 1x6x6x4x3x3");
  EXPECT_EQ(describe("%a: tensor<1x2x4x8x8xf32>, %b: tensor<2x5x4x3x3xf32>",
                     "tensor<1x2x5x6x6xf32>",
                     "%r = linalg.conv_2d_ngchw_gfchw ins(%a, %b : "
                     "tensor<1x2x4x8x8xf32>, tensor<2x5x4x3x3xf32>) outs(%i : "
                     "tensor<1x2x5x6x6xf32>) -> tensor<1x2x5x6x6xf32>"),
            "grouped 1x2x5x6x6x4x3x3");
  EXPECT_EQ(describe("%a: tensor<1x4x8x8xf32>, %b: tensor<2x2xf32>",
                     "tensor<1x4x7x7xf32>",
                     "%r = linalg.pooling_nchw_max ins(%a, %b : "
                     "tensor<1x4x8x8xf32>, tensor<2x2xf32>) outs(%i : "
                     "tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>"),
            "pool 1x4x7x7x2x2");
}

/// A reduction of rows of %a, then `body` on each element of %a with it.
std::string describeChain(llvm::StringRef body) {
  return describe("%a: tensor<4x5xf32>", "tensor<4x5xf32>",
                  R"(%re = tensor.empty() : tensor<4xf32>
  %ri = linalg.fill ins(%zero : f32) outs(%re : tensor<4xf32>) -> tensor<4xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
    affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%a : tensor<4x5xf32>) outs(%ri : tensor<4xf32>) {
    ^bb0(%x: f32, %y: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32 } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>,
    affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]}
    ins(%a, %m : tensor<4x5xf32>, tensor<4xf32>) outs(%e : tensor<4x5xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      )" + body.str() +
                      R"(
      linalg.yield %v : f32 } -> tensor<4x5xf32>)");
}

TEST(Family, Chains) {
  EXPECT_EQ(describeChain("%d = arith.subf %x, %y : f32\n"
                          "%v = math.exp %d : f32"),
            "softmax 4x5");
  EXPECT_EQ(describeChain("%d = math.rsqrt %y : f32\n"
                          "%v = arith.mulf %x, %d : f32"),
            "norm 4x5");
  EXPECT_EQ(describeChain("%v = arith.subf %x, %y : f32"), "reduce 4x5");
  EXPECT_EQ(describe("%a: tensor<4x5xf32>", "tensor<4x5xf32>",
                     "%r = linalg.map { math.tanh } ins(%a : tensor<4x5xf32>) "
                     "outs(%e : tensor<4x5xf32>)"),
            "elementwise 4x5");
  EXPECT_EQ(describe("%a: tensor<4x5xf32>", "tensor<5x4xf32>",
                     "%r = linalg.transpose ins(%a : tensor<4x5xf32>) outs(%e "
                     ": tensor<5x4xf32>) permutation = [1, 0]"),
            "layout 5x4");
}

TEST(Family, BiasAndActivationDoNotMatter) {
  EXPECT_EQ(describe("%a: tensor<4x5xf32>, %b: tensor<5x6xf32>",
                     "tensor<4x6xf32>",
                     R"(%p = linalg.matmul ins(%a, %b : tensor<4x5xf32>,
    tensor<5x6xf32>) outs(%i : tensor<4x6xf32>) -> tensor<4x6xf32>
  %r = linalg.map { math.exp } ins(%p : tensor<4x6xf32>)
    outs(%e : tensor<4x6xf32>))"),
            "matmul 4x6x5");
}

} // namespace
