//===- SketchActionsTest.cpp - Recorded against derived actions -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"
#include "cwm/Sketches/Sketches.h"
#include "cwm/Trajectory/ActionText.h"
#include "cwm/TransformExt/PatternOps.h"
#include "cwm/TransformExt/Recorder.h"

#include "cwm/TransformExt/PatternOps.h"

#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

/// Real payloads through our sketches: what the world model rolls forward over
/// (derived from the bound script) is what the interpreter does.
class SketchActionsTest : public ::testing::TestWithParam<const char *> {
protected:
  static void SetUpTestSuite() {
    registerAllPasses();
    // Some sketches use passes of ours.
    cwm::registerPasses();
  }

  SketchActionsTest() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerAllExtensions(registry);
    cwm::registerTransformExtension(registry);
    context.appendDialectRegistry(registry);
    hardware.cpu = "test";
    hardware.vectorBits = 256;
    hardware.numVectorRegisters = 16;
    hardware.l1Bytes = 32 * 1024;
    hardware.l1Ways = 8;
    hardware.l2Bytes = 1024 * 1024;
  }

  /// True when the schedule applies; then the two must agree.
  bool check(const cwm::Payload &payload, const cwm::Space &space,
             const cwm::Assignment &assignment) {
    auto script = space.bind(assignment);
    EXPECT_TRUE(succeeded(script));
    if (failed(script))
      return false;
    auto derived = cwm::getActions(script->get());
    EXPECT_TRUE(succeeded(derived));
    OwningOpRef<ModuleOp> module = payload.getModule().clone();
    cwm::RecorderOptions options;
    options.states = cwm::RecorderOptions::States::Hash;
    cwm::Trajectory trajectory;
    LogicalResult result = cwm::recordNamedSequence(
        *module,
        transform::detail::findTransformEntryPoint(script->get(), ModuleOp()),
        ModuleOp(), options, trajectory);
    if (failed(result) || failed(derived))
      return false;
    std::vector<std::string> texts;
    for (const cwm::Action &action : *derived)
      texts.push_back(action.text);
    EXPECT_EQ(trajectory.getActionTexts(), texts) << space.getKey(assignment);
    // The last action leads to the last state.
    if (!trajectory.history.empty()) {
      EXPECT_EQ(trajectory.history.back().state,
                trajectory.steps.front().after);
    }
    return true;
  }

  MLIRContext context;
  cwm::HardwareDescription hardware;
};

TEST_P(SketchActionsTest, RecordedEqualsDerived) {
  std::string source =
      std::string(CWM_SOURCE_DIR "/benchmarks/payloads/rep/") + GetParam();
  FailureOr<cwm::Payload> payload = cwm::loadPayload(source, "", &context);
  ASSERT_TRUE(succeeded(payload));
  auto spaces =
      cwm::buildSpaces(*payload, hardware, CWM_SOURCE_DIR "/schedules/cpu");
  ASSERT_TRUE(succeeded(spaces));
  cwm::RandomEngine engine(7);
  for (const auto &space : *spaces) {
    std::optional<cwm::Assignment> first = space->getDefault();
    ASSERT_TRUE(first);
    EXPECT_TRUE(check(*payload, *space, *first)) << space->getName().str();
    // Some random candidates do not apply to some payloads; those that do
    // must agree.
    ScopedDiagnosticHandler quiet(&context,
                                  [](Diagnostic &) { return success(); });
    for (int i = 0; i < 3; ++i)
      if (auto sample = space->sample(engine))
        check(*payload, *space, *sample);
  }
}

INSTANTIATE_TEST_SUITE_P(Payloads, SketchActionsTest,
                         ::testing::Values("bert-t2.mlir", "bert-t6.mlir",
                                           "gptneo-t0.mlir", "mbv2-t1.mlir",
                                           "gpt2-t0.mlir", "opt-t3.mlir",
                                           "mbv2-t31.mlir", "mbv2-t4.mlir"));

} // namespace
