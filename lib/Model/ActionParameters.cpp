//===- ActionParameters.cpp - Numbers and words of an action text ---------===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ActionParameters.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace cwm {

static bool isWordCharacter(char c) {
  return isAlnum(c) || c == '_' || c == '.' || c == '-' || c == '$';
}

/// The part of `text` up to the first space outside of brackets and quotes.
static StringRef takeValue(StringRef text) {
  unsigned depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
      continue;
    }
    if (c == '"')
      quoted = true;
    else if (StringRef("([{<").contains(c))
      ++depth;
    else if (c == '>' && i > 0 && text[i - 1] == '-')
      continue; // the arrow of a map
    else if (StringRef(")]}>").contains(c))
      depth -= depth > 0;
    else if (c == ' ' && depth == 0)
      return text.take_front(i);
  }
  return text;
}

/// Collects the integers of `parameter.value` and looks at the rest: types and
/// punctuation of arrays say nothing.
static void scanValue(ActionParameter &parameter) {
  StringRef value = parameter.value;
  while (!value.empty()) {
    if (value.front() == '"') {
      parameter.isCategory = true;
      return;
    }
    if (!isWordCharacter(value.front())) {
      parameter.isCategory |= value.starts_with("->");
      value = value.drop_front();
      continue;
    }
    StringRef word = value.take_while(isWordCharacter);
    value = value.drop_front(word.size());
    int64_t number;
    bool isType = word == "array" || word == "index" ||
                  (word.front() == 'i' && all_of(word.drop_front(), isDigit));
    if (!word.getAsInteger(10, number))
      parameter.numbers.push_back(number);
    else if (!isType)
      parameter.isCategory = true;
  }
}

void visitParameters(StringRef text,
                     function_ref<void(const ActionParameter &)> visit) {
  while (!text.empty()) {
    StringRef word = text.take_while(isWordCharacter);
    if (word.empty()) {
      // Something bracketed that is no value of a key.
      StringRef skipped = takeValue(text);
      text = text.drop_front(std::max<size_t>(skipped.size(), 1));
      continue;
    }
    text = text.drop_front(word.size());
    StringRef rest = text.ltrim(' ');
    if (!rest.consume_front("=") || rest.starts_with("="))
      continue;
    rest = rest.ltrim(' ');
    ActionParameter parameter;
    parameter.key = word;
    parameter.value = takeValue(rest);
    scanValue(parameter);
    visit(parameter);
    text = rest.drop_front(parameter.value.size());
  }
}

} // namespace cwm
