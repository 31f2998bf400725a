//===- StateTextTest.cpp - Tests of the canonical state text ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Trajectory/StateText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

class StateTextTest : public ::testing::Test {
protected:
  StateTextTest() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                        func::FuncDialect, linalg::LinalgDialect,
                        memref::MemRefDialect, scf::SCFDialect,
                        tensor::TensorDialect, transform::TransformDialect>();
    context.allowUnregisteredDialects();
  }

  std::string textOf(StringRef source) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(source, &context);
    EXPECT_TRUE(module);
    return module ? cwm::getStateText(*module) : "";
  }
  void expectSame(StringRef a, StringRef b) { EXPECT_EQ(textOf(a), textOf(b)); }
  void expectDifferent(StringRef a, StringRef b) {
    EXPECT_NE(textOf(a), textOf(b));
  }

  MLIRContext context;
};

TEST_F(StateTextTest, ExactTextOfAPayload) {
  EXPECT_EQ(textOf(R"(
    #map = affine_map<(d0, d1) -> (d0, d1)>
    module {
      func.func @kernel(%a: tensor<8x16xf32> {cwm.constant}) -> tensor<8x16xf32> {
        %cst = arith.constant 2.500000e-01 : f32
        %0 = tensor.empty() : tensor<8x16xf32>
        %1 = linalg.generic {indexing_maps = [#map, #map],
                             iterator_types = ["parallel", "parallel"]}
             ins(%a : tensor<8x16xf32>) outs(%0 : tensor<8x16xf32>) {
        ^bb0(%in: f32, %out: f32):
          %2 = arith.mulf %in, %cst : f32
          linalg.yield %2 : f32
        } -> tensor<8x16xf32>
        return %1 : tensor<8x16xf32>
      }
    })"),
            R"(builtin.module {
func.func @0 arg_attrs=[{cwm.constant=unit}] function_type=(tensor<8x16xf32>) -> (!0) {
(%0: !0)
%1 = arith.constant value=0.25 : f32
%2 = tensor.empty : !0
%3 = linalg.generic %0; %2 indexing_maps=[affine_map<(d0, d1) -> (d0, d1)>, #0] iterator_types=[parallel, parallel] : !0 {
(%4: f32, %5: f32)
%6 = arith.mulf %4, %1 : f32
linalg.yield %6
}
func.return %3
}
}
)");
}

TEST_F(StateTextTest, NamesLocationsAndOrderOfAttributesDoNotMatter) {
  StringRef plain = R"(
    func.func private @helper(%x: f32) -> f32 { return %x : f32 }
    func.func @kernel(%a: f32) -> f32 attributes {p = 1 : i64, q = "z"} {
      %0 = call @helper(%a) : (f32) -> f32
      return %0 : f32
    })";
  expectSame(plain, R"(
    func.func private @other(%arg0: f32) -> f32 { return %arg0 : f32 }
    func.func @main(%input: f32 loc("x.py":1:2)) -> f32
        attributes {q = "z", p = 1 : i64} {
      %res = call @other(%input) : (f32) -> f32 loc("x.py":3:4)
      return %res : f32
    })");
  // Calling itself is another program.
  expectDifferent(plain, R"(
    func.func private @helper(%x: f32) -> f32 { return %x : f32 }
    func.func @kernel(%a: f32) -> f32 attributes {p = 1 : i64, q = "z"} {
      %0 = call @kernel(%a) : (f32) -> f32
      return %0 : f32
    })");
}

TEST_F(StateTextTest, GenericAndPrettySyntaxAgree) {
  StringRef source = R"(
    #m = affine_map<(d0)[s0] -> (d0 + s0)>
    memref.global "private" constant @weights : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
    func.func @kernel(%a: memref<8xf32>, %n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %w = memref.get_global @weights : memref<4xf32>
      scf.for %i = %c0 to %n step %c1 {
        %v = memref.load %a[%i] : memref<8xf32>
        %s = arith.addf %v, %v fastmath<contract> : f32
        memref.store %s, %a[%i] : memref<8xf32>
      }
      return
    })";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  ASSERT_TRUE(module);
  std::string generic;
  llvm::raw_string_ostream os(generic);
  module->print(os, OpPrintingFlags().printGenericOpForm().enableDebugInfo());
  expectSame(source, generic);
}

