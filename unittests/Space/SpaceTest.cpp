//===- SpaceTest.cpp - Counting, sampling, keys, constraints --------------===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceTestUtils.h"

#include <map>
#include <set>

using namespace cwm;
using namespace cwm::test;
using namespace mlir;

namespace {

TEST(RandomTest, SequenceIsFixedByTheStandard) {
  RandomEngine engine;
  engine.discard(9999);
  EXPECT_EQ(engine(), 9981545732273789042u); // [rand.predef]
}

TEST(RandomTest, UniformBelowRejectsTheIncompleteRun) {
  // 2^64 mod 3 is 1: only the largest number must be drawn again.
  RandomEngine engine(1), same(1);
  for (int i = 0; i < 100; ++i) {
    uint64_t raw = same();
    ASSERT_NE(raw, UINT64_MAX);
    EXPECT_EQ(uniformBelow(engine, 3), raw % 3);
  }
  // Half of the numbers are above 2^63 + 1 and must be rejected.
  RandomEngine wide(2), reference(2);
  uint64_t bound = (uint64_t(1) << 63) + 1;
  for (int i = 0; i < 100; ++i) {
    uint64_t raw = reference();
    while (raw >= bound)
      raw = reference();
    EXPECT_EQ(uniformBelow(wide, bound), raw);
  }
}

TEST_F(SpaceTest, RangesAreInclusiveMultiples) {
  auto space =
      parse(knob("a", "{lower_bound = 1, upper_bound = 12, divisible_by = 4}") +
            knob("b", "{lower_bound = -5, upper_bound = 4, divisible_by = 3}") +
            knob("c", "{lower_bound = 2, upper_bound = 13, divides = 12}"));
  ASSERT_TRUE(space);
  auto values = [&](unsigned knob) {
    std::vector<int64_t> result;
    for (uint64_t i = 0; i < space->getKnobs()[knob].getNumOptions(); ++i)
      result.push_back(*space->getKnobs()[knob].getInteger(i));
    return result;
  };
  EXPECT_EQ(values(0), (std::vector<int64_t>{4, 8, 12}));
  EXPECT_EQ(values(1), (std::vector<int64_t>{-3, 0, 3}));
  EXPECT_EQ(values(2), (std::vector<int64_t>{2, 3, 4, 6, 12}));
}

TEST_F(SpaceTest, HugeSpacesAreCountedAndSampledAtOnce) {
  std::string body;
  for (char name : {'a', 'b', 'c', 'd'})
    body +=
        knob(std::string(1, name), "{lower_bound = 1, upper_bound = 1000000}");
  auto space = parse(body);
  ASSERT_TRUE(space);
  EXPECT_EQ(space->countUnconstrained(), 1e24);
  EXPECT_EQ(space->countExact(10), std::nullopt); // more than 2^64
  RandomEngine engine(7);
  auto candidate = space->sample(engine);
  ASSERT_TRUE(candidate);
  EXPECT_EQ(space->parseKey(space->getKey(*candidate)), candidate);
  int visited = 0;
  space->enumerate([&](const Assignment &) { return ++visited < 5; });
  EXPECT_EQ(visited, 5);
}

TEST_F(SpaceTest, DeadKnobsCountOnce) {
  auto space = parse(R"(
    transform.tune.alternatives<"how"> {
      %a = transform.tune.knob<"a"> options = [1, 2, 3] -> !transform.param<i64>
      transform.annotate %root "x" = %a : !transform.any_op, !transform.param<i64>
    }, {
      transform.tune.alternatives<"inner"> {
        %b = transform.tune.knob<"b"> options = [1, 2] -> !transform.param<i64>
        transform.annotate %root "x" = %b : !transform.any_op, !transform.param<i64>
      }, {
      }
    }, {
    })");
  ASSERT_TRUE(space);
  EXPECT_EQ(space->countUnconstrained(), 7);
  EXPECT_EQ(getKeys(*space), (std::vector<std::string>{
                                 "s{a=1,how=0}", "s{a=2,how=0}", "s{a=3,how=0}",
                                 "s{b=1,how=1,inner=0}", "s{b=2,how=1,inner=0}",
                                 "s{how=1,inner=1}", "s{how=2}"}));
  EXPECT_EQ(space->parseKey("s{a=1,how=1,inner=1}"), std::nullopt);
  EXPECT_EQ(space->parseKey("s{how=0}"), std::nullopt);
  EXPECT_EQ(space->parseKey("t{a=1,how=0}"), std::nullopt);
  EXPECT_EQ(space->parseKey("s{a=9,how=0}"), std::nullopt);
}

TEST_F(SpaceTest, KnobsAreLiveWhereTheirValueIsUsed) {
  // Declared at the top, used in a region and through an included sequence.
  auto space = parseModule(R"(
    module attributes {transform.with_named_sequence} {
      transform.named_sequence @tag(%op: !transform.any_op {transform.readonly}, %value: !transform.param<i64> {transform.readonly}) {
        transform.annotate %op "x" = %value : !transform.any_op, !transform.param<i64>
        transform.yield
      }
      transform.named_sequence @never(%op: !transform.any_op {transform.readonly}) {
        %d = transform.tune.knob<"d"> options = [1, 2] -> !transform.param<i64>
        transform.yield
      }
      transform.named_sequence @matcher(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
        %m = transform.tune.knob<"m"> options = [1, 2] -> !transform.param<i64>
        transform.match.param.cmpi eq %m, %m : !transform.param<i64>
        transform.yield %op : !transform.any_op
      }
      transform.named_sequence @action(%op: !transform.any_op {transform.readonly}) {
        transform.yield
      }
      transform.named_sequence @__transform_main(%root: !transform.any_op) {
        %a = transform.tune.knob<"a"> options = [1, 2] -> !transform.param<i64>
        %b = transform.tune.knob<"b"> options = [1, 2] -> !transform.param<i64>
        %c = transform.tune.knob<"c"> options = [1, 2] -> !transform.param<i64>
        %u = transform.tune.knob<"u"> options = [1, 2] -> !transform.param<i64>
        %one = transform.param.constant 1 : i64 -> !transform.param<i64>
        %v = transform.tune.alternatives<"how"> -> !transform.param<i64> {
          transform.include @tag failures(propagate) (%root, %a) : (!transform.any_op, !transform.param<i64>) -> ()
          transform.yield %b : !transform.param<i64>
        }, {
          %0 = transform.foreach_match in %root @matcher -> @action : (!transform.any_op) -> !transform.any_op
          transform.yield %c : !transform.param<i64>
        }
        transform.include @tag failures(propagate) (%root, %v) : (!transform.any_op, !transform.param<i64>) -> ()
        transform.tune.alternatives<"fixed"> selected_region = %one : !transform.param<i64> {
          transform.include @never failures(propagate) (%root) : (!transform.any_op) -> ()
        }, {
        }
        transform.yield
      }
    })");
  ASSERT_TRUE(space);
  std::string text;
  llvm::raw_string_ostream os(text);
  space->printKnobs(os);
  EXPECT_EQ(text, "knob m (param): 1, 2; default 1; live when how = 1\n"
                  "knob a (param): 1, 2; default 1; live when how = 0\n"
                  "knob b (param): 1, 2; default 1; live when how = 0\n"
                  "knob c (param): 1, 2; default 1; live when how = 1\n"
                  "knob u (param): 1, 2; default 1\n" // inert, not lost
                  "knob how (alternatives): 0, 1; default 0\n");
  EXPECT_EQ(space->countUnconstrained(), 16); // u * (a * b + m * c)
  auto script = space->bind(*space->getDefault());
  ASSERT_TRUE(succeeded(script));
  std::string bound;
  llvm::raw_string_ostream(bound) << **script;
  EXPECT_EQ(bound.find("alternatives"), std::string::npos) << bound;
  EXPECT_EQ(bound.find("@never"), std::string::npos) << bound;
}

TEST_F(SpaceTest, RegionsSelectedByAKnob) {
  auto space = parse(knob("which", "[1, 0]") + R"(
    transform.tune.alternatives<"alt"> selected_region = %which : !transform.param<i64> {
      %a = transform.tune.knob<"a"> options = [1, 2, 3] -> !transform.param<i64>
      transform.annotate %root "x" = %a : !transform.any_op, !transform.param<i64>
    }, {
    })");
  ASSERT_TRUE(space);
  EXPECT_EQ(getKeys(*space),
            (std::vector<std::string>{"s{which=1}", "s{a=1,which=0}",
                                      "s{a=2,which=0}", "s{a=3,which=0}"}));
  EXPECT_EQ(space->getKnobs().size(), 2u); // "alt" itself decides nothing
}

TEST_F(SpaceTest, RegionsThatOnlyTheInterpreterKnows) {
  auto space = parse(R"(
    %n = transform.num_associations %root : (!transform.any_op) -> !transform.param<i64>
    transform.tune.alternatives<"alt"> selected_region = %n : !transform.param<i64> {
      %a = transform.tune.knob<"a"> options = [1, 2] -> !transform.param<i64>
      transform.annotate %root "x" = %a : !transform.any_op, !transform.param<i64>
    }, {
      %b = transform.tune.knob<"b"> options = [1, 2] -> !transform.param<i64>
      transform.annotate %root "x" = %b : !transform.any_op, !transform.param<i64>
    })");
  ASSERT_TRUE(space);
  EXPECT_EQ(space->countUnconstrained(), 4);
  auto script = space->bind({1, 1});
  ASSERT_TRUE(succeeded(script));
  std::string bound;
  llvm::raw_string_ostream(bound) << **script;
  EXPECT_NE(bound.find("alternatives<\"alt\"> selected_region = %"),
            std::string::npos)
      << bound;
  EXPECT_NE(bound.find("knob<\"a\"> = 2"), std::string::npos) << bound;
  EXPECT_NE(bound.find("knob<\"b\"> = 2"), std::string::npos) << bound;
}

TEST_F(SpaceTest, KnobsThatAreSelectedAlready) {
  auto space = parse(R"(
    %a = transform.tune.knob<"a"> = 2 from options = [1, 2] -> !transform.param<i64>
    transform.annotate %root "x" = %a : !transform.any_op, !transform.param<i64>
    transform.tune.alternatives<"alt"> selected_region = 1 {
      %b = transform.tune.knob<"b"> options = [1, 2] -> !transform.param<i64>
      transform.annotate %root "x" = %b : !transform.any_op, !transform.param<i64>
    }, {
    })");
  ASSERT_TRUE(space);
  EXPECT_EQ(getKeys(*space), (std::vector<std::string>{"s{}"}));
}

TEST_F(SpaceTest, SamplingIsUniformOverCandidates) {
  // Choosing `how` first and then `a` would give "how=1" half of the time.
  auto space = parse(R"(
    transform.tune.alternatives<"how"> {
      %a = transform.tune.knob<"a"> options = [1,2,3,4,5,6,7,8,9] -> !transform.param<i64>
      transform.annotate %root "x" = %a : !transform.any_op, !transform.param<i64>
    }, {
    })");
  ASSERT_TRUE(space);
  RandomEngine engine(3);
  std::map<std::string, int> seen;
  for (int i = 0; i < 10000; ++i)
    ++seen[space->getKey(*space->sample(engine))];
  EXPECT_EQ(seen.size(), 10u);
  double chiSquare = 0;
  for (const auto &[key, count] : seen)
    chiSquare += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chiSquare, 27.9); // 9 degrees of freedom, p = 0.001
}

