//===- SpacePropertyTest.cpp - Random spaces against brute force ----------===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small random schedules, written as text together with a model of their own
// of what is live and what is allowed. The model knows nothing of the
// implementation: it lists all assignments.
//
//===----------------------------------------------------------------------===//

#include "SpaceTestUtils.h"

#include <map>
#include <set>

using namespace cwm;
using namespace cwm::test;
using namespace mlir;

namespace {

/// A random schedule and its candidates.
class Model {
public:
  explicit Model(uint64_t seed) : engine(seed) {
    numParams = 1 + draw(4);
    for (unsigned knob = 0; knob < numParams; ++knob) {
      std::vector<int64_t> values;
      for (uint64_t i = 0, end = 1 + draw(4); i < end; ++i)
        values.push_back(static_cast<int64_t>(i * (1 + draw(3))) * 2 + i);
      addKnob("k" + std::to_string(knob), values);
    }
    usedAnywhere.resize(numParams, false);
    text = "module attributes {transform.with_named_sequence} {\n";
    std::string body = makeBody(/*depth=*/0, {});
    std::string sequences = makeSequences();
    text += sequences +
            "transform.named_sequence @__transform_main("
            "%root: !transform.any_op) {\n" +
            declareParams() + body + "transform.yield\n}\n}\n";
    // A parameter that goes nowhere counts where it is declared.
    for (unsigned knob = 0; knob < numParams; ++knob)
      if (!usedAnywhere[knob])
        uses.push_back({knob, {}});
    listCandidates();
  }

  std::string text;
  std::vector<std::string> names;
  /// Keys of all candidates with the constraints, and without.
  std::set<std::string> keys, allKeys;

private:
  using Path = std::vector<std::pair<unsigned, uint64_t>>;
  struct Rule {
    Path path;
    std::vector<std::pair<unsigned, int64_t>> terms;
    int64_t modulus, bound;
  };

  uint64_t draw(uint64_t bound) { return uniformBelow(engine, bound); }

  unsigned addKnob(const std::string &name, std::vector<int64_t> values) {
    names.push_back(name);
    options.push_back(std::move(values));
    return names.size() - 1;
  }

  std::string declareParams() {
    std::string result;
    for (unsigned knob = 0; knob < numParams; ++knob) {
      result += "%" + names[knob] + " = transform.tune.knob<\"" + names[knob] +
                "\"> options = [";
      for (size_t i = 0; i < options[knob].size(); ++i)
        result += (i ? ", " : "") + std::to_string(options[knob][i]);
      result += "] -> !transform.param<i64>\n";
    }
    return result;
  }

  void use(unsigned knob, const Path &path) {
    usedAnywhere[knob] = true;
    uses.push_back({knob, path});
  }

  std::string annotate(unsigned knob) {
    return "transform.annotate %root \"n" + std::to_string(counter++) +
           "\" = %" + names[knob] +
           " : !transform.any_op, !transform.param<i64>\n";
  }

  /// sum of factor * knob, modulo `modulus`, is at most `bound`.
  std::string makeRule(const Path &path) {
    Rule rule{path, {}, int64_t(2 + draw(6)), 0};
    rule.bound = draw(rule.modulus);
    std::string operands, types, args, body = "%s0 = smt.int.constant 0\n";
    unsigned numTerms = 1 + draw(2);
    for (unsigned term = 0; term < numTerms; ++term) {
      unsigned knob = draw(numParams);
      int64_t factor = static_cast<int64_t>(draw(7)) - 3;
      rule.terms.push_back({knob, factor});
      use(knob, path);
      std::string n = std::to_string(term), m = std::to_string(term + 1);
      operands += (term ? ", %" : "%") + names[knob];
      types += term ? ", !transform.param<i64>" : "!transform.param<i64>";
      args += (term ? ", %x" : "%x") + n + ": !smt.int";
      body += "%f" + n + " = smt.int.constant " + std::to_string(factor) +
              "\n%p" + n + " = smt.int.mul %x" + n + ", %f" + n + "\n%s" + m +
              " = smt.int.add %s" + n + ", %p" + n + "\n";
    }
    body += "%m = smt.int.constant " + std::to_string(rule.modulus) +
            "\n%b = smt.int.constant " + std::to_string(rule.bound) +
            "\n%r = smt.int.mod %s" + std::to_string(numTerms) +
            ", %m\n%c = smt.int.cmp le %r, %b\nsmt.assert %c\n";
    rules.push_back(rule);
    return "transform.smt.constrain_params(" + operands + ") : (" + types +
           ") -> () {\n^bb0(" + args + "):\n" + body + "}\n";
  }

