//===- ActionTextTest.cpp - Tests of the canonical action text --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Trajectory/ActionText.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using Texts = std::vector<std::string>;

namespace {

class ActionTextTest : public ::testing::Test {
protected:
  ActionTextTest() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerAllExtensions(registry);
    context.appendDialectRegistry(registry);
  }

  /// Texts of a script with the given entry body and further sequences.
  Texts textsOf(StringRef body, StringRef sequences = "") {
    std::string source =
        ("module attributes {transform.with_named_sequence} {\n" + sequences +
         "transform.named_sequence @__transform_main(%root: !transform.any_op) "
         "{\n" +
         body + "\ntransform.yield\n}\n}")
            .str();
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
    });
    module = parseSourceString<ModuleOp>(source, &context);
    EXPECT_TRUE(module) << errors;
    if (!module)
      return {};
    auto actions = cwm::getActions(*module);
    if (failed(actions))
      return {"<failed>"};
    Texts texts;
    for (const cwm::Action &action : *actions)
      texts.push_back(action.text);
    return texts;
  }
  void expectError(StringRef message, StringRef body,
                   StringRef sequences = "") {
    EXPECT_EQ(textsOf(body, sequences), Texts{"<failed>"});
    EXPECT_EQ(errors, (message + "\n").str());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string errors;
};

constexpr StringLiteral matchMatmul =
    "%m = transform.structured.match ops{[\"linalg.matmul\"]} in %root : "
    "(!transform.any_op) -> !transform.any_op\n";

TEST_F(ActionTextTest, OnlyOpsThatChangeThePayloadAreActions) {
  EXPECT_EQ(textsOf(matchMatmul.str() + R"(
    %f = transform.get_parent_op %m {op_name = "func.func"} : (!transform.any_op) -> !transform.any_op
    %p = transform.get_producer_of_operand %m[0] : (!transform.any_op) -> !transform.any_op
    %c = transform.get_consumers_of_result %m[0] : (!transform.any_op) -> !transform.any_op
    %all = transform.merge_handles %p, %c : !transform.any_op
    %parts:2 = transform.split_handle %all : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %k = transform.param.constant 4 : i64 -> !transform.param<i64>
    transform.debug.emit_remark_at %m, "here" : !transform.any_op
    transform.print %m : !transform.any_op
    transform.verify %f : !transform.any_op
    transform.apply_cse to %f : !transform.any_op
    transform.apply_dce to %f : !transform.any_op
    transform.apply_licm to %parts#1 : !transform.any_op
    transform.annotate %all "k" = %k : !transform.any_op, !transform.param<i64>
  )"),
            (Texts{"apply_cse on func.func around linalg.matmul",
                   "apply_dce on func.func around linalg.matmul",
                   "apply_licm on part 1 of producer for operand 0 of "
                   "linalg.matmul + consumer of result 0 of linalg.matmul",
                   "annotate name=\"k\" params=[4] on producer for operand 0 "
                   "of linalg.matmul + consumer of result 0 of "
                   "linalg.matmul"}));
}

TEST_F(ActionTextTest, ParametersAreResolvedInPlace) {
  EXPECT_EQ(textsOf(matchMatmul.str() + R"(
    %a = transform.tune.knob<"a"> = 6 : i64 from options = [4 : i64, 6 : i64] -> !transform.param<i64>
    %b = transform.param.constant 64 : i64 -> !transform.param<i64>
    %t, %l:3 = transform.structured.tile_using_for %m tile_sizes [%a, 8, %b] interchange = [1, 0, 2]
      : (!transform.any_op, !transform.param<i64>, !transform.param<i64>)
      -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.structured.vectorize %t vector_sizes [%a, [8], 1] : !transform.any_op, !transform.param<i64>
    transform.loop.unroll %l#2 {factor = 4 : i64} : !transform.any_op
  )"),
            (Texts{"structured.tile_using_for interchange=[1, 0, 2] sizes=[6, "
                   "8, 64] on linalg.matmul",
                   "structured.vectorize scalable_sizes=array<i1: false, true, "
                   "false> vector_sizes=[6, 8, 1] on tiled linalg.matmul",
                   "loop.unroll factor=4 on loop 2 of "
                   "structured.tile_using_for"}));
}

