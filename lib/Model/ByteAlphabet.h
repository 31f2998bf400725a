//===- ByteAlphabet.h - Bytes as printable characters -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vocabularies of byte-level BPE spell each byte as one printable
// character: itself where it is one of Latin-1, else the next free one from
// U+0100 on (a space is U+0120).
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_MODEL_BYTEALPHABET_H
#define CWM_LIB_MODEL_BYTEALPHABET_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace cwm {

/// The character of a byte, in UTF-8.
std::string encodeByte(unsigned char byte);

/// The bytes of a token; nothing if it has a character that stands for none.
std::optional<std::string> decodeByteAlphabet(llvm::StringRef token);

} // namespace cwm

#endif // CWM_LIB_MODEL_BYTEALPHABET_H
