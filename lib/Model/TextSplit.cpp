//===- TextSplit.cpp - Where a tokenizer cuts before it merges --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextSplit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cstdint>

using namespace llvm;

namespace {
struct CodePoint {
  uint32_t value;
  unsigned numBytes;
};
} // namespace

/// A byte that begins no code point of UTF-8.
static constexpr uint32_t invalidByte = ~0u;

/// The first code point of `text`, which is not empty. Bytes that are no UTF-8
/// count one by one. Lenient: overlong forms and surrogates pass.
static CodePoint decodeFirst(StringRef text) {
  auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80)
    return {first, 1};
  unsigned numBytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC0 || first >= 0xF8 || text.size() < numBytes)
    return {invalidByte, 1};
  uint32_t value = first & (0x7F >> numBytes);
  for (char c : text.slice(1, numBytes)) {
    auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80)
      return {invalidByte, 1};
    value = value << 6 | (byte & 0x3F);
  }
  return {value, numBytes};
}

static bool isAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

//===----------------------------------------------------------------------===//
// Phrases
//===----------------------------------------------------------------------===//

// Limits on the length of a piece, so that what the merges cost is bounded and
// no vocabulary learns a whole line. The pattern below repeats them.
static constexpr size_t maxNameDigits = 6;
static constexpr size_t maxDigits = 4;
static constexpr size_t maxForeign = 16;
static constexpr size_t maxLineEnds = 16;
static constexpr size_t maxPhrase = 48;

StringRef cwm::getPhrasePattern() {
  // ASCII classes only: what is no ASCII is one class, so no tables of Unicode
  // are needed. The last line is a phrase: `f32`, `i64`, `d0`, `s1` and the
  // digits behind an underscore belong to it, other digits end it.
  return "[%!#@^][0-9]{1,6}|[0-9]{1,4}|[\\x{80}-\\x{10FFFF}]{1,16}|"
         "[\\r\\n]{1,16}|"
         "(?:[dfis_][0-9]{1,4}|[%!#@^](?![0-9])|"
         "[^%!#@^0-9\\r\\n\\x{80}-\\x{10FFFF}]){1,48}";
}

static bool isSigil(char c) {
  return c == '%' || c == '!' || c == '#' || c == '@' || c == '^';
}

/// Whether digits behind `c` belong to its phrase.
static bool bindsDigits(char c) {
  return c == 'd' || c == 'f' || c == 'i' || c == 's' || c == '_';
}

static size_t countDigits(StringRef text, size_t limit) {
  return text.take_front(limit).take_while(isDigit).size();
}

static size_t countForeign(StringRef text) {
  size_t end = 0;
  for (size_t count = 0;
       count < maxForeign && end < text.size() && !isAscii(text[end]); ++count)
    end += decodeFirst(text.drop_front(end)).numBytes;
  return end;
}

static size_t countPhrase(StringRef text) {
  size_t end = 0;
  for (size_t count = 0; count < maxPhrase && end < text.size(); ++count) {
    char c = text[end];
    bool digitFollows = end + 1 < text.size() && isDigit(text[end + 1]);
    if (isDigit(c) || c == '\r' || c == '\n' || !isAscii(c) ||
        (isSigil(c) && digitFollows))
      break;
    ++end;
    if (digitFollows && bindsDigits(c))
      end += countDigits(text.drop_front(end), maxDigits);
  }
  return end;
}

