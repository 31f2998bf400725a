//===- TextSplit.h - Where a tokenizer cuts before it merges ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_MODEL_TEXTSPLIT_H
#define CWM_LIB_MODEL_TEXTSPLIT_H

#include "llvm/ADT/StringRef.h"

namespace cwm {

/// The regular expression that a tokenizer.json has for what takePhrase() does.
/// The Python side has the same (python/cwm/train_tokenizer.py); a tokenizer
/// with any other is refused.
llvm::StringRef getPhrasePattern();

/// The first piece of `text`, which is not empty, by the phrases of MLIR text:
/// SSA names and other numbered names, up to four digits, line ends, and what
/// stands between those, each of limited length.
llvm::StringRef takePhrase(llvm::StringRef text);

/// The first piece of `text`, which is not empty, by the rules of GPT-2 and
/// RoBERTa: words with the space before them, English contractions, numbers,
/// runs of other characters, white space. As long as the text makes it.
llvm::StringRef takeWord(llvm::StringRef text);

/// Takes the white space of Unicode off an end of `text`; returns how many
/// bytes that is.
size_t countSpaceAtStart(llvm::StringRef text);
size_t countSpaceAtEnd(llvm::StringRef text);

} // namespace cwm

#endif // CWM_LIB_MODEL_TEXTSPLIT_H
