//===- RewritesTest.cpp - Other texts of the same program ----- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Trajectory/Rewrites.h"

#include "cwm/Trajectory/StateText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <set>

using namespace mlir;
using namespace cwm;
using testing::SizeIs;

//===----------------------------------------------------------------------===//
// Renaming
//===----------------------------------------------------------------------===//

TEST(RenameValues, PermutesTheNumbersOfTheWholeText) {
  llvm::StringRef text = "%0, %1 = a %2 {note=\"100%0\"}\n%10 = b %0, %2\n";
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    std::string renamed = renameValues(text, seed);
    seen.insert(renamed);
    // The name of each place, as the names that it was equal to before.
    unsigned a, b, c, d, e, f;
    char note[16];
    ASSERT_EQ(std::sscanf(renamed.c_str(),
                          "%%%u, %%%u = a %%%u {note=\"%15[^\"]\"}\n"
                          "%%%u = b %%%u, %%%u\n",
                          &a, &b, &c, note, &d, &e, &f),
              7)
        << renamed;
    EXPECT_EQ(std::string(note), "100%0");
    EXPECT_EQ(a, e);
    EXPECT_EQ(c, f);
    EXPECT_THAT((std::set<unsigned>{a, b, c, d}), SizeIs(4));
    for (unsigned number : {a, b, c, d})
      EXPECT_TRUE(number <= 2 || number == 10);
    EXPECT_EQ(renameValues(text, seed), renamed);
  }
  EXPECT_GT(seen.size(), 10U);
}

TEST(RenameValues, LeavesOtherTextsAlone) {
  for (llvm::StringRef text : {"", "%", "100% and %x", "no values"})
    EXPECT_EQ(renameValues(text, 7), text);
}

//===----------------------------------------------------------------------===//
// Reordering
//===----------------------------------------------------------------------===//

namespace {
class RewritesTest : public testing::Test {
protected:
  RewritesTest() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        memref::MemRefDialect, scf::SCFDialect>();
  }
  OwningOpRef<ModuleOp> parse(llvm::StringRef source) {
    return parseSourceString<ModuleOp>(source, &context);
  }
  static std::vector<std::string> namesOf(ModuleOp module) {
    std::vector<std::string> names;
    module.walk([&](Operation *op) {
      names.push_back(op->getName().getStringRef().str());
    });
    return names;
  }
  MLIRContext context;
};
} // namespace

static constexpr llvm::StringLiteral program = R"(
  func.func @f(%x: f32, %m: memref<4xf32>, %i: index) -> f32 {
    %a = arith.addf %x, %x : f32
    %b = arith.mulf %x, %x : f32
    %c = arith.subf %a, %b : f32
    memref.store %a, %m[%i] : memref<4xf32>
    %d = memref.load %m[%i] : memref<4xf32>
    memref.store %b, %m[%i] : memref<4xf32>
    %e = arith.negf %d : f32
    %r = arith.divf %e, %c : f32
    return %r : f32
  })";

TEST_F(RewritesTest, ReordersOnlyWhatIsIndependent) {
  std::set<std::string> orders;
  OwningOpRef<ModuleOp> original = parse(program);
  std::vector<std::string> expected = namesOf(*original);
  llvm::sort(expected);
  for (uint64_t seed = 0; seed < 60; ++seed) {
    OwningOpRef<ModuleOp> module = parse(program);
    reorderOperations(*module, seed);
    ASSERT_TRUE(succeeded(verify(*module))); // checks dominance
    std::vector<std::string> names = namesOf(*module), effects;
    for (const std::string &name : names)
      if (llvm::StringRef(name).starts_with("memref."))
        effects.push_back(name);
    EXPECT_EQ(effects, (std::vector<std::string>{"memref.store", "memref.load",
                                                 "memref.store"}));
    // Both stores are of the same name: the first stores the sum.
    module->walk([&](memref::LoadOp load) {
      auto store = load->getPrevNode();
      while (store && !isa<memref::StoreOp>(store))
        store = store->getPrevNode();
      ASSERT_TRUE(store);
      EXPECT_TRUE(cast<memref::StoreOp>(store)
                      .getValueToStore()
                      .getDefiningOp<arith::AddFOp>());
    });
    orders.insert(getStateText(*module));
    llvm::sort(names);
    EXPECT_EQ(names, expected);
  }
  EXPECT_GT(orders.size(), 5U);
}

TEST_F(RewritesTest, ValuesUsedInsideOfRegionsComeFirst) {
  llvm::StringRef source = R"(
    func.func @f(%x: f32, %n: index) -> f32 {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %a = arith.addf %x, %x : f32
      %s = scf.for %i = %zero to %n step %one iter_args(%v = %x) -> f32 {
        %b = arith.mulf %v, %a : f32
        %c = arith.addf %v, %x : f32
        %d = arith.subf %b, %c : f32
        scf.yield %d : f32
      }
      return %s : f32
    })";
  std::set<std::string> texts;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    OwningOpRef<ModuleOp> module = parse(source);
    reorderOperations(*module, seed);
    ASSERT_TRUE(succeeded(verify(*module)));
    texts.insert(getStateText(*module));
  }
  EXPECT_GT(texts.size(), 3U);
}

TEST_F(RewritesTest, TextsDifferAndRepeat) {
  OwningOpRef<ModuleOp> module = parse(program);
  std::string before = getStateText(*module);
  std::vector<std::string> texts = getRewrittenTexts(*module, 4, 11);
  EXPECT_THAT(texts, SizeIs(4));
  std::set<std::string> all(texts.begin(), texts.end());
  all.insert(before);
  EXPECT_THAT(all, SizeIs(5));
  EXPECT_EQ(getStateText(*module), before);
  EXPECT_EQ(getRewrittenTexts(*module, 4, 11), texts);
  EXPECT_NE(getRewrittenTexts(*module, 4, 12), texts);
}

TEST_F(RewritesTest, TheFirstTextIsSimplified) {
  OwningOpRef<ModuleOp> module = parse(R"(
    func.func @f(%x: i32) -> i32 {
      %zero = arith.constant 0 : i32
      %y = arith.addi %x, %zero : i32
      return %y : i32
    })");
  std::vector<std::string> texts = getRewrittenTexts(*module, 3, 0);
  // There is one order only.
  ASSERT_THAT(texts, SizeIs(1));
  EXPECT_EQ(texts.front().find("addi"), std::string::npos);
}

TEST_F(RewritesTest, NothingToChange) {
  OwningOpRef<ModuleOp> module =
      parse("func.func @f(%x: i32) -> i32 { return %x : i32 }");
  EXPECT_THAT(getRewrittenTexts(*module, 3, 0), SizeIs(0));
}
