//===- ByteAlphabet.cpp - Bytes as printable characters ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ByteAlphabet.h"

#include <array>

using namespace llvm;

/// Printable in Latin-1: no control character, no space, no soft hyphen.
static constexpr bool isPrintable(unsigned byte) {
  return (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
}

/// The first code point that no byte is printable as.
static constexpr size_t firstFree = 0x100;

namespace {
struct Alphabet {
  std::array<unsigned, 256> characters = {};
  /// Bytes by character, from 0 to 0x143.
  std::array<int, 2 * firstFree> bytes = {};

  Alphabet() {
    bytes.fill(-1);
    auto next = static_cast<unsigned>(firstFree);
    for (unsigned byte = 0; byte < 256; ++byte) {
      characters[byte] = isPrintable(byte) ? byte : next++;
      bytes[characters[byte]] = static_cast<int>(byte);
    }
  }
};
} // namespace

static const Alphabet &getAlphabet() {
  static const Alphabet alphabet;
  return alphabet;
}

std::string cwm::encodeByte(unsigned char byte) {
  unsigned character = getAlphabet().characters[byte];
  if (character < 0x80)
    return {static_cast<char>(character)};
  return {static_cast<char>(0xC0 | character >> 6),
          static_cast<char>(0x80 | (character & 0x3F))};
}

std::optional<std::string> cwm::decodeByteAlphabet(StringRef token) {
  std::string bytes;
  for (size_t i = 0; i < token.size(); ++i) {
    unsigned character = static_cast<unsigned char>(token[i]);
    if (character >= 0x80) {
      // Two bytes are enough for all of them.
      if ((character & 0xE0) != 0xC0 || i + 1 == token.size())
        return std::nullopt;
      character = (character & 0x1F) << 6 |
                  (static_cast<unsigned char>(token[++i]) & 0x3F);
    }
    if (character >= getAlphabet().bytes.size() ||
        getAlphabet().bytes[character] < 0)
      return std::nullopt;
    bytes += static_cast<char>(getAlphabet().bytes[character]);
  }
  return bytes;
}
