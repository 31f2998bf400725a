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

/// x * (A * B) with constant A and B: the product of these is made once.
TEST_F(PayloadTest, WorkOnConstantsIsNotVariable) {
  FailureOr<cwm::Payload> payload = create(R"mlir(
    func.func @f(%x: tensor<1x8xf32>, %a: tensor<8x8xf32> {cwm.constant},
                 %b: tensor<8x8xf32> {cwm.constant}) -> tensor<1x8xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<8x8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
      %w = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>)
                         outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
      %g = tensor.empty() : tensor<1x8xf32>
      %h = linalg.fill ins(%zero : f32) outs(%g : tensor<1x8xf32>) -> tensor<1x8xf32>
      %r = linalg.matmul ins(%x, %w : tensor<1x8xf32>, tensor<8x8xf32>)
                         outs(%h : tensor<1x8xf32>) -> tensor<1x8xf32>
      return %r : tensor<1x8xf32>
    })mlir");
  ASSERT_TRUE(succeeded(payload));
  EXPECT_EQ(payload->getFlops(), 2.0 * 8 * 8 * 8 + 2.0 * 8 * 8);
  EXPECT_EQ(payload->getVariableFlops(), 2.0 * 8 * 8);
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
  refuseArgument("tensor<4xf8E5M2>", "supported element types are");
  refuseArgument("tensor<4xtf32>", "supported element types are");
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
                  %h = arith.truncf %one : f32 to f8E5M2
                  return %fill : tensor<4xf32>)mlir"),
                "'arith.truncf' op has a value of type 'f8E5M2': supported");
  expectRefused(wrap("", result, "return %fill : tensor<4xf32>") +
                    "\nmemref.global @g : memref<4xf32>",
                "'memref.global' op is not allowed beside the payload's");
}

TEST_F(PayloadTest, EveryValueHasALegalSize) {
  expectRefused(wrap("", "-> tensor<4xf32>", R"mlir(
                  %huge = tensor.empty() : tensor<4611686018427387904x8xf32>
                  return %fill : tensor<4xf32>)mlir"),
                "'tensor.empty' op has a value of type "
                "'tensor<4611686018427387904x8xf32>': tensors must have at "
                "most 2^40 elements");
  expectRefused(wrap("%x: tensor<f32>", "-> tensor<4xf32>", R"mlir(
                  %e = tensor.empty() : tensor<1048576x1048577xi8>
                  %zero = arith.constant 0 : i8
                  %b = linalg.fill ins(%zero : i8) outs(%e : tensor<1048576x1048577xi8>) -> tensor<1048576x1048577xi8>
                  return %fill : tensor<4xf32>)mlir"),
                "tensors must have at most 2^40 elements");
}

//===----------------------------------------------------------------------===//
// Constants apart
//===----------------------------------------------------------------------===//

/// A payload that returns the constant `text`, whose data is in `resources`.
std::string makeConstant(StringRef type, StringRef text, StringRef resources) {
  return wrap("", ("-> (tensor<4xf32>, " + type + ")").str(),
              ("%c = arith.constant " + text + " : " + type +
               "\nreturn %fill, %c : tensor<4xf32>, " + type)
                  .str()) +
         "\n{-# dialect_resources: { builtin: { " + resources.str() +
         " } } #-}";
}

TEST_F(PayloadTest, ResourcesBecomeOrdinaryConstants) {
  // 4 bytes of alignment, then the data.
  struct Case {
    StringRef type, plain, bytes;
  };
  for (const Case &test : {
           Case{"tensor<3xf32>", "dense<[1.5, -2.0, 0.25]>",
                "0x040000000000C03F000000C00000803E"},
           Case{"tensor<2xf64>", "dense<[1.0, -0.5]>",
                "0x08000000000000000000F03F000000000000E0BF"},
           Case{"tensor<2x2xi16>", "dense<[[1, 2], [-1, 0]]>",
                "0x0200000001000200FFFF0000"},
           Case{"tensor<5xi1>", "dense<[1, 0, 0, 1, 1]>",
                "0x010000000100000101"},
           Case{"tensor<1xi64>", "dense<[258]>", "0x080000000201000000000000"},
       }) {
    FailureOr<cwm::Payload> plain =
        create(makeConstant(test.type, test.plain, ""));
    ASSERT_TRUE(succeeded(plain)) << errors.front();
    FailureOr<cwm::Payload> apart = create(makeConstant(
        test.type, "dense_resource<w>", ("w: \"" + test.bytes + "\"").str()));
    ASSERT_TRUE(succeeded(apart)) << errors.front();
    EXPECT_EQ(apart->getStateText(), plain->getStateText());
    EXPECT_EQ(apart->getWorkloadHash(), plain->getWorkloadHash());
    // What is sent to workers needs no resource section.
    std::string text;
    llvm::raw_string_ostream(text) << apart->getModule();
    EXPECT_EQ(text.find("resource"), std::string::npos) << text;
  }
}

