//===- ResultFileTest.cpp - Guards and header of best.mlir ---- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPayload.h"

#include "cwm/Tune/ApplyCommand.h"
#include "cwm/Tune/ResultFile.h"

#include "mlir/Dialect/Func/TransformOps/FuncTransformOps.h"
#include "mlir/Dialect/Linalg/TransformOps/DialectExtension.h"
#include "mlir/Dialect/Transform/DebugExtension/DebugExtension.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "llvm/Support/JSON.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace cwm;
using namespace mlir;
using ::testing::HasSubstr;

namespace {
class ResultFile : public ::testing::Test {
protected:
  ResultFile() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registry.insert<transform::TransformDialect>();
    linalg::registerTransformDialectExtension(registry);
    func::registerTransformDialectExtension(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<transform::TransformDialect>();
  }

  std::string render(const Payload &payload,
                     StringRef argument = "!transform.any_op") {
    auto script = parseSourceString<ModuleOp>(
        ("module attributes {transform.with_named_sequence} {\n"
         "  transform.named_sequence @__transform_main(%r: " +
         argument +
         " {transform.readonly}) {\n"
         "    transform.yield\n  }\n}")
            .str(),
        &context);
    EXPECT_TRUE(script);
    FailureOr<std::string> text = renderResult(*script, payload, info);
    EXPECT_TRUE(succeeded(text));
    return *text;
  }

  /// Applies `result` to a fresh copy of `payload` and returns the error.
  std::string apply(StringRef result, const Payload &payload) {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      llvm::raw_string_ostream os(message);
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        os << diagnostic.getLocation() << ": " << diagnostic << "\n";
    });
    auto library = parseSourceString<ModuleOp>(result, &context);
    if (!library)
      return message;
    OwningOpRef<ModuleOp> module(payload.getModule().clone());
    transform::TransformOptions options;
    auto entry = cast<transform::TransformOpInterface>(
        SymbolTable::lookupSymbolIn(*library, "__transform_main"));
    if (failed(transform::applyTransformNamedSequence(*module, entry, *library,
                                                      options)))
      return message;
    return "applied";
  }

  MLIRContext context;
  ResultInfo info;
};
} // namespace

TEST_F(ResultFile, AppliesToItsPayload) {
  Payload payload = test::makePayload(context, 8);
  EXPECT_EQ(apply(render(payload), payload), "applied");
}

// A handle to an op that the schedule's passes erase dangles, and the
// interpreter looks at every live handle: none of the guards' may be left.
TEST_F(ResultFile, NoHandleOfTheGuardsOutlivesThem) {
  Payload payload = test::makePayload(context, 8);
  auto library = parseSourceString<ModuleOp>(render(payload), &context);
  ASSERT_TRUE(library);
  auto entry = cast<transform::NamedSequenceOp>(
      SymbolTable::lookupSymbolIn(*library, "__transform_main"));
  Operation &first = entry.getBody().front().front();
  auto include = dyn_cast<transform::IncludeOp>(first);
  ASSERT_TRUE(include);
  EXPECT_EQ(include.getTarget().getLeafReference(), "cwm_check_payload");
  EXPECT_EQ(include->getNumResults(), 0u);
  auto guards = cast<transform::NamedSequenceOp>(
      SymbolTable::lookupSymbolIn(*library, "cwm_check_payload"));
  unsigned numChecks = 0;
  guards.walk([&](transform::MatchParamCmpIOp) { ++numChecks; });
  EXPECT_GE(numChecks, 3u);
}

TEST_F(ResultFile, RefusesAnotherShapeInPlainWords) {
  Payload payload = test::makePayload(context, 8);
  EXPECT_THAT(
      apply(render(payload), test::makePayload(context, 9)),
      HasSubstr("this schedule was made for another payload: it needs exactly "
                "1 x function of type (tensor<8x8xf32>) -> tensor<8x8xf32>"));
}