TEST_F(SpaceTest, OneInAMillion) {
  std::vector<std::string> names = {"a", "b", "c", "d", "e", "f"};
  std::string body;
  for (const std::string &name : names)
    body += knob(name, "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]");
  // The number v with digits a..f fulfils v * g mod p = w for one v only,
  // since p is prime; intervals tell nothing before all digits are known.
  std::string text = "%ten = smt.int.constant 10\n%v0 = smt.int.constant 0\n";
  for (size_t i = 0; i < names.size(); ++i) {
    std::string n = std::to_string(i), m = std::to_string(i + 1);
    text += "%t" + n + " = smt.int.mul %v" + n + ", %ten\n%v" + m +
            " = smt.int.add %t" + n + ", %c_" + names[i] + "\n";
  }
  int64_t target = int64_t(314159) * 271829 % 1000003;
  text += "%p = smt.int.constant 1000003\n%g = smt.int.constant 271829\n"
          "%h = smt.int.mul %v6, %g\n%r = smt.int.mod %h, %p\n"
          "%w = smt.int.constant " +
          std::to_string(target) +
          "\n%eq = smt.eq %r, %w : !smt.int\nsmt.assert %eq\n";
  auto space = parse(body + constrain(names, text));
  ASSERT_TRUE(space);
  EXPECT_EQ(space->countUnconstrained(), 1e6);
  RandomEngine engine(0);
  auto candidate = space->sample(engine);
  ASSERT_TRUE(candidate);
  std::string key = "s{a=3,b=1,c=4,d=1,e=5,f=9}";
  EXPECT_EQ(space->getKey(*candidate), key);
  auto first = space->getDefault();
  ASSERT_TRUE(first);
  EXPECT_EQ(space->getKey(*first), key);
  EXPECT_EQ(space->mutate(*candidate, engine), std::nullopt);
  EXPECT_EQ(space->countExact(UINT64_MAX), 1u);
}

