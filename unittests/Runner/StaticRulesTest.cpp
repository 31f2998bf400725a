//===- StaticRulesTest.cpp - Tests of the static rules ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/StaticRules.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

class StaticRulesTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerAllExtensions(registry);
    context = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
  }
  static void TearDownTestSuite() {
    delete context;
    context = nullptr;
  }

  /// Violation of a script whose sequence starts with `%0 = match` of matmul
  /// and holds `body`; "" when there is none.
  static std::string check(StringRef body) {
    std::string text =
        "module attributes {transform.with_named_sequence} {\n"
        "transform.named_sequence @__transform_main(%r: !transform.any_op) {\n"
        "%0 = transform.structured.match ops{[\"linalg.matmul\"]} in %r : "
        "(!transform.any_op) -> !transform.any_op\n" +
        body.str() + "\ntransform.yield\n}\n}\n";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context);
    EXPECT_TRUE(module) << text;
    return module ? cwm::findRuleViolation(*module).value_or("") : "";
  }

  static MLIRContext *context;
};
MLIRContext *StaticRulesTest::context = nullptr;

TEST_F(StaticRulesTest, AcceptsOrdinarySchedules) {
  EXPECT_EQ(
      check("%s = transform.param.constant 16 : i64 -> !transform.param<i64>\n"
            "%1, %l:2 = transform.structured.tile_using_for %0 tile_sizes "
            "[8, %s, 0] interchange = [1, 0] : (!transform.any_op, "
            "!transform.param<i64>) -> (!transform.any_op, "
            "!transform.any_op, !transform.any_op)\n"
            "transform.loop.unroll %l#1 {factor = 4} : !transform.any_op\n"
            "transform.structured.vectorize %1 vector_sizes [8, 16, 4] : "
            "!transform.any_op"),
      "");
}

struct Case {
  const char *body, *expected;
};

TEST_F(StaticRulesTest, RefusesKnownKillers) {
  const Case cases[] = {
      {"%1, %l = transform.structured.tile_using_for %0 tile_sizes [-8] : "
       "(!transform.any_op) -> (!transform.any_op, !transform.any_op)",
       "tile sizes must be at least 0, got -8"},
      {"%s = transform.param.constant -1 : i64 -> !transform.param<i64>\n"
       "%1, %l = transform.structured.tile_using_for %0 tile_sizes [%s] : "
       "(!transform.any_op, !transform.param<i64>) -> (!transform.any_op, "
       "!transform.any_op)",
       "tile sizes must be at least 0, got -1"},
      {"%s = transform.tune.knob<\"k\"> = -4 from options = [-4, 2] -> "
       "!transform.param<i64>\n"
       "%1, %l = transform.structured.tile_using_for %0 tile_sizes [%s] : "
       "(!transform.any_op, !transform.param<i64>) -> (!transform.any_op, "
       "!transform.any_op)",
       "tile sizes must be at least 0, got -4"},
      {"%s = transform.param.constant \"q\" -> !transform.any_param\n"
       "%1, %l = transform.structured.tile_using_for %0 tile_sizes [%s] : "
       "(!transform.any_op, !transform.any_param) -> (!transform.any_op, "
       "!transform.any_op)",
       "tile sizes must be integers"},
      {"%1, %l = transform.structured.tile_using_forall %0 tile_sizes [0, 0] "
       ": (!transform.any_op) -> (!transform.any_op, !transform.any_op)",
       "tile sizes must not all be 0"},
      {"%s = transform.param.constant 0 : i64 -> !transform.param<i64>\n"
       "%1, %l = transform.structured.tile_using_forall %0 tile_sizes "
       "[%s, 0] : (!transform.any_op, !transform.param<i64>) -> "
       "(!transform.any_op, !transform.any_op)",
       "tile sizes must not all be 0"},
      {"%1, %l = transform.structured.tile_using_forall %0 num_threads "
       "[4, -1] : (!transform.any_op) -> (!transform.any_op, "
       "!transform.any_op)",
       "thread counts must be at least 0, got -1"},
      {"%a = transform.structured.split %0 after 0 {dimension = 0} : "
       "!transform.any_op",
       "the split point must be at least 1, got 0"},
      {"%a, %b, %c = transform.structured.multitile_sizes %0 {dimension = -1, "
       "target_size = 4} : (!transform.any_op) -> !transform.any_op",
       "the dimension must be at least 0, got -1"},
      {"%a, %b, %c = transform.structured.multitile_sizes %0 {dimension = 0, "
       "target_size = 0} : (!transform.any_op) -> !transform.any_op",
       "the target size must be at least 1, got 0"},
      {"%a, %b, %c = transform.structured.multitile_sizes %0 {dimension = 0, "
       "target_size = 4, divisor = 0} : (!transform.any_op) -> "
       "!transform.any_op",
       "the divisor must be at least 1, got 0"},
      {"%a, %b, %c = transform.structured.pad %0 pad_to_multiple_of [0] "
       "{padding_dimensions = [0], padding_values = [0.0 : f32]} : "
       "(!transform.any_op) -> (!transform.any_op, !transform.any_op, "
       "!transform.any_op)",
       "pad_to_multiple_of must be at least 1, got 0"},
      {"transform.loop.unroll %0 {factor = 9223372036854775807} : "
       "!transform.any_op",
       "the factor must be at most 64, got 9223372036854775807"},
      {"transform.structured.vectorize %0 vector_sizes [4096, 4096, 1024] : "
       "!transform.any_op",
       "the product of the vector sizes must be at most 16384"},
      {"%p = transform.get_producer_of_operand %0[-1] : (!transform.any_op) "
       "-> !transform.any_op",
       "the operand number must be at least 0, got -1"},
      {"%1, %l:2 = transform.structured.fuse %0 tile_sizes [-2, 4] : "
       "(!transform.any_op) -> (!transform.any_op, !transform.any_op, "
       "!transform.any_op)",
       "tile sizes must be at least 0, got -2"},
  };
  for (const Case &test : cases) {
    std::string message = check(test.body);
    EXPECT_NE(message.find(test.expected), std::string::npos)
        << test.body << "\ngives: " << message;
  }
}

TEST_F(StaticRulesTest, NamesOpAndLine) {
  EXPECT_EQ(check("\n%1, %l = transform.structured.tile_using_for %0 "
                  "tile_sizes [-8] : (!transform.any_op) -> "
                  "(!transform.any_op, !transform.any_op)"),
            "'transform.structured.tile_using_for' op at 5:10 refused: tile "
            "sizes must be at least 0, got -8");
}

} // namespace
