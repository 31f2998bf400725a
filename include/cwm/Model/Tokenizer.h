//===- Tokenizer.h - Byte-level BPE -----------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_TOKENIZER_H
#define CWM_MODEL_TOKENIZER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cwm {

/// Turns text into the numbers that an encoder reads: byte-level BPE, as
/// described by a `tokenizer.json` of Hugging Face's `tokenizers`. Two ways of
/// splitting text before the merges are known, and files with another are
/// refused: the phrases of MLIR text (docs/Model.md), which
/// python/cwm/train_tokenizer.py writes, and the words of GPT-2 and RoBERTa.
///
/// Any bytes can be encoded; on valid UTF-8 the result is that of `tokenizers`
/// (with `add_special_tokens=False`), but for letters of rare scripts with the
/// split of GPT-2 (docs/Model.md).
class Tokenizer {
public:
  /// Special tokens and their ids in vocabularies that we train, which are
  /// those of RoBERTa.
  static constexpr int32_t startId = 0;   ///< <s>
  static constexpr int32_t padId = 1;     ///< <pad>
  static constexpr int32_t endId = 2;     ///< </s>
  static constexpr int32_t unknownId = 3; ///< <unk>
  static constexpr int32_t maskId = 4;    ///< <mask>

  /// Reads a `tokenizer.json`. Errors are one line that names it.
  static llvm::Expected<Tokenizer> load(llvm::StringRef path);
  /// The same from the text of the file; errors do not name it.
  static llvm::Expected<Tokenizer> parse(llvm::StringRef json);

  /// The ids of `text`. Special tokens that occur in the text become their
  /// ids; none are added around it. Time is linear in the text but for a
  /// logarithm of the longest word.
  std::vector<int32_t> encode(llvm::StringRef text) const;

  /// The bytes that `ids` stand for: decode(encode(text)) == text (but for
  /// white space that a special token took in). Ids outside of the vocabulary
  /// stand for nothing.
  std::string decode(llvm::ArrayRef<int32_t> ids) const;

  /// Ids are 0 to this, exclusive.
  size_t getVocabularySize() const { return pieces.size(); }

  /// The id of a token as the file spells it (`<s>`, or with `Ġ` for a space).
  std::optional<int32_t> getId(llvm::StringRef token) const;

private:
  enum class Split { Phrases, Words };
  /// A token that is looked for before the text is split.
  struct AddedToken {
    std::string content;
    int32_t id;
    bool stripLeft, stripRight;
    /// Looked for after the others, in what they left.
    bool isNormalized;
  };
  struct Merge {
    uint32_t rank;
    int32_t id;
  };
  /// What one call of encode() has met before: ids of words.
  class Encoder;
  class TokenFinder;
  class Parser;

  Split split = Split::Phrases;
  llvm::StringMap<int32_t> ids;
  /// The bytes of each id.
  std::vector<std::string> pieces;
  /// Longest first.
  std::vector<AddedToken> addedTokens;
  std::array<int32_t, 256> byteIds = {};
  llvm::DenseMap<std::pair<int32_t, int32_t>, Merge> merges;
};

/// The text of a `tokenizer.json` from the two files that older models come
/// with: `vocab.json` and `merges.txt` of GPT-2, RoBERTa and CodeBERT. Of the
/// vocabulary, `<s>`, `<pad>`, `</s>`, `<unk>`, `<mask>` and `<|endoftext|>`
/// become special tokens. Errors are one line that names the file.
llvm::Expected<std::string> importTokenizer(llvm::StringRef vocabularyPath,
                                            llvm::StringRef mergesPath);

} // namespace cwm

#endif // CWM_MODEL_TOKENIZER_H
