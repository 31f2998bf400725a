//===- Diagram.cpp - All candidates as a decision diagram ---------*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagram.h"

#include "llvm/ADT/EquivalenceClasses.h"

#include <map>

using namespace mlir;
using namespace cwm;

//===----------------------------------------------------------------------===//
// Count
//===----------------------------------------------------------------------===//

Count Count::of(uint64_t number) {
  return {number, static_cast<double>(number), false};
}

Count &Count::operator+=(const Count &other) {
  approximate += other.approximate;
  overflow |= other.overflow;
  overflow |= __builtin_add_overflow(exact, other.exact, &exact);
  return *this;
}

Count &Count::operator*=(const Count &other) {
  approximate *= other.approximate;
  overflow |= other.overflow;
  overflow |= __builtin_mul_overflow(exact, other.exact, &exact);
  return *this;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace cwm {
class DiagramBuilder {
public:
  DiagramBuilder(ArrayRef<Knob> knobs, const Space::Impl &impl, uint64_t effort,
                 Diagram &diagram)
      : knobs(knobs), impl(impl), partial(knobs, impl), effort(effort),
        diagram(diagram) {
    zero = add({});
    diagram.nodes[zero].count = Count::of(0);
    one = add({});
    diagram.nodes[one].count = Count::of(1);
    for (const Knob &knob : knobs)
      for (const Guard &guard : knob.liveWhen)
        for (auto [deciding, option] : guard)
          isDeciding.insert(deciding);
  }

  /// The candidates over the knobs `open`, the others being known; nullopt
  /// when the effort ran out.
  std::optional<unsigned> build(std::vector<unsigned> open,
                                std::vector<unsigned> constraints) {
    if (!simplify(open, constraints))
      return zero;
    std::vector<Group> groups = split(open, constraints);
    Diagram::Node product;
    product.count = Count::of(1);
    for (const Group &group : groups) {
      std::optional<unsigned> child = buildGroup(group);
      if (!child)
        return std::nullopt;
      if (diagram.nodes[*child].count.isZero())
        return zero;
      product.count *= diagram.nodes[*child].count;
      product.children.push_back(*child);
    }
    if (product.children.empty())
      return one;
    if (product.children.size() == 1)
      return product.children.front();
    return add(std::move(product));
  }

private:
  struct Group {
    std::vector<unsigned> knobs, constraints;
  };

  unsigned add(Diagram::Node node) {
    diagram.nodes.push_back(std::move(node));
    return diagram.nodes.size() - 1;
  }

  bool spend(uint64_t amount = 1) {
    if (effort < amount)
      return false;
    effort -= amount;
    return true;
  }

  /// Drops dead knobs and decided constraints. False when one is violated.
  bool simplify(std::vector<unsigned> &open,
                std::vector<unsigned> &constraints) {
    bool changed = true;
    while (changed) {
      changed = false;
      llvm::erase_if(open, [&](unsigned knob) {
        if (partial.isLive(knob) != Truth::False)
          return false;
        partial.set(knob, knobs[knob].defaultIndex);
        deadKnobs.push_back(knob);
        return changed = true;
      });
    }
    bool violated = false;
    llvm::erase_if(constraints, [&](unsigned index) {
      Truth truth = partial.check(impl.constraints[index]);
      violated |= truth == Truth::False;
      return truth == Truth::True;
    });
    return !violated;
  }

  /// Calls `visit` for the knobs on which the constraint depends.
  template <typename Visitor>
  void forEachKnob(const Constraint &constraint, Visitor visit) const {
    for (unsigned knob : constraint.program.getKnobs())
      visit(knob);
    for (auto [knob, option] : constraint.guard)
      visit(knob);
  }

  std::vector<Group> split(ArrayRef<unsigned> open,
                           ArrayRef<unsigned> constraints) const {
    llvm::EquivalenceClasses<unsigned> classes;
    for (unsigned knob : open)
      classes.insert(knob);
    auto connect = [&](std::optional<unsigned> &first, unsigned knob) {
      if (partial.isKnown(knob))
        return;
      if (first)
        classes.unionSets(*first, knob);
      first = knob;
    };
    for (unsigned index : constraints) {
      std::optional<unsigned> first;
      forEachKnob(impl.constraints[index],
                  [&](unsigned knob) { connect(first, knob); });
    }
    for (unsigned knob : open) {
      std::optional<unsigned> first = knob;
      if (partial.isLive(knob) != Truth::True)
        for (const Guard &guard : knobs[knob].liveWhen)
          for (auto [deciding, option] : guard)
            connect(first, deciding);
    }
    std::vector<Group> groups;
    llvm::DenseMap<unsigned, unsigned> groupOf;
    for (unsigned knob : open) {
      unsigned leader = classes.getLeaderValue(knob);
      auto [it, isNew] = groupOf.try_emplace(leader, groups.size());
      if (isNew)
        groups.emplace_back();
      groups[it->second].knobs.push_back(knob);
    }
    for (unsigned index : constraints) {
      std::optional<unsigned> owner;
      forEachKnob(impl.constraints[index], [&](unsigned knob) {
        if (!partial.isKnown(knob))
          owner = groupOf.lookup(classes.getLeaderValue(knob));
      });
      assert(owner && "a constraint over known knobs is decided");
      groups[*owner].constraints.push_back(index);
    }
    return groups;
  }

  /// What the result for a group depends on: its knobs and constraints, and
  /// the known knobs that these mention.
  std::vector<uint64_t> getMemoKey(const Group &group) const {
    llvm::SmallVector<unsigned> relevant;
    for (unsigned index : group.constraints)
      forEachKnob(impl.constraints[index],
                  [&](unsigned knob) { relevant.push_back(knob); });
    for (unsigned knob : group.knobs)
      for (const Guard &guard : knobs[knob].liveWhen)
        for (auto [deciding, option] : guard)
          relevant.push_back(deciding);
    llvm::sort(relevant);
    relevant.erase(llvm::unique(relevant), relevant.end());
    std::vector<uint64_t> key(group.knobs.begin(), group.knobs.end());
    key.push_back(UINT64_MAX);
    key.insert(key.end(), group.constraints.begin(), group.constraints.end());
    key.push_back(UINT64_MAX);
    for (unsigned knob : relevant) {
      if (partial.isKnown(knob)) {
        key.push_back(knob);
        key.push_back(partial.getOptions()[knob]);
      }
    }
    return key;
  }

  std::optional<unsigned> buildGroup(const Group &group) {
    if (group.knobs.size() == 1 &&
        partial.isLive(group.knobs.front()) == Truth::True)
      return buildSingle(group);
    std::vector<uint64_t> key = getMemoKey(group);
    if (auto it = memo.find(key); it != memo.end())
      return it->second;
    std::optional<unsigned> result = buildBranch(group);
    // Memory is dearer than time.
    if (!spend(8))
      return std::nullopt;
    if (result)
      memo.emplace(std::move(key), *result);
    return result;
  }

  std::optional<unsigned> buildSingle(const Group &group) {
    unsigned knob = group.knobs.front();
    Diagram::Node node;
    node.knob = knob;
    if (group.constraints.empty()) {
      node.kind = Diagram::Node::Kind::Free;
      node.count = Count::of(knobs[knob].getNumOptions());
      return add(std::move(node));
    }
    node.kind = Diagram::Node::Kind::Leaf;
    uint64_t numOptions = knobs[knob].getNumOptions();
    for (uint64_t option = 0; option < numOptions; ++option) {
      if (!spend())
        return std::nullopt;
      partial.set(knob, option);
      if (llvm::all_of(group.constraints, [&](unsigned index) {
            return partial.check(impl.constraints[index]) == Truth::True;
          }))
        node.options.push_back(option);
    }
    partial.clear(knob);
    node.count = Count::of(node.options.size());
    return node.options.empty() ? zero : add(std::move(node));
  }

  /// Deciding knobs first, since they cut the group to pieces; then those
  /// with few options, which are cheap to expand.
  unsigned chooseKnob(const Group &group) const {
    std::optional<unsigned> best;
    for (unsigned knob : group.knobs) {
      if (partial.isLive(knob) != Truth::True)
        continue;
      auto rank = [&](unsigned candidate) {
        return std::make_pair(!isDeciding.count(candidate),
                              knobs[candidate].getNumOptions());
      };
      if (!best || rank(knob) < rank(*best))
        best = knob;
    }
    assert(best && "conditions of liveness are circular");
    return *best;
  }

  std::optional<unsigned> buildBranch(const Group &group) {
    Diagram::Node node;
    node.kind = Diagram::Node::Kind::Branch;
    node.knob = chooseKnob(group);
    std::vector<unsigned> rest = group.knobs;
    llvm::erase(rest, node.knob);
    uint64_t numOptions = knobs[node.knob].getNumOptions();
    for (uint64_t option = 0; option < numOptions; ++option) {
      if (!spend())
        return std::nullopt;
      size_t mark = deadKnobs.size();
      partial.set(node.knob, option);
      std::optional<unsigned> child = build(rest, group.constraints);
      while (deadKnobs.size() > mark)
        partial.clear(deadKnobs.pop_back_val());
      partial.clear(node.knob);
      if (!child)
        return std::nullopt;
      const Count &count = diagram.nodes[*child].count;
      if (count.isZero())
        continue;
      node.options.push_back(option);
      node.children.push_back(*child);
      node.count += count;
    }
    return node.options.empty() ? zero : add(std::move(node));
  }

  ArrayRef<Knob> knobs;
  const Space::Impl &impl;
  Partial partial;
  uint64_t effort;
  Diagram &diagram;
  unsigned zero = 0, one = 0;
  llvm::DenseSet<unsigned> isDeciding;
  SmallVector<unsigned> deadKnobs;
  std::map<std::vector<uint64_t>, unsigned> memo;
};
} // namespace cwm

std::unique_ptr<Diagram> Diagram::build(ArrayRef<Knob> knobs,
                                        const Space::Impl &impl,
                                        ArrayRef<unsigned> constraints,
                                        uint64_t effort) {
  auto diagram = std::make_unique<Diagram>();
  diagram->knobs = knobs;
  std::vector<unsigned> open(knobs.size());
  std::iota(open.begin(), open.end(), 0);
  std::optional<unsigned> root = DiagramBuilder(knobs, impl, effort, *diagram)
                                     .build(std::move(open), constraints.vec());
  if (!root)
    return nullptr;
  diagram->root = *root;
  return diagram;
}
