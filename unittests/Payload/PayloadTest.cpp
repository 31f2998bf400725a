//===- PayloadTest.cpp - The payload contract -------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Payload/Payload.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

class PayloadTest : public ::testing::Test {
protected:
  PayloadTest()
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            errors.push_back(diagnostic.str());
          locations.push_back(diagnostic.getLocation());
        }) {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
  }

  FailureOr<cwm::Payload> create(StringRef source, StringRef function = {}) {
    errors.clear();
    locations.clear();
    return cwm::Payload::create(parseSourceString<ModuleOp>(source, &context),
                                function);
  }

  /// Expects `source` to be refused with exactly one error.
  void expectRefused(StringRef source, StringRef message,
                     StringRef function = {}) {
    EXPECT_TRUE(failed(create(source, function))) << source.str();
    ASSERT_EQ(errors.size(), 1u) << source.str();
    EXPECT_NE(errors[0].find(message), std::string::npos)
        << "got: " << errors[0] << "\nwanted: " << message.str();
    EXPECT_FALSE(isa<UnknownLoc>(locations[0]));
  }

  MLIRContext context;
  std::vector<std::string> errors;
  std::vector<Location> locations;
  ScopedDiagnosticHandler handler;
};

constexpr StringLiteral matmul = R"mlir(
func.func @mm(%a: tensor<3x5xf32>, %b: tensor<5x7xf32> {cwm.constant},
              %v: tensor<2xf64> {cwm.domain = "nonnegative"}) -> tensor<3x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x7xf32>) -> tensor<3x7xf32>
  %r = linalg.matmul ins(%a, %b : tensor<3x5xf32>, tensor<5x7xf32>)
                     outs(%f : tensor<3x7xf32>) -> tensor<3x7xf32>
  return %r : tensor<3x7xf32>
})mlir";

TEST_F(PayloadTest, DescribesTheSignature) {
  FailureOr<cwm::Payload> payload = create(matmul);
  ASSERT_TRUE(succeeded(payload));
  EXPECT_TRUE(errors.empty());
  ASSERT_EQ(payload->getInputs().size(), 3u);
  const cwm::TensorSpec &a = payload->getInputs()[0];
  EXPECT_EQ(a.shape, (std::vector<int64_t>{3, 5}));
  EXPECT_EQ(a.elementType, "f32");
  EXPECT_EQ(a.getNumBytes(), 60);
  EXPECT_FALSE(a.isConstant);
  EXPECT_TRUE(payload->getInputs()[1].isConstant);
  EXPECT_EQ(payload->getInputs()[2].domain, cwm::InputDomain::Nonnegative);
  EXPECT_EQ(payload->getInputs()[2].getElementBytes(), 8);
  ASSERT_EQ(payload->getResults().size(), 1u);
  EXPECT_EQ(payload->getEntry().getName(), "mm");
  EXPECT_EQ(payload->getFlops(), 2.0 * 3 * 5 * 7);
  EXPECT_EQ(payload->getBytes(), 4.0 * (15 + 35 + 21) + 16);
  EXPECT_EQ(payload->getWorkloadHash().size(), 32u);
}

TEST_F(PayloadTest, CountsArithmeticOfGenericBodies) {
  // relu as PyTorch writes it: a comparison counts, the select does not; the
  // index arithmetic and the cast are not the payload's work either.
  FailureOr<cwm::Payload> payload = create(R"mlir(
    #id = affine_map<(d0, d1) -> (d0, d1)>
    func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf64> {
      %e = tensor.empty() : tensor<4x8xf64>
      %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf64>) {
      ^bb0(%in: f32, %out: f64):
        %zero = arith.constant 0.0 : f32
        %i = linalg.index 0 : index
        %j = arith.addi %i, %i : index
        %c = arith.cmpf ugt, %in, %zero : f32
        %s = arith.select %c, %in, %zero : f32
        %m = math.fma %s, %s, %s : f32
        %d = arith.extf %m : f32 to f64
        linalg.yield %d : f64
      } -> tensor<4x8xf64>
      return %r : tensor<4x8xf64>
    })mlir");
  ASSERT_TRUE(succeeded(payload));
  EXPECT_EQ(payload->getFlops(), 3.0 * 32);
}

