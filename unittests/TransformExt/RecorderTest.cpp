//===- RecorderTest.cpp - Tests of the recorder -----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/TransformExt/Recorder.h"
#include "cwm/Trajectory/ActionText.h"
#include "cwm/Trajectory/StateText.h"

#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <thread>

using namespace mlir;
using Texts = std::vector<std::string>;

namespace {

constexpr StringLiteral payloadText = R"(
  func.func @kernel(%a: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %zero = arith.constant 0.0 : f32
    %fill = linalg.fill ins(%zero : f32) outs(%a : tensor<16x16xf32>) -> tensor<16x16xf32>
    %r = linalg.matmul ins(%a, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%fill : tensor<16x16xf32>) -> tensor<16x16xf32>
    return %r : tensor<16x16xf32>
  })";

/// One context with a payload and a script.
struct ScheduleRun {
  ScheduleRun(StringRef body, StringRef sequences = "",
              StringRef effect = "transform.readonly")
      : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerAllExtensions(registry);
    context.appendDialectRegistry(registry);
    payload = parseSourceString<ModuleOp>(payloadText, &context);
    std::string text =
        ("module attributes {transform.with_named_sequence} {\n" + sequences +
         "transform.named_sequence @__transform_main(%root: !transform.any_op "
         "{" +
         effect + "}) {\n" + body + "\ntransform.yield\n}\n}")
            .str();
    script = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(payload && script);
  }

  transform::TransformOpInterface getEntry() {
    return transform::detail::findTransformEntryPoint(script.get(), {});
  }
  LogicalResult record(cwm::RecorderOptions options = {}) {
    return cwm::recordNamedSequence(payload.get(), getEntry(), {}, options,
                                    trajectory);
  }
  LogicalResult interpret() {
    return transform::applyTransformNamedSequence(
        payload.get(), getEntry(), {}, transform::TransformOptions());
  }
  Texts getDerivedTexts() {
    auto actions = cwm::getActions(*script);
    EXPECT_TRUE(succeeded(actions));
    Texts texts;
    for (const cwm::Action &action : *actions)
      texts.push_back(action.text);
    return texts;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> payload, script;
  cwm::Trajectory trajectory;
};

constexpr StringLiteral matchBoth =
    "%ops = transform.structured.match ops{[\"linalg.fill\", "
    "\"linalg.matmul\"]} in %root : (!transform.any_op) -> !transform.any_op\n";
constexpr StringLiteral tileMatmul =
    "%mm = transform.structured.match ops{[\"linalg.matmul\"]} in %root : "
    "(!transform.any_op) -> !transform.any_op\n"
    "%t, %l = transform.structured.tile_using_for %mm tile_sizes [4] : "
    "(!transform.any_op) -> (!transform.any_op, !transform.any_op)\n";

TEST(RecorderTest, NoStatesFromTheFirstActionThatEndsThem) {
  std::string body =
      (tileMatmul + "transform.structured.vectorize %t vector_sizes [4, 16, 16]"
                    " : !transform.any_op\n"
                    "%mm2 = transform.structured.match ops{[\"scf.for\"]} in "
                    "%root : (!transform.any_op) -> !transform.any_op\n"
                    "transform.apply_licm to %mm2 : !transform.any_op\n")
          .str();
  ScheduleRun all(body), some(body);
  ASSERT_TRUE(succeeded(all.record()));
  Texts asked;
  cwm::RecorderOptions options;
  options.endsStates = [&](StringRef text) {
    asked.push_back(text.str());
    return text.starts_with("structured.vectorize");
  };
  ASSERT_TRUE(succeeded(some.record(options)));
  // The actions are all there, and it is not asked again.
  EXPECT_EQ(some.trajectory.getActionTexts(), all.trajectory.getActionTexts());
  ASSERT_EQ(some.trajectory.history.size(), 3U);
  EXPECT_EQ(asked.size(), 2U);
  EXPECT_EQ(some.trajectory.states.size(), 2U);
  EXPECT_GT(all.trajectory.states.size(), 2U);
  EXPECT_EQ(some.trajectory.history[0].state, 1U);
  EXPECT_EQ(some.trajectory.history[1].state, std::nullopt);
  EXPECT_EQ(some.trajectory.history[2].state, std::nullopt);
  // The payload itself is changed all the same.
  EXPECT_EQ(cwm::getStateText(*some.payload), cwm::getStateText(*all.payload));
}

TEST(RecorderTest, StatesAreThoseOfThePayload) {
  ScheduleRun run(tileMatmul);
  std::string before = cwm::getStateText(*run.payload);
  ASSERT_TRUE(succeeded(run.record()));
  ASSERT_EQ(run.trajectory.states.size(), 2u);
  EXPECT_EQ(run.trajectory.states[0].text, before);
  EXPECT_EQ(run.trajectory.states[1].text, cwm::getStateText(*run.payload));
  EXPECT_EQ(run.trajectory.states[1].hash,
            cwm::hashText(run.trajectory.states[1].text));
  ASSERT_EQ(run.trajectory.history.size(), 1u);
  EXPECT_EQ(run.trajectory.history[0].state, std::optional<unsigned>(1));
}