TEST_F(PayloadTest, ResourcesWithoutDataAreRefused) {
  expectRefused(
      makeConstant("tensor<64xf32>", "dense_resource<__elided__>", ""),
      "'arith.constant' op has the constant "
      "dense_resource<__elided__>: its data is not in the file: "
      "print the payload without eliding constants");
  expectRefused(makeConstant("tensor<3xf32>", "dense_resource<w>",
                             "w: \"0x040000000000C03F000000C0\""),
                "dense_resource<w>: its data has 8 bytes, its type takes 12");
}

//===----------------------------------------------------------------------===//
// Undefined contents
//===----------------------------------------------------------------------===//

TEST_F(PayloadTest, UndefinedContentsAreRefused) {
  auto refuse = [&](StringRef body, StringRef op, StringRef rule) {
    expectRefused(
        wrap("%a: tensor<4x4xf32>, %v: tensor<4xf32>", "-> tensor<4xf32>",
             ("%u = tensor.empty() : tensor<4xf32>\n%m = tensor.empty() : "
              "tensor<4x4xf32>\n" +
              body)
                 .str()),
        ("'" + op + "' op " + rule).str());
  };
  StringRef initialise = ": fill the tensor first";
  auto reads = [&](unsigned operand) {
    return ("reads the undefined contents of tensor.empty as operand #" +
            Twine(operand) + initialise)
        .str();
  };
  StringRef end = "\nreturn %fill : tensor<4xf32>";
  refuse(("%r = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) "
          "outs(%m : tensor<4x4xf32>) -> tensor<4x4xf32>" +
          end)
             .str(),
         "linalg.matmul", reads(2));
  // A reduction, a body that uses its accumulator, behind views, as an input.
  refuse(("%r = linalg.reduce { arith.addf } ins(%a : tensor<4x4xf32>) outs(%u "
          ": tensor<4xf32>) dimensions = [1]" +
          end)
             .str(),
         "linalg.reduce", reads(1));
  refuse((R"mlir(
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%v : tensor<4xf32>) outs(%u : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.addf %in, %out : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>)mlir" +
          end)
             .str(),
         "linalg.generic", reads(1));
  refuse((R"mlir(
    %flat = tensor.collapse_shape %m [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
    %part = tensor.extract_slice %flat[4] [4] [1] : tensor<16xf32> to tensor<4xf32>
    %r = linalg.exp ins(%part : tensor<4xf32>) outs(%u : tensor<4xf32>) -> tensor<4xf32>)mlir" +
          end)
             .str(),
         "linalg.exp", reads(0));
  refuse((R"mlir(
    %r = linalg.softmax dimension(0) ins(%u : tensor<4xf32>) outs(%v : tensor<4xf32>) -> tensor<4xf32>)mlir" +
          end)
             .str(),
         "linalg.softmax", reads(0));
  refuse((R"mlir(
    %zero = arith.constant 0 : index
    %x = tensor.extract %u[%zero] : tensor<4xf32>)mlir" +
          end)
             .str(),
         "tensor.extract", reads(0));
  refuse("return %u : tensor<4xf32>", "func.return",
         "returns the undefined contents of tensor.empty as operand #0");
}