  std::string makeBody(unsigned depth, const Path &path) {
    std::string result;
    for (uint64_t item = 0, end = 1 + draw(3); item < end; ++item) {
      switch (draw(depth < 2 ? 5 : 3)) {
      case 0: {
        unsigned knob = draw(numParams);
        use(knob, path);
        result += annotate(knob);
        break;
      }
      case 1:
        result += makeRule(path);
        break;
      case 2: { // a knob used by name in an included sequence
        unsigned knob = draw(numParams);
        use(knob, path);
        included.insert(knob);
        result += "transform.include @seq_" + names[knob] +
                  " failures(propagate) (%root) : (!transform.any_op) -> ()\n";
        break;
      }
      default:
        result += makeAlternatives(depth, path);
      }
    }
    return result;
  }

  std::string makeAlternatives(unsigned depth, const Path &path) {
    if (numAlternatives >= 3)
      return {};
    ++numAlternatives;
    uint64_t numRegions = 1 + draw(3);
    // Sometimes a name that is already there: the same decision.
    std::vector<unsigned> known;
    for (unsigned knob = numParams; knob < names.size(); ++knob)
      if (options[knob].size() == numRegions)
        known.push_back(knob);
    unsigned knob;
    if (!known.empty() && draw(2)) {
      knob = known[draw(known.size())];
    } else {
      std::vector<int64_t> regions;
      for (uint64_t i = 0; i < numRegions; ++i)
        regions.push_back(i);
      knob = addKnob("alt" + std::to_string(names.size()), regions);
    }
    uses.push_back({knob, path});
    std::string result =
        "transform.tune.alternatives<\"" + names[knob] + "\"> ";
    for (uint64_t region = 0; region < numRegions; ++region) {
      Path inner = path;
      inner.push_back({knob, region});
      result += (region ? ", {\n" : "{\n") + makeBody(depth + 1, inner) + "}";
    }
    return result + "\n";
  }

  std::string makeSequences() {
    std::string result;
    for (unsigned knob : included)
      result += "transform.named_sequence @seq_" + names[knob] +
                "(%root: !transform.any_op {transform.readonly}) {\n"
                "transform.annotate %root \"i\" {cwm.bind = {name = {knob = "
                "\"name_" +
                names[knob] +
                "\", options = [\"u\"]}}} : !transform.any_op\n"
                "%v = transform.tune.knob<\"" +
                names[knob] + "\"> options = " + optionText(knob) +
                " -> !transform.param<i64>\n"
                "transform.annotate %root \"i" +
                std::to_string(knob) +
                "\" = %v : !transform.any_op, !transform.param<i64>\n"
                "transform.yield\n}\n";
    return result;
  }

  std::string optionText(unsigned knob) const {
    std::string result = "[";
    for (size_t i = 0; i < options[knob].size(); ++i)
      result += (i ? ", " : "") + std::to_string(options[knob][i]);
    return result + "]";
  }

  void listCandidates() {
    std::vector<uint64_t> choice(names.size(), 0);
    while (true) {
      record(choice);
      size_t knob = 0;
      while (knob < choice.size() && ++choice[knob] == options[knob].size())
        choice[knob++] = 0;
      if (knob == choice.size())
        return;
    }
  }

