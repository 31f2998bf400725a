//===- TokenWindows.h - Long texts as overlapping windows ----- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_TOKENWINDOWS_H
#define CWM_MODEL_TOKENWINDOWS_H

#include "cwm/Model/TorchTable.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace cwm {

/// A piece [begin, begin + length) of a text's tokens.
struct TokenWindow {
  int64_t begin = 0, length = 0;
  /// Share of the text that the window stands for: each of its tokens counts
  /// one over the number of windows that it lies in. The shares of a text's
  /// windows sum to 1.
  float weight = 1;
};

/// Cuts `numTokens` tokens into windows of at most `window` tokens, of which
/// two are left for <s> and </s>; a window begins `stride` tokens behind the
/// one before it, and no token is left out. A short text, also an empty one, is
/// one window. `window` is at least 3, `stride` at least 1.
std::vector<TokenWindow> cutWindows(int64_t numTokens, int64_t window,
                                    int64_t stride);

/// Owns what a CwmTokenBatch points to.
class TokenBatch {
public:
  /// Adds a window of `tokens`, the whole text, as a row: <s>, the tokens,
  /// </s>. It belongs to text `owner` of the batch.
  void add(llvm::ArrayRef<int32_t> tokens, const TokenWindow &window,
           int32_t owner, uint64_t rowSeed = 0);
  /// Rows so far.
  int64_t getNumRows() const { return static_cast<int64_t>(lengths.size()); }
  /// Tokens of the longest row, specials included.
  int64_t getNumColumns() const { return columns; }
  /// Texts of the batch: one more than the largest owner.
  int64_t getNumTexts() const { return texts; }
  /// A view; valid until the next add().
  CwmTokenBatch get();

private:
  std::vector<std::vector<int32_t>> rows;
  std::vector<int32_t> ids, lengths, owners;
  std::vector<float> weights;
  std::vector<uint64_t> seeds;
  int64_t columns = 0, texts = 0;
};

} // namespace cwm

#endif // CWM_MODEL_TOKENWINDOWS_H
