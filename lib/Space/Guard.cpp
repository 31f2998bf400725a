//===- Guard.cpp - Conditions under which a knob matters --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceImpl.h"

using namespace mlir;
using namespace cwm;

std::optional<Guard> cwm::conjoin(const Guard &guard, unsigned knob,
                                  uint64_t option) {
  Guard result = guard;
  auto it = llvm::lower_bound(result, std::make_pair(knob, uint64_t(0)));
  if (it != result.end() && it->first == knob) {
    if (it->second != option)
      return std::nullopt;
    return result;
  }
  result.insert(it, {knob, option});
  return result;
}

std::optional<Guard> cwm::conjoin(const Guard &a, const Guard &b) {
  std::optional<Guard> result = a;
  for (auto [knob, option] : b)
    if (result)
      result = conjoin(*result, knob, option);
  return result;
}

void cwm::addGuard(GuardSet &set, const Guard &guard) {
  auto implies = [](const Guard &strong, const Guard &weak) {
    return llvm::includes(strong, weak);
  };
  for (const Guard &known : set)
    if (implies(guard, known))
      return;
  llvm::erase_if(set,
                 [&](const Guard &known) { return implies(known, guard); });
  set.push_back(guard);
}

bool cwm::holds(const Guard &guard, const Assignment &assignment) {
  return llvm::all_of(guard, [&](const auto &condition) {
    return assignment[condition.first] == condition.second;
  });
}

bool cwm::holds(const GuardSet &set, const Assignment &assignment) {
  return llvm::any_of(
      set, [&](const Guard &guard) { return holds(guard, assignment); });
}