  void record(const std::vector<uint64_t> &choice) {
    auto active = [&](const Path &path) {
      for (auto [knob, region] : path)
        if (choice[knob] != region)
          return false;
      return true;
    };
    std::map<std::string, int64_t> values;
    for (const auto &[knob, path] : uses)
      if (active(path) && options[knob].size() > 1)
        values[names[knob]] = options[knob][choice[knob]];
    std::string key = "s{";
    for (const auto &[name, value] : values)
      key += (key.size() > 2 ? "," : "") + name + "=" + std::to_string(value);
    key += "}";
    allKeys.insert(key);
    for (const Rule &rule : rules) {
      if (!active(rule.path))
        continue;
      int64_t sum = 0;
      for (auto [knob, factor] : rule.terms)
        sum += factor * options[knob][choice[knob]];
      int64_t rest = ((sum % rule.modulus) + rule.modulus) % rule.modulus;
      if (rest > rule.bound)
        return;
    }
    keys.insert(key);
  }

  RandomEngine engine;
  unsigned numParams = 0, numAlternatives = 0, counter = 0;
  std::vector<std::vector<int64_t>> options;
  std::vector<bool> usedAnywhere;
  std::vector<std::pair<unsigned, Path>> uses;
  std::vector<Rule> rules;
  std::set<unsigned> included;
};

class SpacePropertyTest : public SpaceTest,
                          public ::testing::WithParamInterface<int> {};

TEST_P(SpacePropertyTest, AgreesWithBruteForce) {
  for (uint64_t seed = GetParam() * 40; seed < GetParam() * 40u + 40; ++seed) {
    Model model(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + model.text);
    auto space = parseModule(model.text);
    ASSERT_TRUE(space);
    EXPECT_EQ(space->countUnconstrained(), double(model.allKeys.size()));
    EXPECT_EQ(space->countExact(1000000), model.keys.size());

    std::vector<std::string> listed = getKeys(*space);
    EXPECT_EQ(std::set<std::string>(listed.begin(), listed.end()), model.keys);
    EXPECT_EQ(listed.size(), model.keys.size()); // no candidate twice

    RandomEngine engine(seed), same(seed);
    std::string why;
    if (model.keys.empty()) {
      EXPECT_EQ(space->sample(engine), std::nullopt);
      EXPECT_EQ(space->getDefault(&why), std::nullopt);
      EXPECT_NE(why.find("constraint"), std::string::npos) << why;
      continue;
    }
    auto first = space->getDefault(&why);
    ASSERT_TRUE(first);
    EXPECT_TRUE(model.keys.count(space->getKey(*first)));

    // Sampling: inside, uniform (chi-square, p about 10^-4), reproducible.
    std::map<std::string, int> seen;
    int draws = 30 * model.keys.size() + 30;
    Assignment previous = *first;
    for (int i = 0; i < draws; ++i) {
      auto candidate = space->sample(engine);
      ASSERT_TRUE(candidate);
      EXPECT_EQ(space->sample(same), candidate);
      std::string key = space->getKey(*candidate);
      ASSERT_TRUE(model.keys.count(key)) << key;
      ++seen[key];
      EXPECT_EQ(space->parseKey(key), candidate);
      if (i >= 50)
        continue;
      RandomEngine local(i);
      auto child = space->crossover(previous, *candidate, local);
      ASSERT_TRUE(child);
      EXPECT_TRUE(model.keys.count(space->getKey(*child)));
      auto mutant = space->mutate(*candidate, local);
      EXPECT_EQ(mutant.has_value(), model.keys.size() > 1);
      if (mutant) {
        EXPECT_TRUE(model.keys.count(space->getKey(*mutant)));
        EXPECT_NE(space->getKey(*mutant), key);
      }
      previous = *candidate;
    }
    double expected = double(draws) / model.keys.size(), chiSquare = 0;
    for (const std::string &key : model.keys)
      chiSquare += (seen[key] - expected) * (seen[key] - expected) / expected;
    double freedom = model.keys.size() - 1;
    EXPECT_LE(chiSquare, freedom + 4 * std::sqrt(2 * freedom) + 10);

    // Every candidate binds.
    int bound = 0;
    space->enumerate([&](const Assignment &candidate) {
      EXPECT_TRUE(succeeded(space->bind(candidate)));
      return ++bound < 20;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SpacePropertyTest, ::testing::Range(0, 10));

} // namespace
