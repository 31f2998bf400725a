//===- SketchesTest.h - Spaces of payloads on a known processor -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_UNITTESTS_SKETCHES_SKETCHESTEST_H
#define CWM_UNITTESTS_SKETCHES_SKETCHESTEST_H

#include "Sketches/Analysis.h"
#include "cwm/Sketches/Sketches.h"

#include "cwm/TransformExt/PatternOps.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace cwm::test {

using namespace mlir;

inline constexpr StringLiteral schedules = CWM_SOURCE_DIR "/schedules/cpu";

/// A processor with vectors of 512 bits, and the spaces of payloads on it.
class SketchesTest : public ::testing::Test {
protected:
  SketchesTest()
      : handler(&context, [this](Diagnostic &diagnostic) {
          errors.push_back(diagnostic.str());
        }) {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerAllExtensions(registry);
    cwm::registerTransformExtension(registry);
    context.appendDialectRegistry(registry);
    hardware.cpu = "test";
    hardware.vectorBits = 512;
    hardware.numVectorRegisters = 32;
    hardware.l1Bytes = 48 * 1024;
    hardware.l1Ways = 12;
    hardware.l2Bytes = 2 * 1024 * 1024;
  }

  static void SetUpTestSuite() { registerAllPasses(); }

  cwm::Payload parse(StringRef source) {
    FailureOr<cwm::Payload> payload =
        cwm::Payload::create(parseSourceString<ModuleOp>(source, &context));
    EXPECT_TRUE(succeeded(payload)) << source.str();
    return std::move(*payload);
  }

  std::vector<std::unique_ptr<cwm::Space>> build(StringRef source) {
    auto spaces = cwm::buildSpaces(parse(source), hardware, schedules);
    EXPECT_TRUE(succeeded(spaces));
    EXPECT_TRUE(errors.empty()) << errors.front();
    return std::move(*spaces);
  }

  /// The space of one sketch, for so many threads.
  std::unique_ptr<cwm::Space> build(StringRef source, StringRef name,
                                    int64_t threads) {
    auto spaces = cwm::buildSpaces(parse(source), hardware, schedules,
                                   /*why=*/nullptr, threads);
    EXPECT_TRUE(succeeded(spaces));
    for (std::unique_ptr<cwm::Space> &space : *spaces)
      if (space->getName() == name)
        return std::move(space);
    ADD_FAILURE() << "no sketch " << name.str();
    return std::move(spaces->front());
  }

  std::string names(StringRef source) {
    std::string result;
    for (const auto &space : build(source))
      result += (result.empty() ? "" : " ") + space->getName().str();
    return result;
  }

  static const cwm::Knob &getKnob(const cwm::Space &space, StringRef name) {
    for (const cwm::Knob &knob : space.getKnobs())
      if (knob.name == name)
        return knob;
    ADD_FAILURE() << "no knob " << name.str();
    return space.getKnobs().front();
  }

  static std::string getOptions(const cwm::Space &space, StringRef name) {
    std::string text;
    llvm::raw_string_ostream os(text);
    const cwm::Knob &knob = getKnob(space, name);
    for (uint64_t option = 0; option < knob.getNumOptions(); ++option)
      os << (option ? "," : "") << knob.getOptionText(option);
    return text;
  }

  std::string whyNot(StringRef source) {
    std::string why;
    EXPECT_FALSE(cwm::analyseContraction(parse(source),
                                         cwm::ContractionPayload::None,
                                         /*collapse=*/false, &why));
    return why;
  }

  MLIRContext context;
  std::vector<std::string> errors;
  ScopedDiagnosticHandler handler;
  cwm::HardwareDescription hardware;
};

} // namespace cwm::test

#endif // CWM_UNITTESTS_SKETCHES_SKETCHESTEST_H