TEST_F(ActionTextTest, AParameterReadsLikeTheSameNumberWritten) {
  StringRef types = "(!transform.any_op) -> (!transform.any_op, "
                    "!transform.any_op)\n";
  Texts written = textsOf(
      matchMatmul.str() +
      "%t, %l = transform.structured.tile_using_for %m tile_sizes [6] : " +
      types.str());
  Texts knob = textsOf(
      matchMatmul.str() +
      "%a = transform.tune.knob<\"a\"> = 6 : i64 from options = [6 : i64] -> "
      "!transform.param<i64>\n"
      "%t, %l = transform.structured.tile_using_for %m tile_sizes [%a] : "
      "(!transform.any_op, !transform.param<i64>) -> (!transform.any_op, "
      "!transform.any_op)");
  EXPECT_EQ(written, knob);
}

TEST_F(ActionTextTest, ParametersThatThePayloadDecidesAreNamed) {
  EXPECT_EQ(textsOf(matchMatmul.str() + R"(
    %s:3 = transform.structured.multitile_sizes %m {dimension = 0, target_size = 8}
      : (!transform.any_op) -> !transform.param<i64>
    %t, %l = transform.structured.tile_using_for %m tile_sizes [%s#0]
      : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
  )"),
            (Texts{"structured.tile_using_for "
                   "sizes=[(structured.multitile_sizes#0)] on "
                   "linalg.matmul"}));
}

TEST_F(ActionTextTest, TypedHandlesNameTheirOp) {
  EXPECT_EQ(textsOf(matchMatmul.str() + R"(
    %p = transform.structured.pack %m packed_sizes = [6, 64, 8]
      : (!transform.any_op) -> !transform.op<"linalg.generic">
    %b = transform.get_producer_of_operand %p[1]
      : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.pack">
    %p2, %b2, %e = transform.structured.pack_transpose %b with_compute_op(%p) outer_perm = [1, 0]
      : (!transform.op<"linalg.pack">, !transform.op<"linalg.generic">)
      -> (!transform.op<"linalg.generic">, !transform.op<"linalg.pack">, !transform.any_op)
  )"),
            (Texts{"structured.pack packed_sizes=[6, 64, 8] on linalg.matmul",
                   "structured.pack_transpose outer_perm=[1, 0] on linalg.pack "
                   "for operand 1 of linalg.generic from structured.pack#0, "
                   "linalg.generic from structured.pack#0"}));
}

TEST_F(ActionTextTest, IncludesAreExpandedAndTheirNamesDoNotMatter) {
  auto script = [](StringRef name) {
    return ("transform.named_sequence @" + name +
            "(%x: !transform.any_op {transform.consumed}, "
            "%s: !transform.param<i64> {transform.readonly}) -> "
            "!transform.any_op {\n"
            "%t, %l = transform.structured.tile_using_for %x tile_sizes [%s] : "
            "(!transform.any_op, !transform.param<i64>) -> (!transform.any_op, "
            "!transform.any_op)\n"
            "transform.yield %l : !transform.any_op\n}\n")
        .str();
  };
  auto body = [](StringRef name) {
    return (matchMatmul +
            "%a = transform.param.constant 3 : i64 -> !transform.param<i64>\n"
            "%l = transform.include @" +
            name +
            " failures(propagate) (%m, %a) : (!transform.any_op, "
            "!transform.param<i64>) -> !transform.any_op\n"
            "transform.apply_licm to %l : !transform.any_op\n")
        .str();
  };
  Texts expected{"structured.tile_using_for sizes=[3] on linalg.matmul",
                 "apply_licm on loop 0 of structured.tile_using_for"};
  EXPECT_EQ(textsOf(body("one"), script("one")), expected);
  EXPECT_EQ(textsOf(body("two"), script("two")), expected);
}

TEST_F(ActionTextTest, OneSequenceIncludedTwiceSeesItsOwnArguments) {
  EXPECT_EQ(textsOf(R"(
    %a = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %b = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.include @tag failures(propagate) (%a) : (!transform.any_op) -> ()
    transform.include @tag failures(propagate) (%b) : (!transform.any_op) -> ()
  )",
                    R"(
    transform.named_sequence @tag(%x: !transform.any_op {transform.readonly}) {
      transform.annotate %x "t" : !transform.any_op
      transform.yield
    }
  )"),
            (Texts{"annotate name=\"t\" on linalg.fill",
                   "annotate name=\"t\" on linalg.matmul"}));
}

