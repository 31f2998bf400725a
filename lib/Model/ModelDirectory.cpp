//===- ModelDirectory.cpp - What belongs to one model -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/ModelDirectory.h"

#include "ModelConfig.h"

#include "cwm/Support/Nesting.h"
#include "cwm/Support/ReadFile.h"
#include "cwm/Support/WriteFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;

namespace cwm {

namespace {
struct KnownFile {
  StringLiteral name;
  /// What makes it.
  StringLiteral maker;
};
} // namespace

static constexpr KnownFile knownFiles[] = {
    {ModelDirectory::tokenizerFile, "python -m cwm.train_tokenizer"},
    {ModelDirectory::encoderFile, "cwm-train encoder"},
    {ModelDirectory::transitionFile, "cwm-train transition"},
    {ModelDirectory::rankerFile, "cwm-train ranker"},
};

std::string computeSHA256(StringRef data) {
  return toHex(SHA256::hash(arrayRefFromStringRef(data)), /*LowerCase=*/true);
}

static std::string joinPath(StringRef folder, StringRef name) {
  SmallString<128> path(folder);
  sys::path::append(path, name);
  return path.str().str();
}

static Error makeError(StringRef folder, const Twine &what) {
  return createStringError("cannot use model '" + folder + "': " + what);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reads a folder for load().
class ModelDirectory::Reader {
public:
  explicit Reader(ModelDirectory &model) : model(model) {}

  Error read();
  /// Whether the files fit each other; their contents are checked already.
  Error checkFit();

private:
  Error fail(const Twine &what) { return makeError(model.path, what); }
  Error readConfig();
  Error readFiles(const json::Object &root);
  Error checkFile(StringRef name, const File &expected);

  ModelDirectory &model;
};

Error ModelDirectory::Reader::readFiles(const json::Object &root) {
  const json::Object *files = root.getObject("files");
  if (!files)
    return fail("config.json has no object 'files'");
  for (const auto &[key, value] : *files) {
    StringRef name(key);
    // Nothing outside of the folder, and no file that we would not read.
    if (none_of(knownFiles,
                [&](const KnownFile &known) { return known.name == name; }))
      return fail("config.json names the unknown file '" + name + "'");
    const json::Object *entry = value.getAsObject();
    std::optional<int64_t> size =
        entry ? entry->getInteger("bytes") : std::nullopt;
    std::optional<StringRef> sum =
        entry ? entry->getString("sha256") : std::nullopt;
    if (!size || *size < 0 || !sum)
      return fail("config.json lacks 'bytes' or 'sha256' of '" + name + "'");
    model.files[name.str()] = {static_cast<uint64_t>(*size), sum->str()};
  }
  return Error::success();
}

Error ModelDirectory::Reader::readConfig() {
  constexpr uint64_t maxConfigBytes = uint64_t(16) << 20;
  std::string file = joinPath(model.path, configFile);
  if (!sys::fs::exists(file))
    return fail("it has no config.json");
  Expected<std::unique_ptr<MemoryBuffer>> buffer =
      readOwnFile(file, maxConfigBytes);
  if (!buffer)
    return fail(toString(buffer.takeError()));
  Expected<json::Value> value = parseJSON((*buffer)->getBuffer());
  if (!value)
    return fail("config.json is no JSON: " + toString(value.takeError()));
  const json::Object *root = value->getAsObject();
  if (!root)
    return fail("config.json is no JSON object");
  if (Error error = readModelConfig(*root, model.config))
    return fail("config.json " + toString(std::move(error)));
  return readFiles(*root);
}

Error ModelDirectory::Reader::checkFile(StringRef name, const File &expected) {
  std::string file = joinPath(model.path, name);
  if (!sys::fs::exists(file))
    return fail("config.json names " + name + ", which is missing");
  Expected<std::unique_ptr<MemoryBuffer>> buffer =
      readOwnFile(file, SafeTensors::maxFileBytes);
  if (!buffer)
    return fail(toString(buffer.takeError()));
  StringRef contents = (*buffer)->getBuffer();
  if (contents.size() != expected.size)
    return fail(name + " has " + Twine(contents.size()) +
                " bytes, config.json expects " + Twine(expected.size));
  std::string sum = computeSHA256(contents);
  if (sum != expected.sha256)
    return fail(name + " is not the file of this model: its SHA-256 is " + sum +
                ", config.json expects " + expected.sha256);
  return Error::success();
}

Error ModelDirectory::Reader::checkFit() {
  if (model.has(encoderFile) && !model.has(tokenizerFile))
    return fail("it has encoder.safetensors without tokenizer.json");
  if (model.has(encoderFile) && model.config.encoder.vocabSize == 0)
    return fail("it has encoder.safetensors, but config.json has no 'encoder'");
  if (model.has(transitionFile) && model.config.dim == 0)
    return fail("it has transition.safetensors, but config.json has no 'dim'");
  if (model.has(rankerFile) && !model.config.ranker)
    return fail("it has ranker.ubj, but config.json has no 'ranker'");
  if (!model.has(tokenizerFile) || model.config.encoder.vocabSize == 0)
    return Error::success();
  Expected<Tokenizer> tokenizer = model.loadTokenizer();
  if (!tokenizer)
    return fail(toString(tokenizer.takeError()));
  if (auto found = static_cast<int64_t>(tokenizer->getVocabularySize());
      found != model.config.encoder.vocabSize)
    return fail("tokenizer.json has " + Twine(found) +
                " tokens, config.json expects the encoder's " +
                Twine(model.config.encoder.vocabSize));
  return Error::success();
}

Error ModelDirectory::Reader::read() {
  if (!sys::fs::exists(model.path))
    return fail("there is no such folder");
  if (!sys::fs::is_directory(model.path))
    return fail("it is no folder");
  if (Error error = readConfig())
    return error;
  for (const auto &[name, file] : model.files)
    if (Error error = checkFile(name, file))
      return error;
  return checkFit();
}

Expected<ModelDirectory> ModelDirectory::load(StringRef path) {
  ModelDirectory model;
  model.path = path.str();
  if (Error error = Reader(model).read())
    return std::move(error);
  return std::move(model);
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

Expected<std::string> ModelDirectory::getFile(StringRef name) const {
  if (has(name))
    return joinPath(path, name);
  const auto *known = find_if(
      knownFiles, [&](const KnownFile &file) { return file.name == name; });
  if (known == std::end(knownFiles))
    return makeError(path, "no model has a file '" + name + "'");
  return makeError(path, "it has no " + name + " yet, which '" + known->maker +
                             "' makes");
}

Expected<Tokenizer> ModelDirectory::loadTokenizer() const {
  Expected<std::string> file = getFile(tokenizerFile);
  if (!file)
    return file.takeError();
  return Tokenizer::load(*file);
}

Expected<SafeTensors> ModelDirectory::loadTensors(StringRef name) const {
  Expected<std::string> file = getFile(name);
  if (!file)
    return file.takeError();
  return SafeTensors::open(*file);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Error ModelDirectory::write(StringRef path, const ModelConfig &config) {
  ModelDirectory model;
  model.path = path.str();
  model.config = config;
  json::Object root = writeModelConfig(config);
  // What cannot be read again is not written.
  ModelConfig again;
  if (Error error = readModelConfig(root, again))
    return makeError(path, "its configuration " + toString(std::move(error)));
  json::Object files;
  for (const KnownFile &known : knownFiles) {
    std::string file = joinPath(path, known.name);
    if (!sys::fs::exists(file))
      continue;
    Expected<std::unique_ptr<MemoryBuffer>> buffer =
        readOwnFile(file, SafeTensors::maxFileBytes);
    if (!buffer)
      return makeError(path, toString(buffer.takeError()));
    StringRef contents = (*buffer)->getBuffer();
    File &entry = model.files[known.name.str()];
    entry = {contents.size(), computeSHA256(contents)};
    files[known.name] =
        json::Object{{"bytes", entry.size}, {"sha256", entry.sha256}};
  }
  if (Error error = Reader(model).checkFit())
    return error;
  root["files"] = std::move(files);
  std::string text = formatv("{0:2}\n", json::Value(std::move(root))).str();
  return writeFile(joinPath(path, configFile), text);
}

} // namespace cwm