TEST_F(StateTextTest, SpellingOfConstantsDoesNotMatter) {
  StringRef source = R"(module {
    "u.use"() {a = 1.0 : f32, b = dense<[1, 255]> : tensor<2xi32>,
               c = dense<[2.0, 2.0]> : tensor<2xf32>} : () -> ()
  })";
  expectSame(source, R"(module {
    "u.use"() {a = 0x3F800000 : f32, b = dense<"0x01000000FF000000"> : tensor<2xi32>,
               c = dense<2.0> : tensor<2xf32>} : () -> ()
  })");
  expectDifferent(R"(module { "u.use"() {a = 0.0 : f32} : () -> () })",
                  R"(module { "u.use"() {a = -0.0 : f32} : () -> () })");
  expectDifferent(R"(module { "u.use"() {a = 0x7FC00000 : f32} : () -> () })",
                  R"(module { "u.use"() {a = 0x7F800000 : f32} : () -> () })");
  expectDifferent(R"(module { "u.use"() {a = 16777216.0 : f32} : () -> () })",
                  R"(module { "u.use"() {a = 16777218.0 : f32} : () -> () })");
  expectDifferent(R"(module { "u.use"() {a = 1 : i64} : () -> () })",
                  R"(module { "u.use"() {a = 1 : index} : () -> () })");
}

TEST_F(StateTextTest, LargeConstantsAreHashed) {
  auto withElements = [](StringRef last) {
    std::string list;
    for (int i = 0; i < 16; ++i)
      list += std::to_string(i) + ", ";
    return "module { \"u.use\"() {a = dense<[" + list + last.str() +
           "]> : tensor<17xi32>} : () -> () }";
  };
  std::string text = textOf(withElements("5"));
  EXPECT_NE(text.find("dense<hash "), std::string::npos);
  EXPECT_EQ(text.find("15"), std::string::npos);
  expectDifferent(withElements("5"), withElements("6"));

  // 16 elements are still spelled out, and so is any splat.
  EXPECT_NE(textOf(R"(module { "u.use"() {a = dense<3> : tensor<4096xi32>}
                    : () -> () })")
                .find("dense<3> : tensor<4096xi32>"),
            std::string::npos);
}

TEST_F(StateTextTest, ResourcesAreComparedByContent) {
  auto withBlob = [](StringRef key, StringRef blob) {
    return ("module { \"u.use\"() {a = dense_resource<" + key +
            "> : tensor<2xf32>} : () -> () }\n{-#\n dialect_resources: { "
            "builtin: { " +
            key + ": \"" + blob + "\" } }\n#-}")
        .str();
  };
  expectSame(withBlob("first", "0x040000000000803F00000040"),
             withBlob("second", "0x040000000000803F00000040"));
  expectDifferent(withBlob("third", "0x040000000000803F00000040"),
                  withBlob("fourth", "0x040000000000803F00008040"));
}

TEST_F(StateTextTest, OrderOfOperationsAndOperandsMatters) {
  expectDifferent(R"(func.func @f(%a: f32, %b: f32) -> f32 {
                       %0 = arith.subf %a, %b : f32
                       return %0 : f32
                     })",
                  R"(func.func @f(%a: f32, %b: f32) -> f32 {
                       %0 = arith.subf %b, %a : f32
                       return %0 : f32
                     })");
  expectDifferent(R"(func.func @f(%a: f32) { "u.a"() : () -> ()
                       "u.b"() : () -> ()
                       return })",
                  R"(func.func @f(%a: f32) { "u.b"() : () -> ()
                       "u.a"() : () -> ()
                       return })");
}

TEST_F(StateTextTest, OperandGroupsAreKept) {
  expectDifferent(
      R"(module { %0 = "u.v"() : () -> f32
         "u.use"(%0, %0) {operandSegmentSizes = array<i32: 1, 1>} : (f32, f32) -> () })",
      R"(module { %0 = "u.v"() : () -> f32
         "u.use"(%0, %0) {operandSegmentSizes = array<i32: 2, 0>} : (f32, f32) -> () })");
}

