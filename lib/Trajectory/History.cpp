//===- History.cpp - The states and actions that a model learns from ------===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Trajectory/History.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace cwm {

bool isLoweringAction(StringRef actionText) {
  StringRef name = actionText.take_until([](char c) { return c == ' '; });
  if (name == "bufferization.one_shot_bufferize")
    return true;
  if (name == "apply_registered_pass")
    return actionText.contains("bufferize") ||
           actionText.contains("convert-vector-to-") ||
           actionText.contains("convert-linalg-to-");
  return name.starts_with("apply_patterns") &&
         actionText.contains("vector.lower_");
}

ArrayRef<Action> getModelledActions(ArrayRef<Action> actions) {
  return actions.take_while(
      [](const Action &action) { return !isLoweringAction(action.text); });
}

History makeHistory(Trajectory &&trajectory) {
  History history;
  DenseMap<unsigned, std::optional<unsigned>> numbers;
  auto keep = [&](unsigned index) -> std::optional<unsigned> {
    auto [it, isNew] = numbers.try_emplace(index);
    State &state = trajectory.states[index];
    if (isNew && !state.detached &&
        state.text.size() <= History::maxStateBytes) {
      it->second = history.states.size();
      history.states.push_back({std::move(state.hash), std::move(state.text)});
    }
    return it->second;
  };
  if (!trajectory.states.empty())
    keep(0);
  for (const HistoryEntry &entry : trajectory.history)
    history.entries.push_back(
        {std::move(trajectory.steps[entry.step].text),
         entry.state ? keep(*entry.state) : std::nullopt});
  return history;
}

json::Value toJSON(const History &history) {
  json::Array states, entries;
  for (const History::State &state : history.states)
    states.push_back(json::Array{state.hash, json::fixUTF8(state.text)});
  for (const History::Entry &entry : history.entries)
    entries.push_back(
        json::Array{json::fixUTF8(entry.action),
                    entry.state ? json::Value(*entry.state) : nullptr});
  return json::Object{{"states", std::move(states)},
                      {"entries", std::move(entries)}};
}

/// The two elements of `value`; null when it has others.
static const json::Array *getPair(const json::Value &value, json::Path path) {
  const json::Array *pair = value.getAsArray();
  if (pair && pair->size() == 2)
    return pair;
  path.report("expected a pair");
  return nullptr;
}

bool fromJSON(const json::Value &value, History &history, json::Path path) {
  const json::Object *object = value.getAsObject();
  const json::Array *states = object ? object->getArray("states") : nullptr;
  const json::Array *entries = object ? object->getArray("entries") : nullptr;
  if (!states || !entries) {
    path.report("expected states and entries");
    return false;
  }
  history = History();
  // A path refers to the one before: that must not be a temporary.
  json::Path statesPath = path.field("states");
  json::Path entriesPath = path.field("entries");
  for (const auto &[index, state] : enumerate(*states)) {
    json::Path place = statesPath.index(index);
    const json::Array *pair = getPair(state, place);
    if (!pair)
      return false;
    History::State &read = history.states.emplace_back();
    if (!json::fromJSON((*pair)[0], read.hash, place.index(0)) ||
        !json::fromJSON((*pair)[1], read.text, place.index(1)))
      return false;
  }
  for (const auto &[index, entry] : enumerate(*entries)) {
    json::Path place = entriesPath.index(index);
    const json::Array *pair = getPair(entry, place);
    if (!pair)
      return false;
    History::Entry &read = history.entries.emplace_back();
    if (!json::fromJSON((*pair)[0], read.action, place.index(0)))
      return false;
    if ((*pair)[1].getAsNull())
      continue;
    std::optional<int64_t> number = (*pair)[1].getAsInteger();
    if (!number || *number < 0 ||
        *number >= static_cast<int64_t>(history.states.size())) {
      place.index(1).report("expected the number of a state");
      return false;
    }
    read.state = static_cast<unsigned>(*number);
  }
  return true;
}

} // namespace cwm