TEST_F(PayloadTest, EmptyTensorsThatAreOnlyWrittenAreLegal) {
  FailureOr<cwm::Payload> payload = create(R"mlir(
    func.func @f(%x: tensor<1x6x6x2xf32>, %v: tensor<4xf32>) -> (tensor<1x5x5x2xf32>, tensor<8xf32>, tensor<4xf32>) {
      %zero = arith.constant 0.0 : f32
      %window = tensor.empty() : tensor<2x2xf32>
      %e = tensor.empty() : tensor<1x5x5x2xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32>
      %p = linalg.pooling_nhwc_sum ins(%x, %window : tensor<1x6x6x2xf32>, tensor<2x2xf32>) outs(%f : tensor<1x5x5x2xf32>) -> tensor<1x5x5x2xf32>
      %both = tensor.empty() : tensor<8xf32>
      %half = tensor.insert_slice %v into %both[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
      %whole = tensor.insert_slice %v into %half[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
      %u = tensor.empty() : tensor<4xf32>
      %s = linalg.softmax dimension(0) ins(%v : tensor<4xf32>) outs(%u : tensor<4xf32>) -> tensor<4xf32>
      return %p, %whole, %s : tensor<1x5x5x2xf32>, tensor<8xf32>, tensor<4xf32>
    })mlir");
  EXPECT_TRUE(succeeded(payload)) << errors.front();
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Rows of %table, chosen by %i, an argument of `type`.
std::string makeGather(StringRef type, StringRef element) {
  std::string scalar = element.str();
  std::string convert =
      scalar == "f32"
          ? "%j = arith.fptosi %row : f32 to i64\n"
            "%k = arith.index_cast %j : i64 to index\n"
          : "%k = arith.index_cast %row : " + scalar + " to index\n";
  return "func.func @f(%table: tensor<10x4xf32>, %i: " + type.str() +
         R"mlir() -> tensor<6x4xf32> {
      %e = tensor.empty() : tensor<6x4xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
          ins(%i : tensor<6x)mlir" +
         scalar + ">) outs(%e : tensor<6x4xf32>) {\n^bb0(%row: " + scalar +
         ", %out: f32):\n" + convert +
         R"mlir(
        %column = linalg.index 1 : index
        %x = tensor.extract %table[%k, %column] : tensor<10x4xf32>
        linalg.yield %x : f32
      } -> tensor<6x4xf32>
      return %r : tensor<6x4xf32>
    })mlir";
}

TEST_F(PayloadTest, IndicesFromArgumentsNeedARange) {
  expectRefused(makeGather("tensor<6xi64>", "i64"),
                "'tensor.extract' op takes an index from argument #1 of @f: "
                "mark the argument with the range of its elements, "
                "{cwm.domain = \"index\", cwm.upper_bound = N}");
  expectRefused(
      makeGather("tensor<6xi64> {cwm.domain = \"nonnegative\"}", "i64"),
      "'tensor.extract' op takes an index from argument #1 of @f");
  expectRefused(makeGather("tensor<6xf32>", "f32"),
                "indices cannot depend on floats, whose random values may be "
                "out of bounds");
  FailureOr<cwm::Payload> payload = create(makeGather(
      "tensor<6xi64> {cwm.domain = \"index\", cwm.upper_bound = 10}", "i64"));
  ASSERT_TRUE(succeeded(payload)) << errors.front();
  EXPECT_EQ(payload->getInputs()[1].domain, cwm::InputDomain::Index);
  EXPECT_EQ(payload->getInputs()[1].upperBound, 10);
  // Another range is another payload: its reference is another one, too.
  FailureOr<cwm::Payload> other = create(makeGather(
      "tensor<6xi64> {cwm.domain = \"index\", cwm.upper_bound = 9}", "i64"));
  ASSERT_TRUE(succeeded(other));
  EXPECT_NE(payload->getWorkloadHash(), other->getWorkloadHash());
  expectRefused(
      makeGather("tensor<6xi64> {cwm.domain = \"index\", cwm.upper_bound = 11}",
                 "i64"),
      "'tensor.extract' op takes an index of dimension 0, of extent 10, from "
      "argument #1, whose cwm.upper_bound is 11");
}