TEST_F(ActionTextTest, LoopsCountOnce) {
  EXPECT_EQ(textsOf(matchMatmul.str() + R"(
    %four = transform.param.constant 4 : i64 -> !transform.param<i64>
    %two = transform.param.constant 2 : i64 -> !transform.param<i64>
    %both = transform.merge_handles %four, %two : !transform.param<i64>
    %r = transform.foreach %m : !transform.any_op -> !transform.any_op {
    ^bb0(%x: !transform.any_op):
      transform.annotate %x "t" : !transform.any_op
      transform.yield %x : !transform.any_op
    }
    transform.foreach %four : !transform.param<i64> {
    ^bb0(%x: !transform.param<i64>):
      transform.annotate %r "one" = %x : !transform.any_op, !transform.param<i64>
    }
    transform.foreach %both : !transform.param<i64> {
    ^bb0(%x: !transform.param<i64>):
      transform.annotate %r "two" = %x : !transform.any_op, !transform.param<i64>
    }
  )"),
            (Texts{"annotate name=\"t\" on linalg.matmul",
                   "annotate name=\"one\" params=[4] on linalg.matmul",
                   "annotate name=\"two\" params=[(each of 4, 2)] on "
                   "linalg.matmul"}));
}

TEST_F(ActionTextTest, SelectedAlternativesAreExpanded) {
  auto body = [](StringRef selection, StringRef type) {
    return (matchMatmul +
            "%one = transform.param.constant 1 : i64 -> "
            "!transform.param<i64>\n"
            "%r = transform.tune.alternatives<\"x\"> selected_region = " +
            selection + type + R"( -> !transform.any_op {
      transform.annotate %m "first" : !transform.any_op
      transform.yield %root : !transform.any_op
    }, {
      transform.annotate %m "second" : !transform.any_op
      transform.yield %m : !transform.any_op
    }
    transform.apply_cse to %r : !transform.any_op)")
        .str();
  };
  EXPECT_EQ(textsOf(body("0", "")), (Texts{"annotate name=\"first\" on "
                                           "linalg.matmul",
                                           "apply_cse on root"}));
  EXPECT_EQ(textsOf(body("%one", " : !transform.param<i64>")),
            (Texts{"annotate name=\"second\" on linalg.matmul",
                   "apply_cse on linalg.matmul"}));
}

TEST_F(ActionTextTest, PairsOfForeachMatchCountOnceInOrder) {
  EXPECT_EQ(
      textsOf(R"(
    %r = transform.foreach_match in %root @is_matmul -> @tile, @is_fill -> @tag
      : (!transform.any_op) -> !transform.any_op
    transform.apply_cse to %r : !transform.any_op)",
              R"(
    transform.named_sequence @is_matmul(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
      transform.match.operation_name %op ["linalg.matmul"] : !transform.any_op
      transform.yield %op : !transform.any_op
    }
    transform.named_sequence @is_fill(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
      transform.match.operation_name %op ["linalg.fill"] : !transform.any_op
      transform.yield %op : !transform.any_op
    }
    transform.named_sequence @tile(%op: !transform.any_op {transform.consumed}) {
      %t, %l = transform.structured.tile_using_for %op tile_sizes [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
      transform.yield
    }
    transform.named_sequence @tag(%op: !transform.any_op {transform.readonly}) {
      transform.annotate %op "fill" : !transform.any_op
      transform.yield
    })"),
      (Texts{"structured.tile_using_for sizes=[4] on linalg.matmul",
             "annotate name=\"fill\" on linalg.fill", "apply_cse on root"}));
}

TEST_F(ActionTextTest, PatternsAndPassOptionsAreSpelledOut) {
  EXPECT_EQ(textsOf(R"(
    %f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %f {
      transform.apply_patterns.vector.lower_contraction lowering_strategy = "outerproduct"
      transform.apply_patterns.canonicalization
    } {apply_cse} : !transform.any_op
    %n = transform.param.constant 3 : i64 -> !transform.param<i64>
    %g = transform.apply_registered_pass "canonicalize" with options = {"max-iterations" = %n, "top-down" = false}
      to %f : (!transform.any_op, !transform.param<i64>) -> !transform.any_op
    transform.apply_licm to %g : !transform.any_op
  )"),
            (Texts{"apply_patterns apply_cse body={vector.lower_contraction "
                   "lowering_strategy=2; canonicalization} on "
                   "func.func",
                   "apply_registered_pass options={max-iterations=3, "
                   "top-down=false} pass_name=\"canonicalize\" on func.func",
                   "apply_licm on func.func"}));
}