TEST_F(SpaceTest, SparseAndTooLargeToCount) {
  // 10^12 pairs, one in 10^4 is valid; no diagram fits.
  auto space = parse(knob("a", "{lower_bound = 1, upper_bound = 1000000}") +
                     knob("b", "{lower_bound = 1, upper_bound = 1000000}") +
                     constrain({"a", "b"}, R"(
        %p = smt.int.mul %c_a, %c_b
        %q = smt.int.add %p, %c_a
        %m = smt.int.constant 9973
        %r = smt.int.mod %q, %m
        %z = smt.int.constant 17
        %e = smt.eq %r, %z : !smt.int
        smt.assert %e)"));
  ASSERT_TRUE(space);
  EXPECT_EQ(space->countExact(100000), std::nullopt);
  RandomEngine engine(5), same(5);
  std::set<std::string> seen;
  for (int i = 0; i < 20; ++i) {
    auto candidate = space->sample(engine);
    ASSERT_TRUE(candidate);
    EXPECT_TRUE(space->satisfies(*candidate));
    EXPECT_EQ(space->sample(same), candidate);
    seen.insert(space->getKey(*candidate));
    auto child = space->mutate(*candidate, engine);
    ASSERT_TRUE(child);
    EXPECT_TRUE(space->satisfies(*child));
    EXPECT_NE(*child, *candidate);
    same = engine;
  }
  EXPECT_GT(seen.size(), 15u);
  auto first = space->getDefault();
  ASSERT_TRUE(first);
  EXPECT_TRUE(space->satisfies(*first));
}

TEST_F(SpaceTest, ConstrainedGroupsMultiply) {
  // Two groups of 10^4 pairs each, 50 free options: exact however large the
  // product.
  std::string range = "{lower_bound = 1, upper_bound = 100}";
  auto pair = [&](const std::string &x, const std::string &y) {
    return knob(x, range) + knob(y, range) +
           constrain({x, y}, "%l = smt.int.cmp lt %c_" + x + ", %c_" + y +
                                 "\nsmt.assert %l\n");
  };
  auto space = parse(pair("a", "b") + pair("c", "d") +
                     knob("e", "{lower_bound = 1, upper_bound = 50}"));
  ASSERT_TRUE(space);
  EXPECT_EQ(space->countExact(100000), 4950u * 4950u * 50u);
}

TEST_F(SpaceTest, OptionsAndDefaultsFromOutside) {
  Builder builder(&context);
  llvm::StringMap<ArrayAttr> options;
  options["a"] = builder.getI64ArrayAttr({16, 8, 16, 24});
  auto space = parse(knob("a", "[1, 2]"), options, {{"a", 3}});
  ASSERT_TRUE(space);
  EXPECT_EQ(space->getKnobs()[0].getNumOptions(), 3u); // duplicates dropped
  auto first = space->getDefault();
  EXPECT_EQ(space->getKey(*first), "s{a=24}");
  auto script = space->bind(*first);
  ASSERT_TRUE(succeeded(script));

  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &d) {
    EXPECT_EQ(d.str(), "options given for knob \"z\", which schedule 's' does "
                       "not declare");
    return success();
  });
  llvm::StringMap<ArrayAttr> wrong;
  wrong["z"] = builder.getI64ArrayAttr({1});
  EXPECT_FALSE(parse(knob("a", "[1, 2]"), wrong));
}