TEST_F(PayloadTest, RankZeroAndSmallTypesAreLegal) {
  FailureOr<cwm::Payload> payload = create(R"mlir(
    func.func @f(%x: tensor<f32>, %p: tensor<3xi1>, %i: tensor<2xi64>) -> (tensor<f32>, tensor<4xi8>) {
      %c = arith.constant 1 : i8
      %e = tensor.empty() : tensor<4xi8>
      %f = linalg.fill ins(%c : i8) outs(%e : tensor<4xi8>) -> tensor<4xi8>
      return %x, %f : tensor<f32>, tensor<4xi8>
    })mlir");
  ASSERT_TRUE(succeeded(payload));
  EXPECT_TRUE(payload->getInputs()[0].shape.empty());
  EXPECT_EQ(payload->getInputs()[0].getNumElements(), 1);
  EXPECT_EQ(payload->getInputs()[1].getNumBytes(), 3);
  EXPECT_EQ(payload->getInputs()[2].getNumBytes(), 16);
  EXPECT_EQ(payload->getResults()[1].elementType, "i8");
}

TEST_F(PayloadTest, HashIgnoresNamesButNotScalars) {
  std::string renamed = matmul.str(), scaled = matmul.str();
  renamed.replace(renamed.find("%zero"), 5, "%nill");
  renamed.replace(renamed.find("(%zero"), 6, "(%nill");
  scaled.replace(scaled.find("0.0"), 3, "2.0");
  FailureOr<cwm::Payload> first = create(matmul), second = create(renamed),
                          third = create(scaled);
  ASSERT_TRUE(succeeded(first) && succeeded(second) && succeeded(third));
  EXPECT_EQ(first->getWorkloadHash(), second->getWorkloadHash());
  EXPECT_NE(first->getWorkloadHash(), third->getWorkloadHash());
}

TEST_F(PayloadTest, FunctionIsSelectedByName) {
  std::string two = matmul.str() + R"mlir(
    func.func @other(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> })mlir";
  expectRefused(two, "@other is a second public function beside @mm: a payload "
                     "has one entry; choose it with --function");
  expectRefused(two, "has no func.func @none; it has: @mm, @other", "none");
  FailureOr<cwm::Payload> payload = create(two, "mm");
  ASSERT_TRUE(succeeded(payload));
  // The schedule must not see the function that was not chosen.
  EXPECT_FALSE(payload->getModule().lookupSymbol("other"));
  FailureOr<cwm::Payload> alone = create(matmul);
  EXPECT_EQ(payload->getWorkloadHash(), alone->getWorkloadHash());
}

/// A payload whose signature and body are given, with a linalg op in it.
std::string wrap(StringRef arguments, StringRef results, StringRef body) {
  return ("func.func @f(" + arguments + ") " + results + R"mlir( {
      %one = arith.constant 1.0 : f32
      %empty = tensor.empty() : tensor<4xf32>
      %fill = linalg.fill ins(%one : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
      )mlir" +
          body + "\n}")
      .str();
}