TEST_F(StateTextTest, InvalidOperandGroupsAreNoProblem) {
  std::string text = textOf(
      R"(module { %0 = "u.v"() : () -> f32
         "u.use"(%0) {operandSegmentSizes = array<i32: 7, -1>} : (f32) -> () })");
  EXPECT_NE(text.find("operandSegmentSizes"), std::string::npos);
}

TEST_F(StateTextTest, ControlFlowNamesBlocksByPosition) {
  StringRef source = R"(func.func @f(%c: i1, %x: f32) -> f32 {
      cf.cond_br %c, ^left, ^right(%x : f32)
    ^left:
      cf.br ^right(%x : f32)
    ^right(%y: f32):
      return %y : f32
    })";
  expectSame(source, R"(func.func @g(%0: i1, %1: f32) -> f32 {
      cf.cond_br %0, ^a, ^b(%1 : f32)
    ^a:
      cf.br ^b(%1 : f32)
    ^b(%2: f32):
      return %2 : f32
    })");
  expectDifferent(source, R"(func.func @f(%c: i1, %x: f32) -> f32 {
      cf.cond_br %c, ^right(%x : f32), ^left
    ^left:
      cf.br ^right(%x : f32)
    ^right(%y: f32):
      return %y : f32
    })");
}

TEST_F(StateTextTest, NamesOfDeclarationsAreKept) {
  expectDifferent(R"(func.func private @expf(f32) -> f32)",
                  R"(func.func private @sinf(f32) -> f32)");
}

TEST_F(StateTextTest, EqualNamesInDifferentTablesAreDifferentSymbols) {
  StringRef shared = R"(module {
      module { func.func @f() { return } func.func @g() { call @f() : () -> () return } }
      module { func.func @f() { return } func.func @g() { call @f() : () -> () return } }
    })";
  expectSame(shared, R"(module {
      module { func.func @a() { return } func.func @b() { call @a() : () -> () return } }
      module { func.func @c() { return } func.func @d() { call @c() : () -> () return } }
    })");
}

TEST_F(StateTextTest, AliasesDoNotMatter) {
  expectSame(R"(
    #first = affine_map<(d0, d1) -> (d1, d0)>
    !t = memref<4x4xf32, #first>
    func.func @f(%a: !t) { return })",
             R"(
    func.func @f(%a: memref<4x4xf32, affine_map<(i, j) -> (j, i)>>) { return })");
}

TEST_F(StateTextTest, FunctionTextDoesNotDependOnItsNeighbours) {
  StringRef function = "func.func @f(%a: f32) -> f32 {\n"
                       "  %0 = arith.negf %a : f32\n  return %0 : f32\n}\n";
  std::string alone = textOf(function);
  std::string pair = textOf(("func.func @g() { %c = arith.constant 1 : i32\n"
                             "return }\n" +
                             function)
                                .str());
  std::string body = alone.substr(alone.find("(%0: f32)"));
  EXPECT_NE(pair.find(body.substr(0, body.find('}'))), std::string::npos);
}

TEST_F(StateTextTest, SchedulesAreNoPartOfAState) {
  StringRef function = "func.func @f() { return }\n";
  StringRef sequence = "transform.named_sequence @__transform_main(%r: "
                       "!transform.any_op {transform.readonly}) { "
                       "transform.yield }\n";
  std::string plain = textOf(("module {" + function + "}").str());
  EXPECT_EQ(plain, textOf(("module attributes {transform.with_named_sequence} "
                           "{" +
                           function + sequence + "}")
                              .str()));
  EXPECT_EQ(plain, textOf(("module { module attributes "
                           "{transform.with_named_sequence} {" +
                           sequence + "}" + function + "}")
                              .str()));
}

TEST_F(StateTextTest, HashIsStable) {
  // XXH3's 128-bit hash of the empty string, from the xxHash specification's
  // test vectors.
  EXPECT_EQ(cwm::hashText(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(cwm::hashText("a").size(), 32u);
  EXPECT_NE(cwm::hashText("a"), cwm::hashText("b"));
}

} // namespace