/// Evaluates a boolean SMT expression over x and y through a space of two
/// single options.
class ConstraintTest : public SpaceTest {
protected:
  bool holds(int64_t x, int64_t y, const std::string &body) {
    auto space = parse(knob("x", "[" + std::to_string(x) + "]") +
                       knob("y", "[" + std::to_string(y) + "]") +
                       constrain({"x", "y"}, body + "\nsmt.assert %r\n"));
    EXPECT_TRUE(space);
    return space && space->satisfies({0, 0});
  }
  bool equals(int64_t x, int64_t y, const std::string &op, int64_t value) {
    return holds(x, y,
                 "%v = smt.int." + op + " %c_x, %c_y\n%w = smt.int.constant " +
                     std::to_string(value) + "\n%r = smt.eq %v, %w : !smt.int");
  }
};

TEST_F(ConstraintTest, IntegerOpsFollowSmtLib) {
  EXPECT_TRUE(equals(7, 2, "add", 9));
  EXPECT_TRUE(equals(7, 2, "sub", 5));
  EXPECT_TRUE(equals(7, -2, "mul", -14));
  // SMT-LIB Ints: x = y * q + r with 0 <= r < |y|.
  EXPECT_TRUE(equals(7, 2, "div", 3));
  EXPECT_TRUE(equals(-7, 2, "div", -4));
  EXPECT_TRUE(equals(7, -2, "div", -3));
  EXPECT_TRUE(equals(-7, -2, "div", 4));
  EXPECT_TRUE(equals(-7, 2, "mod", 1));
  EXPECT_TRUE(equals(7, -2, "mod", 1));
  EXPECT_TRUE(equals(-7, -2, "mod", 1));
  EXPECT_TRUE(equals(-6, 3, "mod", 0));
  EXPECT_FALSE(equals(7, 2, "add", 8));
  EXPECT_TRUE(holds(-3, 3,
                    "%v = smt.int.abs %c_x\n"
                    "%r = smt.eq %v, %c_y : !smt.int"));
}