TEST_F(ResultFile, RefusesAnotherStructureOfTheSameType) {
  Payload payload = test::makePayload(context, 8);
  OwningOpRef<ModuleOp> module(payload.getModule().clone());
  module->walk([](linalg::ExpOp op) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
    return WalkResult::interrupt();
  });
  FailureOr<Payload> once = Payload::create(std::move(module));
  ASSERT_TRUE(succeeded(once));
  EXPECT_THAT(apply(render(payload), *once),
              HasSubstr("it needs exactly 2 x linalg.exp on (tensor<8x8xf32>, "
                        "tensor<8x8xf32>)"));
}

TEST_F(ResultFile, RefusesAModuleWithMoreThanThePayload) {
  Payload payload = test::makePayload(context, 8);
  std::string text = render(payload);
  OpBuilder builder(&context);
  builder.setInsertionPointToEnd(payload.getModule().getBody());
  auto helper = func::FuncOp::create(builder, builder.getUnknownLoc(), "helper",
                                     builder.getFunctionType({}, {}));
  helper.setPrivate();
  EXPECT_THAT(apply(text, payload),
              HasSubstr("it needs exactly 1 x function in the module"));
}

TEST_F(ResultFile, TakesRootsOfOtherTypes) {
  Payload payload = test::makePayload(context, 8);
  EXPECT_EQ(
      apply(render(payload, "!transform.op<\"builtin.module\">"), payload),
      "applied");
}

TEST_F(ResultFile, HeaderTellsWhoseItIs) {
  Payload payload = test::makePayload(context, 8);
  info.payloadFile = "in.mlir";
  info.appliedFile = "in.mlir";
  info.outputFile = "out.mlir";
  info.candidate = "s{a=1}";
  info.loweringPipeline = "builtin.module(canonicalize)";
  std::string text = render(payload);
  std::optional<ResultOwner> owner = getResultOwner(text);
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->workload, payload.getWorkloadHash());
  EXPECT_EQ(owner->payload, "in.mlir, @exp2");
  EXPECT_THAT(text, HasSubstr("// candidate: s{a=1}\n"));
  EXPECT_THAT(text, HasSubstr(getMlirOptName().str() +
                              " in.mlir --pass-pipeline='builtin.module"
                              "(transform-preload-library{transform-library-"
                              "paths=out.mlir},transform-interpreter)'\n"));
  EXPECT_THAT(text, HasSubstr("'builtin.module(canonicalize)'\n"));
}

TEST_F(ResultFile, HeaderStaysAComment) {
  Payload payload = test::makePayload(context, 8);
  for (const char *name : {"a\nmodule {}", "caf\xe9", "a\rb", "it's"}) {
    info.payloadFile = info.appliedFile = info.outputFile = name;
    std::string text = render(payload);
    EXPECT_EQ(apply(text, payload), "applied");
    EXPECT_TRUE(llvm::json::isUTF8(text));
  }
}

TEST_F(ResultFile, HeaderNamesNoFileThatIsNotThere) {
  Payload payload = test::makePayload(context, 8);
  info.payloadFile = "-";
  info.appliedFile = "stdin.cwm/payload.mlir";
  info.outputFile = "-";
  std::string text = render(payload);
  EXPECT_THAT(text, HasSubstr("// payload:   stdin, @exp2\n"));
  EXPECT_THAT(text,
              HasSubstr("// Apply it (RESULT.mlir stands for this file)"
                        ":\n//   " +
                        getMlirOptName().str() + " stdin.cwm/payload.mlir "));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("best.mlir")));
}

TEST_F(ResultFile, OtherFilesAreNobodys) {
  EXPECT_FALSE(getResultOwner(""));
  EXPECT_FALSE(getResultOwner("module {}"));
  EXPECT_FALSE(getResultOwner("// workload:  abc\n"));
  EXPECT_FALSE(getResultOwner("// cwm-tune result\nmodule\n// workload:  a\n"));
}

TEST_F(ResultFile, ScriptWithoutEntryIsAnError) {
  Payload payload = test::makePayload(context, 8);
  auto script = parseSourceString<ModuleOp>("module {}", &context);
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  EXPECT_TRUE(failed(renderResult(*script, payload, info)));
  EXPECT_EQ(message, "has no transform.named_sequence @__transform_main");
}