TEST(RecorderTest, PayloadsOfStatesAreCopies) {
  ScheduleRun run(tileMatmul);
  cwm::RecorderOptions options;
  options.states = cwm::RecorderOptions::States::Payload;
  ASSERT_TRUE(succeeded(run.record(options)));
  for (const cwm::State &state : run.trajectory.states) {
    ASSERT_TRUE(state.payload);
    EXPECT_EQ(cwm::hashText(cwm::getStateText(*state.payload)), state.hash);
  }
}

TEST(RecorderTest, ALoopCountsOnceWhateverItsLength) {
  StringRef loop = R"(
    transform.foreach %ops : !transform.any_op {
    ^bb0(%x: !transform.any_op):
      transform.annotate %x "a" : !transform.any_op
      transform.annotate %x "b" : !transform.any_op
    })";
  auto match = [&](StringRef names) {
    return ("%ops = transform.structured.match ops{[" + names +
            "]} in %root : (!transform.any_op) -> !transform.any_op" + loop)
        .str();
  };
  for (StringRef names : {"\"linalg.transpose\"", "\"linalg.fill\"",
                          "\"linalg.fill\", \"linalg.matmul\""}) {
    ScheduleRun run(match(names));
    ASSERT_TRUE(succeeded(run.record()));
    EXPECT_EQ(run.trajectory.getActionTexts(), run.getDerivedTexts());
    ASSERT_EQ(run.trajectory.history.size(), 2u);
    // Behind the loop the state is known; inside only if it ran at most once.
    unsigned last = run.trajectory.states.size() - 1;
    EXPECT_EQ(run.trajectory.history[1].state, std::optional<unsigned>(last));
    EXPECT_EQ(run.trajectory.history[0].state.has_value(), last != 4);
  }
}

TEST(RecorderTest, NestedLoopsAndIncludes) {
  ScheduleRun run(matchBoth.str() + R"(
    %none = transform.structured.match ops{["linalg.transpose"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.foreach %ops : !transform.any_op {
    ^bb0(%x: !transform.any_op):
      transform.include @inner failures(propagate) (%x, %none) : (!transform.any_op, !transform.any_op) -> ()
      transform.annotate %x "c" : !transform.any_op
    })",
                  R"(
    transform.named_sequence @inner(%x: !transform.any_op {transform.readonly}, %none: !transform.any_op {transform.readonly}) {
      transform.foreach %x : !transform.any_op {
      ^bb0(%y: !transform.any_op):
        transform.annotate %y "a" : !transform.any_op
      }
      transform.foreach %none : !transform.any_op {
      ^bb0(%y: !transform.any_op):
        transform.annotate %y "b" : !transform.any_op
      }
      transform.yield
    })");
  ASSERT_TRUE(succeeded(run.record()));
  EXPECT_EQ(run.trajectory.getActionTexts(), run.getDerivedTexts());
  EXPECT_EQ(run.trajectory.getActionTexts(),
            (Texts{"annotate name=\"a\" on linalg.fill|linalg.matmul",
                   "annotate name=\"b\" on linalg.transpose",
                   "annotate name=\"c\" on linalg.fill|linalg.matmul"}));
}

TEST(RecorderTest, SuppressedFailuresHideNoAction) {
  // Whether the action in the middle fails depends on the payload.
  ScheduleRun run(matchBoth.str() + R"(
    transform.foreach %ops : !transform.any_op {
    ^bb0(%x: !transform.any_op):
      transform.include @inner failures(suppress) (%x) : (!transform.any_op) -> ()
      transform.annotate %x "c" : !transform.any_op
    })",
                  R"(
    transform.named_sequence @inner(%x: !transform.any_op {transform.readonly}) {
      transform.annotate %x "a" : !transform.any_op
      transform.loop.hoist_loop_invariant_subsets %x : !transform.any_op
      transform.annotate %x "b" : !transform.any_op
      transform.yield
    })");
  ASSERT_TRUE(succeeded(run.record()));
  Texts texts = run.trajectory.getActionTexts();
  EXPECT_EQ(texts, run.getDerivedTexts());
  EXPECT_EQ(texts.size(), 4u);
  EXPECT_TRUE(llvm::any_of(run.trajectory.steps, [](const cwm::Step &step) {
    return step.status == cwm::StepStatus::Silenceable;
  }));
}

