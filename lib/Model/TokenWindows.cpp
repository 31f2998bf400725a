//===- TokenWindows.cpp - Long texts as overlapping windows --- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/TokenWindows.h"

#include "cwm/Model/Tokenizer.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>

using namespace llvm;

namespace cwm {

std::vector<TokenWindow> cutWindows(int64_t numTokens, int64_t window,
                                    int64_t stride) {
  assert(window >= 3 && stride >= 1 && "a window holds specials and a token");
  const int64_t size = window - 2;
  stride = std::min(stride, size);
  if (numTokens <= size)
    return {{0, numTokens, 1}};
  std::vector<TokenWindow> windows;
  for (int64_t begin = 0;; begin += stride) {
    windows.push_back({begin, std::min(size, numTokens - begin), 0});
    if (begin + size >= numTokens)
      break;
  }
  std::vector<int64_t> cover(numTokens, 0);
  for (const TokenWindow &each : windows)
    for (int64_t i = 0; i < each.length; ++i)
      ++cover[each.begin + i];
  for (TokenWindow &each : windows) {
    double share = 0;
    for (int64_t i = 0; i < each.length; ++i)
      share += 1.0 / static_cast<double>(cover[each.begin + i]);
    each.weight = static_cast<float>(share / static_cast<double>(numTokens));
  }
  return windows;
}

void TokenBatch::add(ArrayRef<int32_t> tokens, const TokenWindow &window,
                     int32_t owner, uint64_t rowSeed) {
  std::vector<int32_t> row = {Tokenizer::startId};
  ArrayRef<int32_t> piece = tokens.slice(window.begin, window.length);
  row.insert(row.end(), piece.begin(), piece.end());
  row.push_back(Tokenizer::endId);
  columns = std::max(columns, static_cast<int64_t>(row.size()));
  texts = std::max(texts, static_cast<int64_t>(owner) + 1);
  lengths.push_back(static_cast<int32_t>(row.size()));
  owners.push_back(owner);
  weights.push_back(window.weight);
  seeds.push_back(rowSeed);
  rows.push_back(std::move(row));
}

CwmTokenBatch TokenBatch::get() {
  ids.assign(rows.size() * columns, 0);
  auto target = ids.begin();
  for (const std::vector<int32_t> &row : rows) {
    llvm::copy(row, target);
    target += columns;
  }
  return {getNumRows(),  columns,       ids.data(),     lengths.data(),
          getNumTexts(), owners.data(), weights.data(), seeds.data()};
}

} // namespace cwm
