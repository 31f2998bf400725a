//===- ActionTable.cpp - Actions of many candidates, fast -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Search/ActionTable.h"

#include "cwm/Support/ErrorCapture.h"

#include "mlir/Dialect/Transform/IR/TransformDialect.h"

using namespace mlir;

namespace cwm {

/// Scripts that differ in values only.
struct ActionTable::Structure {
  struct Entry {
    /// The knobs that the text depends on, ascending.
    std::vector<unsigned> knobs;
    /// Number of the action by the options of these knobs, as bytes.
    llvm::StringMap<uint32_t> byOptions;
  };
  std::vector<Entry> entries;
  bool isKnown = false;
  /// Known is that only a run tells the actions.
  bool isOpaque = false;
};

ActionTable::ActionTable(llvm::ArrayRef<std::unique_ptr<Space>> spaces)
    : spaces(spaces) {}
ActionTable::~ActionTable() = default;

static void append(llvm::SmallVectorImpl<char> &bytes, uint64_t value) {
  auto *begin = reinterpret_cast<const char *>(&value);
  bytes.append(begin, begin + sizeof(value));
}

static llvm::StringRef getBytes(llvm::ArrayRef<unsigned> knobs,
                                const Assignment &assignment,
                                llvm::SmallVectorImpl<char> &bytes) {
  bytes.clear();
  for (unsigned knob : knobs)
    append(bytes, assignment[knob]);
  return {bytes.data(), bytes.size()};
}

uint32_t ActionTable::getNumber(Action action) {
  auto [it, isNew] = numbers.try_emplace(action.text, actions.size());
  if (isNew)
    actions.push_back(std::move(action));
  return it->second;
}

/// Learns from one candidate's script.
llvm::Error ActionTable::bind(unsigned space, const Assignment &assignment,
                              Structure &structure) {
  ++numBound;
  KnobsOfOperations knobs;
  llvm::Expected<OwningOpRef<ModuleOp>> script =
      spaces[space]->tryBind(assignment, &knobs);
  if (!script)
    return script.takeError();
  ErrorCapture errors((*script)->getContext());
  std::vector<ActionReads> reads;
  FailureOr<std::vector<Action>> derived = getActions(
      **script, transform::TransformDialect::kTransformEntryPointSymbolName,
      /*allRegions=*/true, &reads);
  if (failed(derived)) {
    structure.isOpaque = true;
    return llvm::Error::success();
  }
  assert(reads.size() == derived->size() && "one list for each action");
  assert((!structure.isKnown || structure.entries.size() == derived->size()) &&
         "scripts of one structure have the same operations");
  structure.entries.resize(derived->size());
  llvm::SmallVector<char, 64> bytes;
  for (auto [entry, own, action] :
       llvm::zip_equal(structure.entries, reads, *derived)) {
    if (!structure.isKnown) {
      for (const ActionRead &read : own)
        if (read.how == ActionRead::How::Values)
          if (auto it = knobs.find(read.op); it != knobs.end())
            llvm::append_range(entry.knobs, it->second);
      llvm::sort(entry.knobs);
      entry.knobs.erase(llvm::unique(entry.knobs), entry.knobs.end());
    }
    entry.byOptions[getBytes(entry.knobs, assignment, bytes)] =
        getNumber(std::move(action));
  }
  structure.isKnown = true;
  return llvm::Error::success();
}

llvm::Expected<std::optional<std::vector<uint32_t>>>
ActionTable::derive(unsigned space, const Assignment &assignment) {
  llvm::SmallVector<char, 64> bytes;
  append(bytes, space);
  for (uint64_t value : spaces[space]->getStructure(assignment))
    append(bytes, value);
  std::unique_ptr<Structure> &structure =
      structures[llvm::StringRef(bytes.data(), bytes.size())];
  if (!structure)
    structure = std::make_unique<Structure>();

  std::vector<uint32_t> result;
  auto lookUp = [&] {
    result.clear();
    for (const Structure::Entry &entry : structure->entries) {
      auto it = entry.byOptions.find(getBytes(entry.knobs, assignment, bytes));
      if (it == entry.byOptions.end())
        return false;
      result.push_back(it->second);
    }
    return true;
  };
  if (structure->isOpaque)
    return std::nullopt;
  if (!structure->isKnown || !lookUp()) {
    if (llvm::Error error = bind(space, assignment, *structure))
      return std::move(error);
    if (structure->isOpaque)
      return std::nullopt;
    lookUp();
  }
  return std::move(result);
}

} // namespace cwm
