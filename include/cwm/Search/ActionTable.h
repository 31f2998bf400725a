//===- ActionTable.h - Actions of many candidates, fast ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SEARCH_ACTIONTABLE_H
#define CWM_SEARCH_ACTIONTABLE_H

#include "cwm/Space/Space.h"
#include "cwm/Trajectory/ActionText.h"

#include <deque>

namespace cwm {

/// The actions of candidates of several spaces, numbered. Binding a script and
/// printing its actions takes half a millisecond. But most candidates say again
/// what others said: an action's text follows from the script's structure and
/// the options of a few knobs. The table keeps, for each structure, which knobs
/// each action depends on, and binds a candidate only where one of its actions
/// has options that were not seen.
class ActionTable {
public:
  explicit ActionTable(llvm::ArrayRef<std::unique_ptr<Space>> spaces);
  ~ActionTable();
  ActionTable(const ActionTable &) = delete;
  ActionTable &operator=(const ActionTable &) = delete;

  /// Numbers of a candidate's actions: the result of getActions() with all
  /// regions. Nullopt where these are not known before the script runs. Fails
  /// where it cannot be bound; but a candidate whose actions all are known from
  /// others is not bound, and may fail later.
  llvm::Expected<std::optional<std::vector<uint32_t>>>
  derive(unsigned space, const Assignment &assignment);

  size_t size() const { return actions.size(); }
  /// Valid as long as the table.
  const Action &get(uint32_t action) const { return actions[action]; }
  /// How many candidates had to be bound.
  size_t getNumBound() const { return numBound; }

private:
  struct Structure;
  llvm::Error bind(unsigned space, const Assignment &assignment,
                   Structure &structure);
  uint32_t getNumber(Action action);

  llvm::ArrayRef<std::unique_ptr<Space>> spaces;
  std::deque<Action> actions;
  llvm::StringMap<uint32_t> numbers; ///< of texts
  /// By space and Space::getStructure, as bytes.
  llvm::StringMap<std::unique_ptr<Structure>> structures;
  size_t numBound = 0;
};

} // namespace cwm

#endif // CWM_SEARCH_ACTIONTABLE_H