TEST_F(ConstraintTest, BeyondSixtyFourBits) {
  int64_t big = INT64_MAX;
  // x * y > x + y needs 126 bits.
  std::string body = "%p = smt.int.mul %c_x, %c_y\n"
                     "%s = smt.int.add %c_x, %c_y\n"
                     "%r = smt.int.cmp gt %p, %s";
  EXPECT_TRUE(holds(big, big, body));
  EXPECT_FALSE(holds(big, -big, body));
  // The cube does not fit 128 bits: undefined, never wrapped.
  EXPECT_FALSE(holds(big, big,
                     "%p = smt.int.mul %c_x, %c_y, %c_x\n"
                     "%r = smt.int.cmp gt %p, %c_x"));
}

TEST_F(ConstraintTest, DivisionByZeroSatisfiesNothingUnlessGuarded) {
  EXPECT_FALSE(equals(7, 0, "mod", 0));
  std::string body = "%z = smt.int.constant 0\n"
                     "%n = smt.eq %c_y, %z : !smt.int\n"
                     "%m = smt.int.mod %c_x, %c_y\n"
                     "%d = smt.eq %m, %z : !smt.int\n"
                     "%r = smt.or %n, %d";
  EXPECT_TRUE(holds(7, 0, body));
  EXPECT_TRUE(holds(6, 3, body));
  EXPECT_FALSE(holds(7, 3, body));
}

