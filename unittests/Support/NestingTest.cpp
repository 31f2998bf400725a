//===- NestingTest.cpp - Tests of the limits on nesting --------- -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Support/Nesting.h"

#include "gtest/gtest.h"

using namespace llvm;
using namespace cwm;

static std::string repeat(StringRef text, unsigned count) {
  std::string result;
  for (unsigned i = 0; i < count; ++i)
    result += text;
  return result;
}

static std::string getError(StringRef json) {
  Expected<json::Value> value = parseJSON(json);
  return value ? "" : toString(value.takeError());
}

TEST(JSONNestingTest, LimitIsExact) {
  for (auto [opening, inner, closing] :
       {std::tuple("[", "1", "]"), std::tuple("{\"a\":", "1", "}")}) {
    auto make = [&, o = opening, i = inner, c = closing](unsigned levels) {
      return repeat(o, levels) + i + repeat(c, levels);
    };
    EXPECT_EQ(getError(make(maxJSONLevels)), "");
    EXPECT_NE(getError(make(maxJSONLevels + 1)).find("nested deeper than 256"),
              std::string::npos);
    EXPECT_NE(getError(make(1000000)), "");
  }
  // Whether it is closed does not matter.
  EXPECT_NE(getError("\n" + repeat("[", 1000000))
                .find("[2:257, byte=257]: nested deeper than 256 levels"),
            std::string::npos);
}

TEST(JSONNestingTest, OnlyOpenBracketsCount) {
  EXPECT_EQ(getError("[" + repeat("[],{},", 1000) + "1]"), "");
  EXPECT_EQ(getError("\"" + repeat("[", 1000) + "\""), "");
  EXPECT_EQ(getError(R"(["\"[[[", "\\", )" + repeat("[", 200) +
                     repeat("]", 200) + "]"),
            "");
  // A quote that ends a string where an escape does not.
  EXPECT_NE(getError(R"(["\\",)" + repeat("[", 300)), "");
}

/// How deep `text` is, found by trying.
static unsigned getDepth(StringRef text) {
  unsigned levels = 0;
  while (levels < 100 && findDeepNesting(text, levels))
    ++levels;
  return levels;
}

TEST(ModuleNestingTest, BracketsOfAllKindsCount) {
  EXPECT_EQ(getDepth(""), 0u);
  EXPECT_EQ(getDepth("module { func.func @f() { return } }"), 2u);
  EXPECT_EQ(getDepth("x = [[[1], [2]], {a = tuple<tuple<i1>>}]"), 4u);
  EXPECT_EQ(getDepth("loc(callsite(\"a\" at fused[\"b\"(\"c\")]))"), 4u);
  EXPECT_EQ(getDepth("#m = affine_map<(i) -> (((i)))>"), 4u);
  EXPECT_EQ(getDepth("() -> (() -> (() -> ()))"), 3u);
}

TEST(ModuleNestingTest, OnlyOpenBracketsCount) {
  EXPECT_EQ(getDepth("{} [] () <> {} [] (i1) -> (i1)"), 1u);
  EXPECT_EQ(getDepth("// [[[[\n[]"), 1u);
  EXPECT_EQ(getDepth("\"[[[[\\\"[[[[\" []"), 1u);
  EXPECT_EQ(getDepth("\"\\\\\" [[]]"), 2u);
  // Comparisons are no brackets: one after another does not add up.
  EXPECT_EQ(getDepth("affine_set<(i) : (i >= 0, i <= 3, i <= 4, i <= 5)>"), 2u);
  EXPECT_EQ(getDepth("(a < b) (a < b) (a < b)"), 2u);
  // Text that does not parse is the parser's business.
  EXPECT_EQ(getDepth("]]]]>>>> )"), 0u);
}

TEST(ModuleNestingTest, OperatorsInARowCount) {
  EXPECT_EQ(getDepth("(i + j * 2 - k mod 3 floordiv 2 ceildiv 3)"), 7u);
  EXPECT_EQ(getDepth("(----i)"), 5u);
  EXPECT_EQ(getDepth("(i + 1, i - 1, -i) -> (i + 2 : i)"), 2u);
  EXPECT_EQ(getDepth("[-1, -2, -3, 1.0e-5]"), 2u);
  EXPECT_EQ(getDepth("{\n%a = c -1 : i1\n%b = c -1 : i1\n c -1\n c -1 }"), 1u);
  EXPECT_EQ(getDepth("(my.mod, @a-b, remod, mod4)"), 2u);
}

TEST(ModuleNestingTest, AliasesAddUp) {
  EXPECT_EQ(getDepth("#a = [1]\n#b = [#a]\n#c = {x = #b}"), 5u);
  EXPECT_EQ(getDepth("!t = tuple<i1>\n!u-1 = tuple<!t>\nf(!u-1)"), 5u);
  EXPECT_EQ(getDepth("#a = [\n1]\n#b = [2]\n[#a, #b, #c]"), 3u);
  // What uses an alias is not part of it.
  EXPECT_EQ(getDepth("#a = [1]\n{{{ #a }}}\n{ #a }"), 5u);
  std::string chain = "#l0 = loc(\"a\")\n";
  for (int i = 0; i < 100000; ++i)
    chain += "#l" + std::to_string(i + 1) + " = loc(fused[#l" +
             std::to_string(i) + "])\n";
  std::optional<TextPlace> place = findDeepNesting(chain);
  ASSERT_TRUE(place);
  EXPECT_LT(place->line, 1000u);
}

TEST(ModuleNestingTest, PlacesCountFromOne) {
  std::optional<TextPlace> place = findDeepNesting("a\n b {\n  c {", 1);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->line, 3u);
  EXPECT_EQ(place->column, 5u);
  place = findDeepNesting("[", 0);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->line, 1u);
  EXPECT_EQ(place->column, 1u);
}