TEST_F(PayloadTest, RangesOfArgumentsAreChecked) {
  auto refuse = [&](StringRef type, StringRef attributes, StringRef rule) {
    expectRefused(wrap(("%x: " + type + " {" + attributes + "}").str(),
                       "-> tensor<4xf32>", "return %fill : tensor<4xf32>"),
                  ("'func.func' op @f: argument #0 has " + rule).str());
  };
  refuse("tensor<4xi32>", "cwm.upper_bound = 3",
         "cwm.upper_bound without cwm.domain = \"index\"");
  refuse("tensor<4xf32>", "cwm.domain = \"index\", cwm.upper_bound = 3",
         "cwm.domain = \"index\" and elements of type 'f32'");
  for (StringRef bound : {"0", "-1", "129", "3.0", "\"many\""})
    refuse("tensor<4xi8>",
           ("cwm.domain = \"index\", cwm.upper_bound = " + bound).str(),
           "cwm.upper_bound = ");
  refuse("tensor<4xi8>", "cwm.domain = \"index\"",
         "cwm.domain = \"index\" and no cwm.upper_bound");
  EXPECT_TRUE(succeeded(create(
      wrap("%x: tensor<4xi8> {cwm.domain = \"index\", cwm.upper_bound = 128}",
           "-> tensor<4xf32>", "return %fill : tensor<4xf32>"))));
}

TEST_F(PayloadTest, IndicesAreFollowedThroughOperations) {
  auto makeBody = [](StringRef index) {
    return (R"mlir(
      %c0 = arith.constant 0 : index
      %i = tensor.extract %x[%c0] : tensor<4xi32>
      %zero = arith.constant 0 : i32
      %three = arith.constant 3 : i32
      %positive = arith.cmpi sgt, %i, %zero : i32
      )mlir" +
            index + R"mlir(
      %k = arith.index_cast %j : i32 to index
      %r = tensor.extract_slice %big[%k] [4] [1] : tensor<8xf32> to tensor<4xf32>
      return %r : tensor<4xf32>)mlir")
        .str();
  };
  StringRef arguments = "%x: tensor<4xi32>, %big: tensor<8xf32>";
  expectRefused(wrap(arguments, "-> tensor<4xf32>",
                     makeBody("%j = arith.addi %i, %zero : i32")),
                "'tensor.extract_slice' op takes an index from argument #0");
  expectRefused(wrap(arguments, "-> tensor<4xf32>",
                     makeBody("%j = arith.select %positive, %i, %three : i32")),
                "'tensor.extract_slice' op takes an index from argument #0");
  // A condition chooses among safe values.
  FailureOr<cwm::Payload> payload = create(
      wrap(arguments, "-> tensor<4xf32>",
           makeBody("%j = arith.select %positive, %zero, %three : i32")));
  EXPECT_TRUE(succeeded(payload)) << errors.front();
}

TEST_F(PayloadTest, TheIndexOfTheLargestElementIsSafe) {
  FailureOr<cwm::Payload> payload = create(R"mlir(
    func.func @f(%x: tensor<8xf32>, %table: tensor<8xf32>) -> tensor<f32> {
      %low = arith.constant -1.0e30 : f32
      %none = arith.constant 0 : i64
      %e = tensor.empty() : tensor<f32>
      %ei = tensor.empty() : tensor<i64>
      %f = linalg.fill ins(%low : f32) outs(%e : tensor<f32>) -> tensor<f32>
      %fi = linalg.fill ins(%none : i64) outs(%ei : tensor<i64>) -> tensor<i64>
      %best:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
          ins(%x : tensor<8xf32>) outs(%f, %fi : tensor<f32>, tensor<i64>) {
      ^bb0(%in: f32, %max: f32, %at: i64):
        %i = linalg.index 0 : index
        %here = arith.index_cast %i : index to i64
        %c = arith.cmpf ogt, %in, %max : f32
        %m = arith.select %c, %in, %max : f32
        %k = arith.select %c, %here, %at : i64
        linalg.yield %m, %k : f32, i64
      } -> (tensor<f32>, tensor<i64>)
      %at = tensor.extract %best#1[] : tensor<i64>
      %k = arith.index_cast %at : i64 to index
      %v = tensor.extract %table[%k] : tensor<8xf32>
      %r = tensor.from_elements %v : tensor<f32>
      return %r : tensor<f32>
    })mlir");
  EXPECT_TRUE(succeeded(payload)) << errors.front();
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
       file != end && !error; file.increment(error)) {
    if (!StringRef(file->path()).ends_with(".mlir"))
      continue; // the index of the folder
    ++count;
    FailureOr<cwm::Payload> payload =
        cwm::loadPayload(file->path(), "", &context);
    EXPECT_TRUE(succeeded(payload)) << file->path();
    EXPECT_TRUE(errors.empty()) << errors.front();
  }
  EXPECT_FALSE(error) << error.message();
  EXPECT_GE(count, 20u);
}

} // namespace