TEST_F(ConstraintTest, BooleanOps) {
  auto both = [&](bool p, bool q, const std::string &op) {
    return holds(p, q,
                 "%o = smt.int.constant 1\n"
                 "%p = smt.eq %c_x, %o : !smt.int\n"
                 "%q = smt.eq %c_y, %o : !smt.int\n" +
                     op);
  };
  for (bool p : {false, true})
    for (bool q : {false, true}) {
      EXPECT_EQ(both(p, q, "%r = smt.and %p, %q"), p && q);
      EXPECT_EQ(both(p, q, "%r = smt.or %p, %q"), p || q);
      EXPECT_EQ(both(p, q, "%r = smt.xor %p, %q"), p != q);
      EXPECT_EQ(both(p, q, "%r = smt.implies %p, %q"), !p || q);
      EXPECT_EQ(both(p, q, "%r = smt.eq %p, %q : !smt.bool"), p == q);
      EXPECT_EQ(both(p, q, "%r = smt.distinct %p, %q : !smt.bool"), p != q);
      EXPECT_EQ(both(p, q,
                     "%n = smt.not %p\n"
                     "%r = smt.ite %n, %q, %p : !smt.bool"),
                p ? p : q);
    }
  EXPECT_TRUE(holds(2, 2,
                    "%t = smt.constant true\n%c = smt.int.constant 2\n"
                    "%a = smt.eq %c_x, %c_y, %c : !smt.int\n"
                    "%r = smt.and %a, %t"));
  EXPECT_FALSE(holds(1, 2,
                     "%c = smt.int.constant 1\n"
                     "%r = smt.distinct %c_x, %c_y, %c : !smt.int"));
  for (auto [pred, less, same, more] :
       {std::make_tuple("lt", true, false, false),
        std::make_tuple("le", true, true, false),
        std::make_tuple("gt", false, false, true),
        std::make_tuple("ge", false, true, true)}) {
    std::string body = "%r = smt.int.cmp " + std::string(pred) + " %c_x, %c_y";
    EXPECT_EQ(holds(1, 2, body), less);
    EXPECT_EQ(holds(2, 2, body), same);
    EXPECT_EQ(holds(3, 2, body), more);
  }
}

TEST_F(ConstraintTest, ResultsBecomeConstants) {
  auto space = parse(knob("x", "[3, 5]") + knob("y", "[4]") + R"(
    %p:2 = transform.smt.constrain_params(%x, %y) : (!transform.param<i64>, !transform.param<i64>) -> (!transform.param<i64>, !transform.param<i64>) {
    ^bb0(%a: !smt.int, %b: !smt.int):
      %s = smt.declare_fun : !smt.int
      %m = smt.int.mul %a, %b
      %e = smt.eq %s, %m : !smt.int
      smt.assert %e
      %t = smt.int.add %s, %a
      smt.yield %s, %t : !smt.int, !smt.int
    }
    // A constraint over a computed parameter.
    transform.smt.constrain_params(%p#1) : (!transform.param<i64>) -> () {
    ^bb0(%a: !smt.int):
      %c = smt.int.constant 20
      %l = smt.int.cmp gt %a, %c
      smt.assert %l
    }
    transform.annotate %root "p" = %p#0 : !transform.any_op, !transform.param<i64>)");
  ASSERT_TRUE(space);
  EXPECT_EQ(getKeys(*space), (std::vector<std::string>{"s{x=5}"}));
  auto script = space->bind(*space->getDefault());
  ASSERT_TRUE(succeeded(script));
  std::string text;
  llvm::raw_string_ostream(text) << **script;
  EXPECT_NE(text.find("param.constant 20 : i64"), std::string::npos) << text;
  EXPECT_EQ(text.find("smt."), std::string::npos) << text;
}

TEST_F(ConstraintTest, BoundConstantsAreKnobs) {
  auto space =
      parse(R"(
    %a = transform.param.constant 1 : i64 {cwm.bind = {value = {knob = "a", options = [1, 2, 3]}}} -> !transform.param<i64>
    %two = transform.param.constant 2 : i64 -> !transform.param<i64>
    transform.annotate %root "a" = %a : !transform.any_op, !transform.param<i64>)" +
            constrain({"a", "two"}, "%l = smt.int.cmp lt %c_a, %c_two\n"
                                    "%r = smt.not %l\nsmt.assert %r"));
  ASSERT_TRUE(space);
  EXPECT_EQ(getKeys(*space), (std::vector<std::string>{"s{a=2}", "s{a=3}"}));
  auto script = space->bind({2});
  ASSERT_TRUE(succeeded(script));
  std::string bound;
  llvm::raw_string_ostream(bound) << **script;
  EXPECT_NE(bound.find("param.constant 3 : i64"), std::string::npos) << bound;
}

