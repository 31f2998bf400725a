//===- Space.cpp - The candidates of one parametric schedule ------*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceImpl.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace cwm;

uint64_t cwm::uniformBelow(RandomEngine &engine, uint64_t bound) {
  assert(bound > 0 && "nothing is below zero");
  // The topmost incomplete run of `bound` numbers is rejected.
  uint64_t limit = UINT64_MAX - (UINT64_MAX % bound + 1) % bound;
  uint64_t value = engine();
  while (value > limit)
    value = engine();
  return value % bound;
}

Space::Space() = default;
Space::~Space() = default;

MLIRContext *Space::getContext() const { return impl->schedule->getContext(); }

FailureOr<std::unique_ptr<Space>>
Space::create(OwningOpRef<ModuleOp> schedule, StringRef name,
              const llvm::StringMap<ArrayAttr> &options,
              const llvm::StringMap<uint64_t> &defaults) {
  std::unique_ptr<Space> space(new Space());
  space->name = name.str();
  space->impl = std::make_unique<Impl>();
  space->impl->schedule = std::move(schedule);
  if (failed(collectSpace(name, space->knobs, *space->impl, options, defaults)))
    return failure();
  space->impl->computeValues(space->knobs);
  space->impl->findStructure(space->knobs.size());
  std::vector<unsigned> &order = space->impl->keyOrder;
  for (unsigned knob = 0; knob < space->knobs.size(); ++knob)
    if (space->knobs[knob].getNumOptions() > 1)
      order.push_back(knob);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return space->knobs[a].name < space->knobs[b].name;
  });
  return space;
}

bool Space::isLive(const Assignment &assignment, unsigned knob) const {
  const Knob &candidate = knobs[knob];
  return candidate.liveWhen.empty() || holds(candidate.liveWhen, assignment);
}

Assignment Space::getCanonical(Assignment assignment) const {
  for (unsigned knob = 0; knob < knobs.size(); ++knob)
    if (!isLive(assignment, knob))
      assignment[knob] = knobs[knob].defaultIndex;
  return assignment;
}

bool Space::satisfies(const Assignment &assignment,
                      std::string *violated) const {
  for (const Constraint &constraint : impl->constraints) {
    if (!holds(constraint.guard, assignment))
      continue;
    std::optional<int64_t> fast = constraint.program.evaluatePoint(
        [&](unsigned knob) { return impl->getValue(knob, assignment[knob]); });
    // An undefined value, such as a division by zero, satisfies nothing.
    if (fast ? *fast != 0
             : constraint.program
                   .evaluate([&](unsigned knob) {
                     return impl->getPoint(knob, assignment[knob]);
                   })
                   .isTrue())
      continue;
    if (!violated)
      return false;
    violated->clear();
    llvm::raw_string_ostream os(*violated);
    os << impl->describe(constraint, knobs) << " does not hold for ";
    llvm::interleaveComma(constraint.program.getKnobs(), os,
                          [&](unsigned knob) {
                            os << knobs[knob].name << " = "
                               << knobs[knob].getOptionText(assignment[knob]);
                          });
    return false;
  }
  return true;
}

std::string Space::Impl::describe(const Constraint &constraint,
                                  ArrayRef<Knob> knobs) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "constraint '" << exprs.print(constraint.root, knobs) << "'";
  if (auto place = constraint.location->findInstanceOf<FileLineColLoc>())
    os << " at " << place.getFilename().getValue() << ":" << place.getLine()
       << ":" << place.getColumn();
  else if (!isa<UnknownLoc>(constraint.location))
    os << " at " << constraint.location;
  return text;
}