TEST(RecorderTest, ParametersAreTheOnesSeen) {
  // The same text, once from the script and once from what the op was given.
  ScheduleRun run(matchBoth.str() + R"(
    %a = transform.param.constant 4 : i64 -> !transform.param<i64>
    %b = transform.tune.knob<"b"> = 8 : i64 from options = [8 : i64] -> !transform.param<i64>
    %all = transform.merge_handles %a, %b : !transform.param<i64>
    %parts:2 = transform.split_handle %all : (!transform.param<i64>) -> (!transform.param<i64>, !transform.param<i64>)
    transform.annotate %ops "last" = %parts#1 : !transform.any_op, !transform.param<i64>
    transform.foreach %all : !transform.param<i64> {
    ^bb0(%x: !transform.param<i64>):
      transform.annotate %ops "each" = %x : !transform.any_op, !transform.param<i64>
    })");
  ASSERT_TRUE(succeeded(run.record()));
  EXPECT_EQ(run.trajectory.getActionTexts(), run.getDerivedTexts());
  EXPECT_EQ(run.trajectory.getActionTexts().front(),
            "annotate name=\"last\" params=[8] on linalg.fill|linalg.matmul");
}

TEST(RecorderTest, OneActionInTwoPairs) {
  // Both pairs run the same sequence; each op is counted to the pair whose
  // matcher took it.
  ScheduleRun run(R"(
    %r = transform.foreach_match in %root @is_matmul -> @tag, @is_fill -> @tag
      : (!transform.any_op) -> !transform.any_op)",
                  R"(
    transform.named_sequence @is_matmul(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
      transform.match.operation_name %op ["linalg.matmul"] : !transform.any_op
      transform.yield %op : !transform.any_op
    }
    transform.named_sequence @is_fill(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
      transform.match.operation_name %op ["linalg.fill"] : !transform.any_op
      transform.yield %op : !transform.any_op
    }
    transform.named_sequence @tag(%op: !transform.any_op {transform.readonly}) {
      transform.annotate %op "tag" : !transform.any_op
      transform.yield
    })",
                  "transform.consumed");
  ASSERT_TRUE(succeeded(run.record()));
  EXPECT_EQ(run.trajectory.getActionTexts(), run.getDerivedTexts());
  EXPECT_EQ(run.trajectory.getActionTexts(),
            (Texts{"annotate name=\"tag\" on linalg.matmul",
                   "annotate name=\"tag\" on linalg.fill"}));
}

TEST(RecorderTest, AlternativesThatAllFailLeaveNothing) {
  ScheduleRun run(R"(
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.alternatives %func : !transform.any_op {
    ^bb0(%f: !transform.any_op):
      transform.annotate %f "tried" : !transform.any_op
      %u, %v = transform.split_handle %f {fail_on_payload_too_small = true} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    })");
  ScopedDiagnosticHandler quiet(&run.context,
                                [](Diagnostic &) { return success(); });
  ASSERT_TRUE(failed(run.record()));
  EXPECT_EQ(run.trajectory.status, cwm::StepStatus::Silenceable);
  EXPECT_TRUE(run.trajectory.history.empty());
  for (const cwm::Step &step : run.trajectory.steps)
    EXPECT_EQ(step.rolledBack, step.depth > 1) << step.name;
}

TEST(RecorderTest, RecordingEndsWithTheRecorder) {
  ScheduleRun run(tileMatmul);
  {
    cwm::Recorder recorder(&run.context);
  }
  ASSERT_TRUE(succeeded(run.interpret()));
  cwm::Recorder recorder(&run.context);
  cwm::Trajectory trajectory = recorder.finish(success());
  EXPECT_TRUE(trajectory.steps.empty());
}

TEST(RecorderTest, InnerRecorderTakesOver) {
  ScheduleRun run(tileMatmul);
  cwm::Recorder outer(&run.context);
  ASSERT_TRUE(succeeded(run.record()));
  EXPECT_FALSE(run.trajectory.steps.empty());
  EXPECT_TRUE(outer.finish(success()).steps.empty());
}

TEST(RecorderTest, InstallationIsIdempotent) {
  ScheduleRun run(tileMatmul);
  EXPECT_GT(cwm::Recorder::install(&run.context), 50u);
  EXPECT_EQ(cwm::Recorder::install(&run.context), 0u);
}

TEST(RecorderTest, ContextsOnThreadsAreIndependent) {
  std::vector<std::string> results(4);
  std::vector<std::thread> threads;
  for (std::string &result : results)
    threads.emplace_back([&result] {
      for (int i = 0; i < 5; ++i) {
        ScheduleRun run(tileMatmul);
        if (failed(run.record()))
          return;
        result = run.trajectory.states.back().hash;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &result : results)
    EXPECT_EQ(result, results.front());
  EXPECT_FALSE(results.front().empty());
}

TEST(RecorderTest, SameTextWithAndWithoutRecording) {
  ScheduleRun recorded(tileMatmul), plain(tileMatmul);
  cwm::RecorderOptions options;
  options.verifySteps = true;
  ASSERT_TRUE(succeeded(recorded.record(options)));
  ASSERT_TRUE(succeeded(plain.interpret()));
  std::string a, b;
  llvm::raw_string_ostream osA(a), osB(b);
  recorded.payload->print(osA);
  plain.payload->print(osB);
  EXPECT_EQ(a, b);
}

} // namespace
