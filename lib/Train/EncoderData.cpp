//===- EncoderData.cpp - The texts that the encoder learns from -*- C++-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/EncoderData.h"

#include "Random.h"

#include "cwm/Support/Nesting.h"
#include "cwm/Support/Zstd.h"
#include "cwm/Trajectory/StateText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace llvm;

namespace cwm {

Expected<EncoderData> EncoderData::read(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readMaybeCompressed(path);
  if (!buffer)
    return buffer.takeError();
  return parse((*buffer)->getBuffer(), path == "-" ? "stdin" : path);
}

/// The text of a required key, or an error that says what is there instead.
static Expected<StringRef> getText(const json::Object &line, StringRef key) {
  const json::Value *value = line.get(key);
  if (!value)
    return createStringError("key '" + key + "' is missing");
  std::optional<StringRef> text = value->getAsString();
  if (!text)
    return createStringError("key '" + key + "' is not a string");
  if (text->empty())
    return createStringError("key '" + key + "' is empty");
  return *text;
}

namespace {
struct Line {
  std::string workload, file;
  EncoderText text;
};
} // namespace

static Expected<Line> parseLine(StringRef source) {
  Expected<json::Value> value = parseJSON(source);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  if (!object)
    return createStringError("not a JSON object");
  Expected<StringRef> workload = getText(*object, "workload");
  if (!workload)
    return workload.takeError();
  Expected<StringRef> text = getText(*object, "text");
  if (!text)
    return text.takeError();
  Line line{workload->str(), workload->str(), {text->str(), {}}};
  if (object->get("file")) {
    Expected<StringRef> file = getText(*object, "file");
    if (!file)
      return file.takeError();
    line.file = file->str();
  }
  if (const json::Value *variants = object->get("variants")) {
    const json::Array *list = variants->getAsArray();
    if (!list)
      return createStringError("key 'variants' is not a list");
    for (const json::Value &variant : *list) {
      std::optional<StringRef> words = variant.getAsString();
      if (!words || words->empty())
        return createStringError("key 'variants' has an entry that is no text");
      line.text.variants.push_back(words->str());
    }
  }
  return line;
}

Expected<EncoderData> EncoderData::parse(StringRef text, StringRef name) {
  EncoderData data;
  StringMap<size_t> files;
  std::vector<StringSet<>> seen;
  auto fail = [&](size_t number, const Twine &reason) {
    return createStringError("cannot read '" + name + "': line " +
                             Twine(number) + ": " + reason);
  };
  size_t number = 0;
  while (!text.empty()) {
    StringRef source;
    std::tie(source, text) = text.split('\n');
    ++number;
    if (source.trim().empty())
      continue;
    Expected<Line> line = parseLine(source);
    if (!line)
      return fail(number, toString(line.takeError()));
    auto [entry, isNew] = files.try_emplace(line->file, data.files.size());
    if (isNew) {
      data.files.push_back({line->file, line->workload, {}});
      seen.emplace_back();
    }
    EncoderFile &file = data.files[entry->second];
    if (file.workload != line->workload)
      return fail(number, "file '" + line->file + "' is of workload '" +
                              file.workload + "' in a line before, and of '" +
                              line->workload + "' here");
    if (seen[entry->second].insert(line->text.text).second)
      file.texts.push_back(std::move(line->text));
  }
  return data;
}

size_t EncoderData::getNumTexts() const {
  size_t count = 0;
  for (const EncoderFile &file : files)
    count += file.texts.size();
  return count;
}

std::string EncoderData::getDigest() const {
  std::string all;
  for (const EncoderFile &file : files) {
    all += hashText(file.name) + hashText(file.workload);
    for (const EncoderText &text : file.texts) {
      all += hashText(text.text);
      for (const std::string &variant : text.variants)
        all += hashText(variant);
    }
  }
  return hashText(all);
}

Expected<EncoderData> EncoderData::splitValidation(double share,
                                                   uint64_t seed) {
  std::set<std::string> names;
  for (const EncoderFile &file : files)
    names.insert(file.workload);
  if (names.size() < 2)
    return createStringError(
        "all texts are of one workload, '" + *names.begin() +
        "': at least two are needed, since one is kept for validation");
  std::vector<std::string> workloads(names.begin(), names.end());
  Random(seed).shuffle(workloads);
  auto count = static_cast<size_t>(
      std::llround(share * static_cast<double>(workloads.size())));
  count = std::clamp<size_t>(count, 1, workloads.size() - 1);
  std::set<std::string> taken(
      workloads.begin(), workloads.begin() + static_cast<ptrdiff_t>(count));
  EncoderData validation;
  auto isTaken = [&](const EncoderFile &file) {
    return taken.count(file.workload) != 0;
  };
  llvm::copy_if(files, std::back_inserter(validation.files), isTaken);
  llvm::erase_if(files, isTaken);
  return validation;
}

} // namespace cwm