TEST_F(PayloadTest, SignatureRules) {
  StringRef returnFill = "return %fill : tensor<4xf32>";
  auto refuseArgument = [&](StringRef type, StringRef rule) {
    expectRefused(
        wrap(("%x: " + type).str(), "-> tensor<4xf32>", returnFill),
        ("'func.func' op @f: argument #0 of type '" + type + "': " + rule)
            .str());
  };
  refuseArgument("tensor<?x4xf32>", "every extent must be static");
  refuseArgument("tensor<*xf32>",
                 "payloads take and return ranked tensors only");
  refuseArgument("memref<4xf32>",
                 "payloads take and return ranked tensors only");
  refuseArgument("f32", "payloads take and return ranked tensors only");
  refuseArgument("tensor<4xindex>", "supported element types are");
  refuseArgument("tensor<4xcomplex<f32>>", "supported element types are");
  refuseArgument("tensor<4xui8>", "supported element types are");
  refuseArgument("tensor<4xi7>", "supported element types are");
  refuseArgument("tensor<4xf16>", "half-precision types are not supported yet");
  refuseArgument("tensor<4xbf16>",
                 "half-precision types are not supported yet");
  refuseArgument("tensor<0x4xf32>", "every extent must be at least 1");
  refuseArgument("tensor<1048576x1048577xf32>",
                 "tensors must have at most 2^40 elements");
  refuseArgument("tensor<4xf32, 1 : i64>", "tensors must not have an encoding");
  expectRefused(wrap("", "-> (tensor<4xf32>, f32)",
                     "return %fill, %one : tensor<4xf32>, f32"),
                "result #1 of type 'f32': payloads take and return ranked");
  expectRefused(wrap("", "", "return"), "@f has no results");
  expectRefused(wrap("%x: tensor<4xf32> {cwm.domain = \"odd\"}",
                     "-> tensor<4xf32>", returnFill),
                "argument #0 has cwm.domain = \"odd\": known domains are");
}

TEST_F(PayloadTest, OperationRules) {
  StringRef result = "-> tensor<4xf32>";
  expectRefused("module { }", "has no public func.func");
  expectRefused("func.func private @f(tensor<4xf32>) -> tensor<4xf32>",
                "has no body", "f");
  expectRefused("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x "
                ": tensor<4xf32> }",
                "'func.func' op @f contains no linalg operation");
  expectRefused(wrap("%x: tensor<4xf32>", result, R"mlir(
                  %c = arith.constant 0 : index
                  %n = arith.constant 4 : index
                  %r = scf.for %i = %c to %n step %n iter_args(%a = %x) -> tensor<4xf32> {
                    scf.yield %a : tensor<4xf32>
                  }
                  return %r : tensor<4xf32>)mlir"),
                "'scf.for' op is of dialect 'scf': payloads use builtin, func");
  expectRefused(
      wrap("%x: tensor<4xf32>", result, R"mlir(
                  %r = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
                  return %r : tensor<4xf32>)mlir") +
          "\nfunc.func private @g(tensor<4xf32>) -> tensor<4xf32>",
      "'func.call' op is not allowed in a payload: inline the callee");
  expectRefused(wrap("%x: tensor<4xf32>", result, R"mlir(
                  %d = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
                  %r = tensor.cast %d : tensor<?xf32> to tensor<4xf32>
                  return %r : tensor<4xf32>)mlir"),
                "'tensor.cast' op has a value of type 'tensor<?xf32>': every "
                "extent must be static");
  expectRefused(wrap("", result, R"mlir(
                  %h = arith.truncf %one : f32 to f16
                  return %fill : tensor<4xf32>)mlir"),
                "'arith.truncf' op has a value of type 'f16': half-precision");
  expectRefused(wrap("", result, "return %fill : tensor<4xf32>") +
                    "\nmemref.global @g : memref<4xf32>",
                "'memref.global' op is not allowed beside the payload's");
}

TEST_F(PayloadTest, LoadReportsMissingAndBrokenFiles) {
  EXPECT_TRUE(failed(cwm::loadPayload("/nonexistent.mlir", "", &context)));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("/nonexistent.mlir"), std::string::npos);
}

TEST_F(PayloadTest, BenchmarkPayloadsFulfilTheContract) {
  std::error_code error;
  unsigned count = 0;
  for (llvm::sys::fs::directory_iterator
           file(CWM_SOURCE_DIR "/benchmarks/payloads/rep", error),
       end;
       file != end && !error; file.increment(error), ++count) {
    FailureOr<cwm::Payload> payload =
        cwm::loadPayload(file->path(), "", &context);
    EXPECT_TRUE(succeeded(payload)) << file->path();
    EXPECT_TRUE(errors.empty()) << errors.front();
  }
  EXPECT_FALSE(error) << error.message();
  EXPECT_GE(count, 20u);
}

} // namespace