TEST_F(SpaceTest, UnsatisfiableConstraintsAreNamed) {
  auto space = parse(knob("x", "[1, 2]") + knob("y", "[1, 2]") +
                     constrain({"x"}, "%c = smt.int.constant 0\n"
                                      "%r = smt.int.cmp gt %c_x, %c\n"
                                      "smt.assert %r") +
                     constrain({"x", "y"}, "%c = smt.int.constant 9\n"
                                           "%p = smt.int.mul %c_x, %c_y\n"
                                           "%r = smt.int.cmp ge %p, %c\n"
                                           "smt.assert %r"));
  ASSERT_TRUE(space);
  std::string why;
  EXPECT_EQ(space->getDefault(&why), std::nullopt);
  EXPECT_TRUE(
      StringRef(why).starts_with("constraint '(x * y) >= 9' at -:16:1 "))
      << why;
  EXPECT_TRUE(StringRef(why).ends_with(" holds for no options of its knobs"))
      << why;
  RandomEngine engine(0);
  EXPECT_EQ(space->sample(engine), std::nullopt);
  EXPECT_EQ(space->countExact(100), 0u);

  why.clear();
  auto pair = parse(knob("x", "[1, 2]") +
                    constrain({"x"}, "%c = smt.int.constant 1\n"
                                     "%r = smt.int.cmp gt %c_x, %c\n"
                                     "smt.assert %r") +
                    constrain({"x"}, "%c = smt.int.constant 2\n"
                                     "%r = smt.int.cmp lt %c_x, %c\n"
                                     "smt.assert %r"));
  ASSERT_TRUE(pair);
  EXPECT_EQ(pair->getDefault(&why), std::nullopt);
  EXPECT_TRUE(StringRef(why).starts_with(
      "no candidate satisfies all constraints; most often violated: "
      "constraint 'x > 1' at -:8:1"))
      << why;
}

TEST_F(SpaceTest, VariationsStayInside) {
  auto space = parse(knob("a", "{lower_bound = 1, upper_bound = 32}") +
                     knob("b", "{lower_bound = 1, upper_bound = 32}") +
                     constrain({"a", "b"},
                               "%p = smt.int.mul %c_a, %c_b\n"
                               "%c = smt.int.constant 64\n"
                               "%r = smt.eq %p, %c : !smt.int\nsmt.assert %r"));
  ASSERT_TRUE(space);
  EXPECT_EQ(space->countExact(100000), 5u); // 2*32, 4*16, 8*8, ...
  RandomEngine engine(11);
  std::set<std::string> mutants, children;
  auto parent = *space->sample(engine);
  for (int i = 0; i < 200; ++i) {
    auto mutant = space->mutate(parent, engine);
    ASSERT_TRUE(mutant);
    EXPECT_TRUE(space->satisfies(*mutant));
    EXPECT_NE(space->getKey(*mutant), space->getKey(parent));
    auto child = space->crossover(parent, *mutant, engine);
    ASSERT_TRUE(child);
    EXPECT_TRUE(space->satisfies(*child));
    mutants.insert(space->getKey(*mutant));
    parent = *mutant;
  }
  EXPECT_EQ(mutants.size(), 5u); // every candidate can be reached
}

TEST_F(SpaceTest, MutationChangesOneLiveKnob) {
  auto space =
      parse(knob("a", "[1, 2, 3]") + knob("b", "[1, 2, 3]") + knob("c", "[1]"));
  ASSERT_TRUE(space);
  RandomEngine engine(1);
  for (int i = 0; i < 50; ++i) {
    Assignment parent = *space->sample(engine);
    auto mutant = space->mutate(parent, engine);
    ASSERT_TRUE(mutant);
    unsigned changes = 0;
    for (unsigned knob = 0; knob < 3; ++knob)
      changes += parent[knob] != (*mutant)[knob];
    EXPECT_EQ(changes, 1u);
  }
  auto single = parse(knob("c", "[1]"));
  EXPECT_EQ(single->mutate({0}, engine), std::nullopt);
}

TEST_F(SpaceTest, KeysOfOddValues) {
  auto space = parse(R"(
    transform.annotate %root "x" {cwm.bind = {name = {knob = "n", options = ["plain", "a,b=c", "q\"}"]}}} : !transform.any_op
    %0, %l:2 = transform.structured.tile_using_for %root tile_sizes [1, 1]
      {cwm.bind = {static_sizes = {knob = "t", options = [array<i64: 4, 8>, [4, 8], array<i64: 2, 2>]}}}
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op))");
  ASSERT_TRUE(space);
  std::vector<std::string> keys = getKeys(*space);
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), 9u);
  for (const std::string &key : keys) {
    auto candidate = space->parseKey(key);
    ASSERT_TRUE(candidate) << key;
    EXPECT_EQ(space->getKey(*candidate), key);
  }
}

} // namespace
