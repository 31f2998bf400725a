//===- Nesting.cpp - Text that recursive parsers can take ------- -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Support/Nesting.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

static cwm::TextPlace getPlace(StringRef text, size_t offset) {
  StringRef before = text.take_front(offset);
  return {static_cast<unsigned>(before.count('\n') + 1),
          static_cast<unsigned>(before.size() - (before.rfind('\n') + 1) + 1)};
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

Expected<json::Value> cwm::parseJSON(StringRef text) {
  unsigned levels = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted) {
      i += c == '\\';
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++levels > maxJSONLevels) {
        TextPlace place = getPlace(text, i);
        return createStringError("[" + Twine(place.line) + ":" +
                                 Twine(place.column) + ", byte=" + Twine(i) +
                                 "]: nested deeper than " +
                                 Twine(maxJSONLevels) + " levels");
      }
    } else if ((c == ']' || c == '}') && levels > 0) {
      --levels;
    }
  }
  return json::parse(text);
}

//===----------------------------------------------------------------------===//
// MLIR
//===----------------------------------------------------------------------===//

namespace {
/// Goes through MLIR text without understanding it.
class NestingScanner {
public:
  NestingScanner(StringRef text, unsigned maxLevels)
      : text(text), maxLevels(maxLevels) {}

  std::optional<size_t> findDeep();

private:
  struct Level {
    char opening;
    unsigned operators;
  };

  void scanToken();
  void scanAlias();
  void open(char c);
  void close(char opening);
  void addOperator();
  void endOperators();
  void endLine();
  /// There are `more` levels here beyond the open ones.
  void note(unsigned more);
  StringRef takeIdentifier();

  StringRef text;
  unsigned maxLevels;
  size_t position = 0;
  bool tooDeep = false;
  SmallVector<Level> levels;
  /// Operators of all levels.
  unsigned numOperators = 0;
  StringMap<unsigned> aliases;
  /// The alias that is being defined, and how deep it is so far.
  StringRef defined;
  unsigned definedDepth = 0;
};
} // namespace

static bool isIdentifierPart(char c) {
  return isAlnum(c) || c == '_' || c == '$' || c == '.';
}

StringRef NestingScanner::takeIdentifier() {
  size_t start = position;
  while (position < text.size() && isIdentifierPart(text[position]))
    ++position;
  return text.slice(start, position);
}

void NestingScanner::note(unsigned more) {
  unsigned depth = levels.size() + numOperators + more;
  definedDepth = std::max(definedDepth, depth);
  tooDeep |= depth > maxLevels;
}

void NestingScanner::open(char c) {
  levels.push_back({c, 0});
  note(0);
}

void NestingScanner::endOperators() {
  if (levels.empty())
    return;
  numOperators -= levels.back().operators;
  levels.back().operators = 0;
}

void NestingScanner::close(char opening) {
  auto pop = [&] {
    endOperators();
    levels.pop_back();
  };
  // Also the sign for "less" looks like a bracket.
  while (!levels.empty() && levels.back().opening == '<' && opening != '<')
    pop();
  if (!levels.empty() && levels.back().opening == opening)
    pop();
}

void NestingScanner::addOperator() {
  // Affine expressions are never directly in braces.
  if (levels.empty() || levels.back().opening == '{')
    return;
  ++levels.back().operators;
  ++numOperators;
  note(0);
}

/// A definition at the top level ends with its line.
void NestingScanner::endLine() {
  if (!levels.empty() || defined.empty())
    return;
  aliases[defined] = definedDepth + 1;
  defined = {};
}

/// `#name` or `!name`: a definition, a use, or the name of a dialect.
void NestingScanner::scanAlias() {
  size_t start = position++;
  while (position < text.size() &&
         (isIdentifierPart(text[position]) || text[position] == '-'))
    ++position;
  StringRef name = text.slice(start, position);
  if (levels.empty() && text.substr(position).ltrim(" \t").starts_with("=")) {
    endLine();
    defined = name;
    definedDepth = 0;
    return;
  }
  if (auto it = aliases.find(name); it != aliases.end())
    note(it->second);
}

void NestingScanner::scanToken() {
  char c = text[position];
  StringRef rest = text.substr(position);
  if (c == '"') {
    for (++position; position < text.size(); ++position) {
      if (text[position] == '\\')
        ++position;
      else if (text[position] == '"' || text[position] == '\n')
        break;
    }
    ++position;
    return;
  }
  if (rest.starts_with("//")) {
    position = std::min(text.find('\n', position), text.size());
    return;
  }
  if (c == '#' || c == '!')
    return scanAlias();
  if (isIdentifierPart(c)) {
    StringRef name = takeIdentifier();
    if (name == "floordiv" || name == "ceildiv" || name == "mod")
      addOperator();
    return;
  }
  // Arrows and comparisons; what follows `%`, `@` and `^` is an identifier, but
  // may have a '-' in it.
  if (rest.starts_with("->") || rest.starts_with("<=") ||
      (rest.starts_with(">=") &&
       (levels.empty() || levels.back().opening != '<'))) {
    endOperators();
    position += 2;
    return;
  }
  ++position;
  switch (c) {
  case '(':
  case '[':
  case '{':
  case '<':
    return open(c);
  case ')':
    return close('(');
  case ']':
    return close('[');
  case '}':
    return close('{');
  case '>':
    return close('<');
  case '+':
  case '-':
  case '*':
    return addOperator();
  case ',':
  case ':':
  case '=':
    return endOperators();
  case '\n':
    return endLine();
  default:
    return;
  }
}

std::optional<size_t> NestingScanner::findDeep() {
  while (position < text.size()) {
    size_t start = position;
    scanToken();
    if (tooDeep)
      return start;
  }
  return std::nullopt;
}

std::optional<cwm::TextPlace> cwm::findDeepNesting(StringRef text,
                                                   unsigned maxLevels) {
  std::optional<size_t> offset = NestingScanner(text, maxLevels).findDeep();
  if (!offset)
    return std::nullopt;
  return getPlace(text, *offset);
}

std::string cwm::describeNestingRule() {
  return "nested deeper than " + std::to_string(maxModuleLevels) +
         " levels: brackets, aliases of aliases and operators in a row count";
}
