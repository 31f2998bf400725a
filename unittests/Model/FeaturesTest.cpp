//===- FeaturesTest.cpp - Tests of phi --------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/Features.h"
#include "../../lib/Model/ActionParameters.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace llvm;
using namespace cwm;

namespace {

std::string describe(StringRef text) {
  std::string result;
  visitParameters(text, [&](const ActionParameter &parameter) {
    result += parameter.key.str() + (parameter.isCategory ? "!" : "") + "(";
    for (int64_t number : parameter.numbers)
      result += std::to_string(number) + " ";
    result += ")";
  });
  return result;
}

TEST(ActionParameters, ReadsValuesOfAllKinds) {
  EXPECT_EQ(describe("structured.tile_using_for static_sizes=[8, 0, -3] on "
                     "linalg.matmul"),
            "static_sizes(8 0 -3 )");
  EXPECT_EQ(describe("x interchange=array<i64: 1, 0> factor=4 : i64"),
            "interchange(1 0 )factor(4 )");
  EXPECT_EQ(describe("x name=\"a b=1 \\\" c\" k = 3"), "name!()k(3 )");
  EXPECT_EQ(describe("x map=affine_map<(d0) -> (d0 + 2)> flag=true"),
            "map!(2 )flag!()");
  EXPECT_EQ(describe("x op_attrs={a=1, b = [2]} on y"), "op_attrs!(1 2 )");
  EXPECT_EQ(describe("x i64 = 16"), "i64(16 )");
}

TEST(ActionParameters, SurvivesAnything) {
  for (const char *text : {"", "=", "a=", "a==b", "a=\"", "a=(((", ")))=1 b=2",
                           "\x80\xff=1", "a=99999999999999999999999"})
    (void)describe(text);
  EXPECT_EQ(describe("a==b c=1"), "c(1 )");
  EXPECT_EQ(describe(")))=1 b=2"), "b(2 )");
}

constexpr char state[] =
    "func @f(tensor<512x48xf32>, tensor<1x100xf32>) linalg.matmul linalg.yield";

Action tile(StringRef sizes) {
  return {
      "structured.tile_using_for",
      ("structured.tile_using_for static_sizes=" + sizes + " on linalg.matmul")
          .str()};
}

TEST(Features, Workload) {
  WorkloadFeatures workload(state);
  EXPECT_EQ(workload.getExtents(), ArrayRef<int64_t>({48, 100, 512}));
  EXPECT_EQ(workload.getMaxElements(), 512 * 48);
  EXPECT_EQ(workload.getValues()[3], 1);
  WorkloadFeatures scalar("tensor<f32> tensor<");
  EXPECT_TRUE(scalar.getExtents().empty());
}

TEST(Features, FieldsAreWhereTheDocumentSaysTheyAre) {
  WorkloadFeatures workload(state);
  std::vector<Action> actions = {
      tile("[128, 0, 12]"),
      {"structured.interchange",
       "structured.interchange iterator_interchange=array<i64: 1, 0>"},
      {"loop.unroll", "loop.unroll factor=4"},
      {"my.own_action", "my.own_action"}};
  std::vector<float> phi = computeFeatures(actions, workload);
  ASSERT_EQ(phi.size(), numFeatures);
  EXPECT_EQ(phi[0], 1);                                // tile_using_for
  EXPECT_EQ(phi[10], 1);                               // interchange
  EXPECT_EQ(phi[18], 1);                               // unroll
  EXPECT_EQ(phi[28] + phi[29] + phi[30] + phi[31], 1); // others
  EXPECT_FLOAT_EQ(phi[32], std::log2(5.f));            // actions
  EXPECT_FLOAT_EQ(phi[33], std::log2(7.f));            // numbers
  EXPECT_EQ(phi[34], 1);                               // lists
  EXPECT_FLOAT_EQ(phi[35], std::log2(13.f));           // smallest size
  EXPECT_FLOAT_EQ(phi[36], std::log2(129.f));          // largest size
  EXPECT_FLOAT_EQ(phi[37], 0.5);                       // powers of two
  EXPECT_FLOAT_EQ(phi[38], 1);                         // 128 | 512, 12 | 48
  EXPECT_FLOAT_EQ(phi[39], 0.5);                       // multiples of 16
  EXPECT_FLOAT_EQ(phi[40], 0);                         // padding
  EXPECT_FLOAT_EQ(phi[44], std::log2(5.f));            // unroll factor
  EXPECT_EQ(phi[45], 1);                               // permutations
  EXPECT_EQ(phi[46], 2);                               // displaced
  EXPECT_FLOAT_EQ(phi[48], std::log2(129.f)); // first size of the first list
  EXPECT_FLOAT_EQ(phi[50], std::log2(13.f));
  EXPECT_FLOAT_EQ(phi[53], std::log2(1537.f)); // its product
}

TEST(Features, EachParameterAndItsPlaceMatter) {
  WorkloadFeatures workload(state);
  std::vector<float> a = computeFeatures({tile("[8, 16]"), tile("[4]")},
                                         workload),
                     b = computeFeatures({tile("[16, 8]"), tile("[4]")},
                                         workload),
                     c = computeFeatures({tile("[4]"), tile("[8, 16]")},
                                         workload);
  EXPECT_NE(a, b);
  EXPECT_NE(a, c);
  EXPECT_EQ(a, computeFeatures({tile("[8, 16]"), tile("[4]")}, workload));
  Action word{"apply_registered_pass", "apply_registered_pass name=\"a\""},
      other{"apply_registered_pass", "apply_registered_pass name=\"b\""};
  EXPECT_NE(computeFeatures(word, workload), computeFeatures(other, workload));
  EXPECT_EQ(computeFeatures({}, workload).size(), numFeatures);
}

} // namespace
