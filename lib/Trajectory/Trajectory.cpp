//===- Trajectory.cpp - The effective history of a run ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Trajectory/Trajectory.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace cwm;

namespace {
/// Walks the tree of steps.
class HistoryBuilder {
public:
  explicit HistoryBuilder(Trajectory &trajectory)
      : steps(trajectory.steps), children(steps.size()) {
    for (auto [index, step] : llvm::enumerate(steps))
      if (step.parent)
        children[*step.parent].push_back(index);
      else
        roots.push_back(index);
  }

  std::vector<HistoryEntry> build() {
    std::vector<HistoryEntry> history;
    for (unsigned root : roots)
      llvm::append_range(history, collect(root));
    return history;
  }

private:
  using Entries = std::vector<HistoryEntry>;

  Entries collect(unsigned index);
  Entries collectChildren(unsigned parent,
                          llvm::function_ref<bool(const Step &)> filter);
  Entries collectLoop(unsigned loop);
  Entries collectPairs(unsigned match);
  Entries collectAlternatives(unsigned alternatives);
  void rollBack(unsigned index);

  std::vector<Step> &steps;
  std::vector<std::vector<unsigned>> children;
  std::vector<unsigned> roots;
};
} // namespace

/// Only the last action of a body that ran several times, or on a clone, has
/// the whole payload's state behind it: the one after the enclosing step.
static void keepLastState(std::vector<HistoryEntry> &entries,
                          std::optional<unsigned> after) {
  for (HistoryEntry &entry : entries)
    entry.state.reset();
  if (!entries.empty())
    entries.back().state = after;
}

std::vector<HistoryEntry>
HistoryBuilder::collectChildren(unsigned parent,
                                llvm::function_ref<bool(const Step &)> filter) {
  Entries entries;
  for (unsigned child : children[parent])
    if (filter(steps[child]))
      llvm::append_range(entries, collect(child));
  return entries;
}

std::vector<HistoryEntry> HistoryBuilder::collectLoop(unsigned loop) {
  // The body once, as its first run went.
  Entries entries = collectChildren(
      loop, [](const Step &step) { return step.iteration.value_or(0) == 0; });
  bool runsOnce = llvm::all_of(children[loop], [&](unsigned child) {
    return steps[child].iteration.value_or(0) == 0;
  });
  if (!runsOnce)
    keepLastState(entries, steps[loop].after);
  return entries;
}

std::vector<HistoryEntry> HistoryBuilder::collectPairs(unsigned match) {
  // The first run of each pair's action, in the order of the pairs.
  std::map<unsigned, unsigned> firstRun;
  std::set<unsigned> runs;
  for (unsigned child : children[match]) {
    const Step &step = steps[child];
    if (step.kind == StepKind::Match)
      continue;
    firstRun.try_emplace(step.pair, step.iteration.value_or(0));
    if (step.status != StepStatus::Skipped)
      runs.insert(step.iteration.value_or(0));
  }
  Entries entries;
  for (const auto &first : firstRun)
    llvm::append_range(entries, collectChildren(match, [&](const Step &step) {
                         return step.kind != StepKind::Match &&
                                step.pair == first.first &&
                                step.iteration.value_or(0) == first.second;
                       }));
  if (runs.size() > 1) {
    keepLastState(entries, steps[match].after);
  } else {
    // Skipped pairs are written last, yet their place may be before the one
    // that ran: there the state is still the one before.
    std::optional<unsigned> state = steps[match].before;
    for (HistoryEntry &entry : entries)
      if (steps[entry.step].status == StepStatus::Skipped)
        entry.state = state;
      else
        state = entry.state;
  }
  return entries;
}

std::vector<HistoryEntry>
HistoryBuilder::collectAlternatives(unsigned alternatives) {
  const Step &self = steps[alternatives];
  std::set<unsigned> failed;
  std::optional<unsigned> last;
  for (unsigned child : children[alternatives]) {
    unsigned region = steps[child].iteration.value_or(0);
    last = region;
    if (steps[child].status == StepStatus::Silenceable ||
        steps[child].status == StepStatus::Definite)
      failed.insert(region);
  }
  // Regions are tried in order, so the last one is the one that stayed, unless
  // it failed too: then one without any step did, or none.
  bool hasWinner =
      self.status == StepStatus::Ok && last && !failed.count(*last);
  for (unsigned child : children[alternatives])
    if (!hasWinner || steps[child].iteration.value_or(0) != *last)
      rollBack(child);
  if (!hasWinner)
    return {};
  Entries entries = collectChildren(alternatives, [&](const Step &step) {
    return step.iteration.value_or(0) == *last;
  });
  keepLastState(entries, self.after);
  return entries;
}

void HistoryBuilder::rollBack(unsigned index) {
  steps[index].rolledBack = true;
  for (unsigned child : children[index])
    rollBack(child);
}

std::vector<HistoryEntry> HistoryBuilder::collect(unsigned index) {
  const Step &step = steps[index];
  if (step.kind == StepKind::Action) {
    // A failed action is part of the run, not of what led to the last state,
    // unless the failure was suppressed: then it did nothing, as an action
    // without targets does.
    bool isSuppressed = step.status == StepStatus::Silenceable && step.parent &&
                        steps[*step.parent].status == StepStatus::Ok &&
                        steps[*step.parent].name != "alternatives";
    if (step.status != StepStatus::Ok && step.status != StepStatus::Skipped &&
        !step.isChanged() && !isSuppressed)
      return {};
    return {{index, step.after}};
  }
  if (step.kind != StepKind::Control)
    return {};
  if (step.name == "foreach")
    return collectLoop(index);
  if (step.name == "foreach_match")
    return collectPairs(index);
  if (step.name == "alternatives")
    return collectAlternatives(index);
  return collectChildren(index, [](const Step &) { return true; });
}

void Trajectory::computeHistory() { history = HistoryBuilder(*this).build(); }

std::vector<std::string> Trajectory::getActionTexts() const {
  std::vector<std::string> texts;
  texts.reserve(history.size());
  for (const HistoryEntry &entry : history)
    texts.push_back(steps[entry.step].text);
  return texts;
}
