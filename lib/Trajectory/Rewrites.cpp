//===- Rewrites.cpp - Other texts of the same program ---------- -*- C++-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Trajectory/Rewrites.h"

#include "cwm/Support/SplitMix.h"
#include "cwm/Trajectory/StateText.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <map>
#include <random>
#include <set>

using namespace mlir;
using namespace cwm;

/// A number below `bound`. Unlike std::uniform_int_distribution the same with
/// every standard library; the bias is of no interest here.
static size_t draw(std::mt19937_64 &random, size_t bound) {
  return static_cast<size_t>(random() % bound);
}

/// Calls `number` with each `%<digits>` outside of strings and `other` with
/// what is between.
static void splitNumbers(StringRef text,
                         llvm::function_ref<void(StringRef)> number,
                         llvm::function_ref<void(StringRef)> other) {
  size_t begin = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    // The printer escapes quotes in strings as \22.
    if (text[i] == '"')
      inString = !inString;
    if (inString || text[i] != '%')
      continue;
    StringRef digits =
        text.substr(i + 1).take_while([](char c) { return llvm::isDigit(c); });
    if (digits.empty())
      continue;
    other(text.slice(begin, i + 1));
    number(digits);
    i += digits.size();
    begin = i + 1;
  }
  other(text.substr(begin));
}

std::string cwm::renameValues(StringRef stateText, uint64_t seed) {
  llvm::SetVector<StringRef> numbers;
  auto ignore = [](StringRef) {};
  splitNumbers(
      stateText, [&](StringRef number) { numbers.insert(number); }, ignore);
  std::vector<StringRef> renamed(numbers.begin(), numbers.end());
  std::mt19937_64 random(seed);
  shuffleBy(renamed, [&](size_t end) { return draw(random, end); });
  std::map<StringRef, StringRef> names;
  for (auto [from, to] : llvm::zip_equal(numbers, renamed))
    names[from] = to;
  std::string text;
  text.reserve(stateText.size() + numbers.size());
  splitNumbers(
      stateText, [&](StringRef number) { text += names[number]; },
      [&](StringRef other) { text += other; });
  return text;
}

/// Reorders the operations of one block.
static void reorder(Block &block, std::mt19937_64 &random) {
  Operation *terminator =
      block.mightHaveTerminator() ? block.getTerminator() : nullptr;
  std::vector<Operation *> operations;
  llvm::DenseMap<Operation *, size_t> places;
  for (Operation &op : block) {
    if (&op == terminator)
      continue;
    places[&op] = operations.size();
    operations.push_back(&op);
  }
  // An edge from each operation to those that must come later.
  std::vector<std::vector<size_t>> later(operations.size());
  std::vector<size_t> numEarlier(operations.size(), 0);
  auto order = [&](size_t first, size_t second) {
    later[first].push_back(second);
    ++numEarlier[second];
  };
  std::optional<size_t> lastEffect;
  for (auto [index, op] : llvm::enumerate(operations)) {
    size_t place = index;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          if (auto it = places.find(definition);
              it != places.end() && it->second != place)
            order(it->second, place);
    });
    if (!isMemoryEffectFree(op)) {
      if (lastEffect)
        order(*lastEffect, place);
      lastEffect = place;
    }
  }
  std::vector<size_t> ready;
  for (size_t i = 0; i < operations.size(); ++i)
    if (numEarlier[i] == 0)
      ready.push_back(i);
  while (!ready.empty()) {
    size_t choice = draw(random, ready.size());
    size_t next = ready[choice];
    ready.erase(ready.begin() + static_cast<ptrdiff_t>(choice));
    if (terminator)
      operations[next]->moveBefore(terminator);
    else
      operations[next]->moveBefore(&block, block.end());
    for (size_t follower : later[next])
      if (--numEarlier[follower] == 0)
        ready.push_back(follower);
  }
}

void cwm::reorderOperations(Operation *root, uint64_t seed) {
  std::mt19937_64 random(seed);
  // Symbols have an order of their own, which text and numbers follow.
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->hasTrait<OpTrait::SymbolTable>())
      return;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        reorder(block, random);
  });
}

std::vector<std::string> cwm::getRewrittenTexts(Operation *root, unsigned count,
                                                uint64_t seed) {
  std::vector<std::string> texts;
  std::set<std::string> seen;
  seen.insert(getStateText(root));
  auto keep = [&](Operation *copy) {
    std::string text = getStateText(copy);
    if (texts.size() < count && seen.insert(text).second)
      texts.push_back(std::move(text));
  };
  OwningOpRef<Operation *> simplified(root->clone());
  PassManager passes(root->getContext(), root->getName().getStringRef());
  passes.addPass(createCanonicalizerPass());
  ScopedDiagnosticHandler quiet(root->getContext(),
                                [](Diagnostic &) { return success(); });
  if (succeeded(passes.run(*simplified)))
    keep(*simplified);
  // A program with few orders repeats itself: give up after a few draws.
  for (unsigned attempt = 0; attempt < 4 * count && texts.size() < count;
       ++attempt) {
    OwningOpRef<Operation *> copy(root->clone());
    reorderOperations(*copy, seed + attempt);
    keep(*copy);
  }
  return texts;
}