StringRef cwm::takePhrase(StringRef text) {
  char first = text.front();
  size_t length = 0;
  if (isSigil(first) && text.size() > 1 && isDigit(text[1]))
    length = 1 + countDigits(text.drop_front(), maxNameDigits);
  else if (isDigit(first))
    length = countDigits(text, maxDigits);
  else if (!isAscii(first))
    length = countForeign(text);
  else if (first == '\r' || first == '\n')
    length = text.take_front(maxLineEnds)
                 .take_while([](char c) { return c == '\r' || c == '\n'; })
                 .size();
  else
    length = countPhrase(text);
  return text.take_front(length);
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

namespace {
enum class CharClass { Letter, Number, Space, Other };

struct Range {
  uint32_t first, last;
};
} // namespace

/// White space of Unicode above ASCII.
static constexpr Range spaceRanges[] = {
    {0x85, 0x85},     {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
    {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}};

/// Where the tables below are complete; everything else above ASCII counts as
/// letters: scripts that are rare in programs.
static constexpr Range knownBlocks[] = {
    {0x80, 0x58F},      // Latin, Greek, Cyrillic, Armenian
    {0x2000, 0x2BFF},   // punctuation, currency, arrows, mathematics, symbols
    {0x3000, 0x33FF},   // punctuation of East Asia, kana
    {0xFF00, 0xFFEF},   // full and half width
    {0x1F000, 0x1FAFF}, // emoji and other pictures
};

static constexpr Range letterRanges[] = {
    {0xAA, 0xAA},     {0xB5, 0xB5},     {0xBA, 0xBA},     {0xC0, 0xD6},
    {0xD8, 0xF6},     {0xF8, 0x2C1},    {0x2C6, 0x2D1},   {0x2E0, 0x2E4},
    {0x2EC, 0x2EC},   {0x2EE, 0x2EE},   {0x370, 0x374},   {0x376, 0x377},
    {0x37A, 0x37D},   {0x37F, 0x37F},   {0x386, 0x386},   {0x388, 0x38A},
    {0x38C, 0x38C},   {0x38E, 0x3A1},   {0x3A3, 0x3F5},   {0x3F7, 0x481},
    {0x48A, 0x52F},   {0x531, 0x556},   {0x559, 0x559},   {0x560, 0x588},
    {0x2071, 0x2071}, {0x207F, 0x207F}, {0x2090, 0x209C}, {0x2102, 0x2102},
    {0x2107, 0x2107}, {0x210A, 0x2113}, {0x2115, 0x2115}, {0x2119, 0x211D},
    {0x2124, 0x2124}, {0x2126, 0x2126}, {0x2128, 0x2128}, {0x212A, 0x212D},
    {0x212F, 0x2139}, {0x213C, 0x213F}, {0x2145, 0x2149}, {0x214E, 0x214E},
    {0x2183, 0x2184}, {0x3005, 0x3006}, {0x3031, 0x3035}, {0x303B, 0x303C},
    {0x3041, 0x3096}, {0x309D, 0x309F}, {0x30A1, 0x30FA}, {0x30FC, 0x30FF},
    {0x3105, 0x312F}, {0x3131, 0x318E}, {0x31A0, 0x31BF}, {0x31F0, 0x31FF},
    {0xFF21, 0xFF3A}, {0xFF41, 0xFF5A}, {0xFF66, 0xFFBE}, {0xFFC2, 0xFFC7},
    {0xFFCA, 0xFFCF}, {0xFFD2, 0xFFD7}, {0xFFDA, 0xFFDC},
};

static constexpr Range numberRanges[] = {
    {0xB2, 0xB3},     {0xB9, 0xB9},       {0xBC, 0xBE},       {0x2070, 0x2070},
    {0x2074, 0x2079}, {0x2080, 0x2089},   {0x2150, 0x2182},   {0x2185, 0x2189},
    {0x2460, 0x249B}, {0x24EA, 0x24FF},   {0x2776, 0x2793},   {0x3007, 0x3007},
    {0x3021, 0x3029}, {0x3038, 0x303A},   {0x3192, 0x3195},   {0x3220, 0x3229},
    {0x3248, 0x324F}, {0x3251, 0x325F},   {0x3280, 0x3289},   {0x32B1, 0x32BF},
    {0xFF10, 0xFF19}, {0x1D7CE, 0x1D7FF}, {0x1F100, 0x1F10C},
};

template <size_t size>
static bool contains(const Range (&ranges)[size], uint32_t value) {
  return any_of(ranges, [value](const Range &range) {
    return range.first <= value && value <= range.last;
  });
}

static CharClass classify(uint32_t value) {
  if (value < 0x80) {
    char c = static_cast<char>(value);
    return isAlpha(c)   ? CharClass::Letter
           : isDigit(c) ? CharClass::Number
           : isSpace(c) ? CharClass::Space
                        : CharClass::Other;
  }
  if (value == invalidByte)
    return CharClass::Other;
  if (contains(spaceRanges, value))
    return CharClass::Space;
  if (contains(numberRanges, value))
    return CharClass::Number;
  if (contains(knownBlocks, value) && !contains(letterRanges, value))
    return CharClass::Other;
  return CharClass::Letter;
}

/// Bytes of `text` up to the first code point of another class; `last` gets the
/// length of the last code point.
static size_t countClass(StringRef text, CharClass wanted,
                         unsigned *last = nullptr) {
  size_t end = 0;
  while (end < text.size()) {
    CodePoint point = decodeFirst(text.drop_front(end));
    if (classify(point.value) != wanted)
      break;
    end += point.numBytes;
    if (last)
      *last = point.numBytes;
  }
  return end;
}

static size_t countContraction(StringRef text) {
  for (StringRef ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(ending))
      return ending.size();
  return 0;
}

StringRef cwm::takeWord(StringRef text) {
  if (size_t length = countContraction(text))
    return text.take_front(length);
  size_t begin = text.size() > 1 && text.front() == ' ' ? 1 : 0;
  StringRef word = text.drop_front(begin);
  CharClass kind = classify(decodeFirst(word).value);
  if (kind != CharClass::Space)
    return text.take_front(begin + countClass(word, kind));
  // White space; the last of it goes with what follows.
  unsigned last = 0;
  size_t length = countClass(text, CharClass::Space, &last);
  if (length < text.size() && length > last)
    length -= last;
  return text.take_front(length);
}

size_t cwm::countSpaceAtStart(StringRef text) {
  return countClass(text, CharClass::Space);
}

size_t cwm::countSpaceAtEnd(StringRef text) {
  size_t begin = text.size();
  while (begin > 0) {
    // Back to where a code point begins.
    size_t start = begin - 1;
    while (start > 0 && begin - start < 4 &&
           (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80)
      --start;
    CodePoint point = decodeFirst(text.slice(start, begin));
    if (point.numBytes != begin - start ||
        classify(point.value) != CharClass::Space)
      break;
    begin = start;
  }
  return text.size() - begin;
}
