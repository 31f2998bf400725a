//===- TokenizerParser.cpp - Reading tokenizer.json -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ByteAlphabet.h"
#include "TextSplit.h"

#include "cwm/Model/Tokenizer.h"
#include "cwm/Support/Nesting.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cwm {

/// Fills a tokenizer from JSON. What changes the ids and is not known is an
/// error; what only concerns texts as a whole (templates, truncation, padding)
/// or decoding is skipped.
class Tokenizer::Parser {
public:
  explicit Parser(Tokenizer &tokenizer) : tokenizer(tokenizer) {}

  Error parse(const json::Object &root);

private:
  Error parseSplit(const json::Value *value);
  Error parseModelOptions(const json::Object &model);
  Error parseVocabulary(const json::Object &model);
  Error parseAddedTokens(const json::Value *value);
  Error parseAddedToken(const json::Object &entry);
  Error checkIds();
  Error setByteIds();
  Error parseMerges(const json::Object &model);

  Tokenizer &tokenizer;
  /// The token of each id seen so far.
  std::vector<std::optional<std::string>> tokens;

  Error setToken(StringRef token, int64_t id);
};

/// No vocabulary is larger; an id above this is a mistake.
static constexpr int64_t maxVocabularySize = 1 << 24;

/// "'text'", cut where it is long.
static std::string quote(StringRef text) {
  constexpr size_t maxLength = 60;
  return "'" + text.take_front(maxLength).str() +
         (text.size() > maxLength ? "...'" : "'");
}

static bool isNull(const json::Value *value) {
  return !value || value->kind() == json::Value::Null;
}

/// Whether `object` has `key` with something else than null, false, "" or 0.
static bool isSet(const json::Object &object, StringRef key) {
  const json::Value *value = object.get(key);
  if (isNull(value))
    return false;
  if (auto flag = value->getAsBoolean())
    return *flag;
  if (auto text = value->getAsString())
    return !text->empty();
  if (auto number = value->getAsNumber())
    return *number != 0;
  return true;
}

Error Tokenizer::Parser::setToken(StringRef token, int64_t id) {
  if (id < 0 || id >= maxVocabularySize)
    return createStringError("the id of token " + quote(token) + " is " +
                             std::to_string(id) + ", expected 0 to " +
                             std::to_string(maxVocabularySize - 1));
  auto index = static_cast<size_t>(id);
  if (index >= tokens.size())
    tokens.resize(index + 1);
  std::optional<std::string> &place = tokens[index];
  if (place && *place != token)
    return createStringError("tokens " + quote(*place) + " and " +
                             quote(token) + " have the same id " +
                             std::to_string(id));
  auto [it, isNew] = tokenizer.ids.try_emplace(token, static_cast<int32_t>(id));
  if (!isNew && it->second != id)
    return createStringError("token " + quote(token) + " has two ids, " +
                             std::to_string(it->second) + " and " +
                             std::to_string(id));
  place = token.str();
  return Error::success();
}

/// Whether `value` is a pre-tokenizer "ByteLevel" that adds no space; `words`
/// gets whether it splits.
static bool isByteLevel(const json::Value *value, bool &words) {
  const json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object || object->getString("type") != "ByteLevel" ||
      object->getBoolean("add_prefix_space").value_or(true))
    return false;
  words = object->getBoolean("use_regex").value_or(true);
  return true;
}

/// Whether `value` is the pre-tokenizer that cuts phrases.
static bool isPhraseSplit(const json::Value *value) {
  const json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object || object->getString("type") != "Split" ||
      object->getString("behavior") != "Isolated" ||
      object->getBoolean("invert").value_or(false))
    return false;
  const json::Object *pattern = object->getObject("pattern");
  return pattern && pattern->getString("Regex") == getPhrasePattern();
}

Error Tokenizer::Parser::parseSplit(const json::Value *value) {
  bool words = false;
  if (isByteLevel(value, words) && words) {
    tokenizer.split = Split::Words;
    return Error::success();
  }
  const json::Object *object = value ? value->getAsObject() : nullptr;
  const json::Array *parts = object && object->getString("type") == "Sequence"
                                 ? object->getArray("pretokenizers")
                                 : nullptr;
  if (parts && parts->size() == 2 && isPhraseSplit(&(*parts)[0]) &&
      isByteLevel(&(*parts)[1], words) && !words) {
    tokenizer.split = Split::Phrases;
    return Error::success();
  }
  std::string found = value ? formatv("{0}", *value).str() : "null";
  return createStringError(
      "its pre_tokenizer is unknown: " + quote(found) +
      ", expected the split into phrases of cwm's train_tokenizer.py, or "
      "ByteLevel with use_regex and without add_prefix_space");
}

Error Tokenizer::Parser::parseModelOptions(const json::Object &model) {
  if (const json::Value *type = model.get("type"))
    if (type->getAsString() != "BPE")
      return createStringError("its model is " +
                               quote(formatv("{0}", *type).str()) +
                               ", expected \"BPE\"");
  for (StringRef option :
       {"dropout", "continuing_subword_prefix", "end_of_word_suffix",
        "byte_fallback", "ignore_merges"})
    if (isSet(model, option))
      return createStringError("its model has the option '" + option +
                               "', which is not supported");
  return Error::success();
}

Error Tokenizer::Parser::parseVocabulary(const json::Object &model) {
  const json::Object *vocabulary = model.getObject("vocab");
  if (!vocabulary)
    return createStringError("'model.vocab' is missing or no object");
  for (const auto &[token, value] : *vocabulary) {
    std::optional<int64_t> id = value.getAsInteger();
    if (!id)
      return createStringError("the id of token " + quote(token) +
                               " is not an integer");
    if (Error error = setToken(token, *id))
      return error;
  }
  return Error::success();
}

