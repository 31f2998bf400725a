//===- Tokenizer.cpp - Byte-level BPE ---------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/Tokenizer.h"

#include "TextSplit.h"

#include "cwm/Support/ReadFile.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <queue>
#include <tuple>

using namespace llvm;

namespace cwm {

/// One call of encode(). Texts repeat their words, so each is merged once.
class Tokenizer::Encoder {
public:
  explicit Encoder(const Tokenizer &tokenizer) : tokenizer(tokenizer) {}

  /// Looks for added tokens and encodes what is between them.
  void addText(StringRef text, bool normalizedTokens);
  std::vector<int32_t> takeIds() { return std::move(ids); }

private:
  void addBetween(StringRef text, bool normalizedTokens);
  void addWord(StringRef word);
  void merge(StringRef word);

  const Tokenizer &tokenizer;
  std::vector<int32_t> ids;
  /// Where in `ids` a word was written before: begin and count.
  DenseMap<StringRef, std::pair<size_t, size_t>> known;
};

/// Finds added tokens in a text from left to right.
class Tokenizer::TokenFinder {
public:
  TokenFinder(const Tokenizer &tokenizer, StringRef text, bool normalized)
      : text(text) {
    for (const AddedToken &token : tokenizer.addedTokens)
      if (token.isNormalized == normalized)
        places.push_back({&token, text.find(token.content)});
  }

  /// The leftmost token that begins at `from` or behind, the longest of several
  /// at one place; null at the end.
  std::pair<const AddedToken *, size_t> findNext(size_t from) {
    std::pair<const AddedToken *, size_t> best(nullptr, StringRef::npos);
    for (auto &[token, place] : places) {
      // Each token is looked for once in each part of the text.
      if (place < from)
        place = text.find(token->content, from);
      if (place < best.second) // tokens come longest first
        best = {token, place};
    }
    return best;
  }

private:
  StringRef text;
  SmallVector<std::pair<const AddedToken *, size_t>> places;
};

void Tokenizer::Encoder::addBetween(StringRef text, bool normalizedTokens) {
  if (text.empty())
    return;
  if (!normalizedTokens)
    return addText(text, /*normalizedTokens=*/true);
  while (!text.empty()) {
    StringRef word =
        tokenizer.split == Split::Phrases ? takePhrase(text) : takeWord(text);
    addWord(word);
    text = text.drop_front(word.size());
  }
}

void Tokenizer::Encoder::addText(StringRef text, bool normalizedTokens) {
  TokenFinder finder(tokenizer, text, normalizedTokens);
  size_t done = 0, from = 0;
  while (true) {
    auto [token, place] = finder.findNext(from);
    if (!token)
      break;
    from = place + token->content.size();
    size_t begin = place, end = from;
    if (token->stripLeft && begin > done)
      begin -= countSpaceAtEnd(text.slice(done, begin));
    if (token->stripRight)
      end += countSpaceAtStart(text.drop_front(end));
    if (begin > done)
      addBetween(text.slice(done, begin), normalizedTokens);
    ids.push_back(token->id);
    done = end;
  }
  addBetween(text.drop_front(done), normalizedTokens);
}

void Tokenizer::Encoder::addWord(StringRef word) {
  if (word.size() == 1) {
    ids.push_back(tokenizer.byteIds[static_cast<unsigned char>(word[0])]);
    return;
  }
  auto [it, isNew] = known.try_emplace(word);
  if (!isNew) {
    auto [begin, count] = it->second;
    size_t end = ids.size();
    ids.resize(end + count);
    std::copy_n(ids.data() + begin, count, ids.data() + end);
    return;
  }
  size_t begin = ids.size();
  merge(word);
  it->second = {begin, ids.size() - begin};
}

/// Joins neighbours, the pair of the lowest rank first and of equals the
/// leftmost, until no pair is known.
void Tokenizer::Encoder::merge(StringRef word) {
  // A list within an array: what was joined to its left neighbour is dead.
  struct Symbol {
    int32_t id;
    uint32_t previous, next;
    bool isDead = false;
  };
  struct Candidate {
    uint32_t rank, left;
    int32_t id;
    bool operator>(const Candidate &other) const {
      return std::tie(rank, left) > std::tie(other.rank, other.left);
    }
  };
  constexpr uint32_t none = ~0u;
  SmallVector<Symbol, 64> symbols;
  std::priority_queue<Candidate, SmallVector<Candidate, 64>, std::greater<>>
      queue;
  auto consider = [&](uint32_t left) {
    if (left == none || symbols[left].next == none)
      return;
    auto it = tokenizer.merges.find(
        {symbols[left].id, symbols[symbols[left].next].id});
    if (it != tokenizer.merges.end())
      queue.push({it->second.rank, left, it->second.id});
  };
  for (auto [index, c] : enumerate(word)) {
    auto place = static_cast<uint32_t>(index);
    symbols.push_back({tokenizer.byteIds[static_cast<unsigned char>(c)],
                       place == 0 ? none : place - 1,
                       place + 1 == word.size() ? none : place + 1});
  }
  for (uint32_t place = 0; place + 1 < symbols.size(); ++place)
    consider(place);
  while (!queue.empty()) {
    Candidate best = queue.top();
    queue.pop();
    Symbol &left = symbols[best.left];
    if (left.isDead || left.next == none)
      continue;
    Symbol &right = symbols[left.next];
    // What was queued may have been joined to something else since.
    auto it = tokenizer.merges.find({left.id, right.id});
    if (it == tokenizer.merges.end() || it->second.rank != best.rank)
      continue;
    left.id = best.id;
    right.isDead = true;
    left.next = right.next;
    if (left.next != none)
      symbols[left.next].previous = best.left;
    consider(left.previous);
    consider(best.left);
  }
  for (const Symbol &symbol : symbols)
    if (!symbol.isDead)
      ids.push_back(symbol.id);
}

std::vector<int32_t> Tokenizer::encode(StringRef text) const {
  Encoder encoder(*this);
  encoder.addText(text, /*normalizedTokens=*/false);
  return encoder.takeIds();
}

std::string Tokenizer::decode(ArrayRef<int32_t> ids) const {
  std::string text;
  for (int32_t id : ids)
    if (id >= 0 && static_cast<size_t>(id) < pieces.size())
      text += pieces[id];
  return text;
}

std::optional<int32_t> Tokenizer::getId(StringRef token) const {
  auto it = ids.find(token);
  if (it == ids.end())
    return std::nullopt;
  return it->second;
}

Expected<Tokenizer> Tokenizer::load(StringRef path) {
  // A vocabulary of 250,000 tokens with its merges has some 20 MB.
  constexpr uint64_t maxBytes = uint64_t(256) << 20;
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readOwnFile(path, maxBytes);
  if (!buffer)
    return buffer.takeError(); // names the path
  Expected<Tokenizer> tokenizer = parse((*buffer)->getBuffer());
  if (!tokenizer)
    return createStringError("cannot read tokenizer '" + path +
                             "': " + toString(tokenizer.takeError()));
  return tokenizer;
}

} // namespace cwm