TEST_F(ActionTextTest, DiscardableAttributesAreNoPartOfAnAction) {
  EXPECT_EQ(textsOf("transform.apply_cse to %root {note = 1} : "
                    "!transform.any_op"),
            Texts{"apply_cse on root"});
}

TEST_F(ActionTextTest, FuseTakesSizesBeforeInterchange) {
  EXPECT_EQ(textsOf(matchMatmul.str() + R"(
    %a = transform.param.constant 8 : i64 -> !transform.param<i64>
    %b = transform.param.constant 1 : i64 -> !transform.param<i64>
    %t, %l:2 = transform.structured.fuse %m tile_sizes [%a, 4] interchange [%b, 0]
      : (!transform.any_op, !transform.param<i64>, !transform.param<i64>)
      -> (!transform.any_op, !transform.any_op, !transform.any_op)
  )"),
            (Texts{"structured.fuse tile_interchange=[1, 0] tile_sizes=[8, 4] "
                   "on linalg.matmul"}));
}

TEST_F(ActionTextTest, RefusesWhatIsNotBound) {
  expectError("cannot derive actions: knob 'a' is not bound",
              "%a = transform.tune.knob<\"a\"> options = [1] -> "
              "!transform.param<i64>");
}

TEST_F(ActionTextTest, RefusesUnselectedAlternatives) {
  expectError("cannot derive actions: alternatives 'x' are not bound",
              "transform.tune.alternatives<\"x\"> { transform.yield }");
}

TEST_F(ActionTextTest, RefusesUnresolvedBindings) {
  expectError(
      "cannot derive actions: 'cwm.bind' of 'transform.loop.unroll' is not "
      "resolved",
      "transform.loop.unroll %root {factor = 2 : i64, cwm.bind = {factor = "
      "\"u\"}} : !transform.any_op");
}

TEST_F(ActionTextTest, RefusesAlternativesThatThePayloadDecides) {
  expectError("cannot derive actions: which region of "
              "'transform.alternatives' applies depends on the payload; use "
              "'transform.tune.alternatives' to select one",
              R"(transform.alternatives %root : !transform.any_op {
    ^bb0(%x: !transform.any_op):
      transform.annotate %x "a" : !transform.any_op
    }, {
    ^bb0(%x: !transform.any_op):
    })");
}

TEST_F(ActionTextTest, ASingleAlternativeIsExpanded) {
  EXPECT_EQ(textsOf(R"(transform.alternatives %root : !transform.any_op {
    ^bb0(%x: !transform.any_op):
      transform.annotate %x "a" : !transform.any_op
    })"),
            Texts{"annotate name=\"a\" on root"});
}

// What scores look at where the history is not known.
TEST_F(ActionTextTest, AllRegionsOfAlternativesOnRequest) {
  textsOf(R"(transform.alternatives %root : !transform.any_op {
    ^bb0(%a: !transform.any_op):
      transform.annotate %a "first" : !transform.any_op
    }, {
    ^bb0(%a: !transform.any_op):
      transform.annotate %a "second" : !transform.any_op
    }
    transform.annotate %root "third" : !transform.any_op)");
  auto actions = cwm::getActions(*module, "__transform_main",
                                 /*allRegions=*/true);
  ASSERT_TRUE(succeeded(actions));
  Texts texts;
  for (const cwm::Action &action : *actions)
    texts.push_back(action.text);
  EXPECT_EQ(texts, (Texts{"annotate name=\"first\" on root",
                          "annotate name=\"second\" on root",
                          "annotate name=\"third\" on root"}));
}

TEST_F(ActionTextTest, RefusesExternalSequences) {
  expectError("cannot derive actions: @lib is not a named sequence with a body "
              "in this script",
              "transform.include @lib failures(propagate) (%root) : "
              "(!transform.any_op) -> ()",
              "transform.named_sequence private @lib(!transform.any_op "
              "{transform.readonly})\n");
}

TEST_F(ActionTextTest, RefusesAScriptWithoutEntryPoint) {
  module = parseSourceString<ModuleOp>(
      "module attributes {transform.with_named_sequence} {}", &context);
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { errors += diagnostic.str(); });
  EXPECT_TRUE(failed(cwm::getActions(*module)));
  EXPECT_EQ(errors, "cannot derive actions: no entry point @__transform_main "
                    "in the script");
}

} // namespace