Error Tokenizer::Parser::parseAddedToken(const json::Object &entry) {
  std::optional<StringRef> content = entry.getString("content");
  std::optional<int64_t> id = entry.getInteger("id");
  if (!content || content->empty() || !id)
    return createStringError("an entry of 'added_tokens' lacks 'content' or "
                             "'id'");
  if (entry.getBoolean("single_word").value_or(false))
    return createStringError("added token " + quote(*content) +
                             " is a 'single_word', which is not supported");
  if (Error error = setToken(*content, *id))
    return error;
  tokenizer.addedTokens.push_back(
      {content->str(), static_cast<int32_t>(*id),
       entry.getBoolean("lstrip").value_or(false),
       entry.getBoolean("rstrip").value_or(false),
       entry.getBoolean("normalized").value_or(false)});
  return Error::success();
}

Error Tokenizer::Parser::parseAddedTokens(const json::Value *value) {
  if (isNull(value))
    return Error::success();
  const json::Array *entries = value->getAsArray();
  if (!entries)
    return createStringError("'added_tokens' is no array");
  for (const json::Value &entry : *entries) {
    const json::Object *object = entry.getAsObject();
    if (!object)
      return createStringError("an entry of 'added_tokens' is no object");
    if (Error error = parseAddedToken(*object))
      return error;
  }
  llvm::sort(tokenizer.addedTokens,
             [](const AddedToken &a, const AddedToken &b) {
               return std::pair(b.content.size(), a.id) <
                      std::pair(a.content.size(), b.id);
             });
  return Error::success();
}

Error Tokenizer::Parser::checkIds() {
  for (const auto &[id, token] : enumerate(tokens))
    if (!token)
      return createStringError(
          "no token has the id " + std::to_string(id) + ", expected ids 0 to " +
          std::to_string(tokens.size() - 1) + " without gaps");
  // The bytes that tokens stand for; special tokens stand for themselves.
  tokenizer.pieces.resize(tokens.size());
  for (const auto &[id, token] : enumerate(tokens))
    tokenizer.pieces[id] = decodeByteAlphabet(*token).value_or(*token);
  for (const AddedToken &token : tokenizer.addedTokens)
    tokenizer.pieces[token.id] = token.content;
  return Error::success();
}

Error Tokenizer::Parser::setByteIds() {
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::optional<int32_t> id =
        tokenizer.getId(encodeByte(static_cast<unsigned char>(byte)));
    if (!id)
      return createStringError(
          formatv("no token stands for the byte {0:x2}, expected all 256 of "
                  "byte-level BPE",
                  byte)
              .str());
    tokenizer.byteIds[byte] = *id;
  }
  return Error::success();
}

/// The two tokens of a merge, which older files write in one string.
static std::optional<std::pair<StringRef, StringRef>>
getMergedPair(const json::Value &value) {
  if (std::optional<StringRef> text = value.getAsString()) {
    auto [left, right] = text->split(' ');
    if (left.empty() || right.empty() || right.contains(' '))
      return std::nullopt;
    return std::pair(left, right);
  }
  const json::Array *pair = value.getAsArray();
  if (!pair || pair->size() != 2)
    return std::nullopt;
  std::optional<StringRef> left = (*pair)[0].getAsString(),
                           right = (*pair)[1].getAsString();
  if (!left || !right || left->empty() || right->empty())
    return std::nullopt;
  return std::pair(*left, *right);
}

Error Tokenizer::Parser::parseMerges(const json::Object &model) {
  const json::Array *merges = model.getArray("merges");
  if (!merges)
    return createStringError("'model.merges' is missing or no array");
  for (const auto &[index, value] : enumerate(*merges)) {
    auto fail = [&, number = index](const Twine &what) {
      return createStringError("merge " + Twine(number) + " " + what);
    };
    std::optional<std::pair<StringRef, StringRef>> pair = getMergedPair(value);
    if (!pair)
      return fail("is not a pair of tokens");
    std::string joined = (pair->first + pair->second).str();
    for (StringRef token : {pair->first, pair->second, StringRef(joined)})
      if (!tokenizer.getId(token))
        return fail("needs the token " + quote(token) +
                    ", which is not in the vocabulary");
    std::pair<int32_t, int32_t> key(*tokenizer.getId(pair->first),
                                    *tokenizer.getId(pair->second));
    Merge merge = {static_cast<uint32_t>(index), *tokenizer.getId(joined)};
    if (!tokenizer.merges.try_emplace(key, merge).second)
      return fail("is there twice: " + quote(joined));
  }
  return Error::success();
}

Error Tokenizer::Parser::parse(const json::Object &root) {
  if (!isNull(root.get("normalizer")))
    return createStringError("it has a normalizer, which is not supported");
  const json::Object *model = root.getObject("model");
  if (!model)
    return createStringError("'model' is missing or no object");
  if (Error error = parseModelOptions(*model))
    return error;
  if (Error error = parseSplit(root.get("pre_tokenizer")))
    return error;
  if (Error error = parseVocabulary(*model))
    return error;
  if (Error error = parseAddedTokens(root.get("added_tokens")))
    return error;
  if (Error error = checkIds())
    return error;
  if (Error error = setByteIds())
    return error;
  return parseMerges(*model);
}

Expected<Tokenizer> Tokenizer::parse(StringRef text) {
  Expected<json::Value> value = parseJSON(text);
  if (!value)
    return value.takeError();
  const json::Object *root = value->getAsObject();
  if (!root)
    return createStringError("it is no JSON object");
  Tokenizer tokenizer;
  if (Error error = Parser(tokenizer).parse(*root))
    return std::move(error);
  return tokenizer;
}

} // namespace cwm