void Space::Impl::computeValues(ArrayRef<Knob> knobs) {
  for (const Knob &knob : knobs) {
    std::vector<int64_t> &own = values.emplace_back();
    Interval &hull = hulls.emplace_back();
    if (!knob.list) {
      ranges.push_back(std::make_pair(knob.lower, knob.step));
      hull = {knob.lower, *knob.getInteger(knob.getNumOptions() - 1), false};
      continue;
    }
    ranges.push_back(std::nullopt);
    for (uint64_t option = 0; option < knob.getNumOptions(); ++option)
      own.push_back(knob.getInteger(option).value_or(0));
    hull = {*llvm::min_element(own), *llvm::max_element(own), false};
  }
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

std::string Space::getKey(const Assignment &assignment) const {
  std::string key = name + "{";
  bool first = true;
  for (unsigned knob : impl->keyOrder) {
    if (!isLive(assignment, knob))
      continue;
    if (!first)
      key += ",";
    first = false;
    key += knobs[knob].name;
    key += "=";
    key += knobs[knob].getOptionText(assignment[knob]);
  }
  return key + "}";
}

/// Splits `name=value,...` at the commas outside of brackets and quotes.
/// False when an entry has no '='.
static bool splitEntries(StringRef text,
                         SmallVectorImpl<std::pair<StringRef, StringRef>> &out,
                         StringRef &wrong) {
  while (!text.empty()) {
    int depth = 0;
    bool quoted = false;
    size_t end = 0;
    for (; end < text.size(); ++end) {
      char c = text[end];
      if (c == '\\' && quoted)
        ++end;
      else if (c == '"')
        quoted = !quoted;
      else if (!quoted && StringRef("[{(<").contains(c))
        ++depth;
      else if (!quoted && StringRef("]})>").contains(c))
        --depth;
      else if (!quoted && depth <= 0 && c == ',')
        break;
    }
    StringRef entry = text.substr(0, end);
    if (!entry.contains('=')) {
      wrong = entry;
      return false;
    }
    out.push_back(entry.split('='));
    text = text.substr(std::min(end + 1, text.size()));
  }
  return true;
}

std::optional<Assignment> Space::parseKey(StringRef key) const {
  if (!key.consume_front(name) || !key.consume_front("{") ||
      !key.consume_back("}"))
    return std::nullopt;
  SmallVector<std::pair<StringRef, StringRef>> entries;
  StringRef wrong;
  if (!splitEntries(key, entries, wrong))
    return std::nullopt;
  Assignment assignment;
  for (const Knob &knob : knobs)
    assignment.push_back(knob.defaultIndex);
  for (auto [knobName, value] : entries) {
    auto it = impl->knobIndex.find(knobName);
    if (it == impl->knobIndex.end())
      return std::nullopt;
    std::optional<uint64_t> option = knobs[it->second].findOption(value);
    if (!option)
      return std::nullopt;
    assignment[it->second] = *option;
  }
  // Foreign unless it is the very key of what was read: neither a live knob
  // may be missing nor a dead one present.
  if (getKey(assignment) != name + "{" + key.str() + "}")
    return std::nullopt;
  return assignment;
}

std::optional<Assignment> Space::parseAssignment(StringRef text,
                                                 std::string &error) const {
  if (text.starts_with(name + "{")) {
    std::optional<Assignment> assignment = parseKey(text);
    if (!assignment)
      error = "'" + text.str() + "' is not the key of a candidate";
    return assignment;
  }
  SmallVector<std::pair<StringRef, StringRef>> entries;
  StringRef wrong;
  if (!splitEntries(text, entries, wrong)) {
    error = "expected KNOB=VALUE, got '" + wrong.str() + "'";
    return std::nullopt;
  }
  Assignment assignment;
  for (const Knob &knob : knobs)
    assignment.push_back(knob.defaultIndex);
  llvm::StringSet<> seen;
  for (auto [knobName, value] : entries) {
    auto it = impl->knobIndex.find(knobName);
    if (it == impl->knobIndex.end()) {
      error = "the schedule has no knob \"" + knobName.str() + "\"";
      return std::nullopt;
    }
    if (!seen.insert(knobName).second) {
      error = "knob \"" + knobName.str() + "\" is given twice";
      return std::nullopt;
    }
    const Knob &knob = knobs[it->second];
    std::optional<uint64_t> option = knob.findOption(value);
    if (!option) {
      error = "'" + value.str() + "' is not an option of knob \"" + knob.name +
              "\"";
      return std::nullopt;
    }
    assignment[it->second] = *option;
  }
  return assignment;
}
