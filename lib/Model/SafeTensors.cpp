//===- SafeTensors.cpp - Files of named tensors -----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/SafeTensors.h"

#include "cwm/Support/Nesting.h"
#include "cwm/Support/ReadFile.h"
#include "cwm/Support/WriteFile.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <cstring>
#include <tuple>

using namespace llvm;

namespace cwm {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {
struct TypeEntry {
  TensorType type;
  StringLiteral name;
  size_t size;
};
} // namespace

static constexpr TypeEntry typeTable[] = {
    {TensorType::F64, "F64", 8}, {TensorType::F32, "F32", 4},
    {TensorType::F16, "F16", 2}, {TensorType::BF16, "BF16", 2},
    {TensorType::I64, "I64", 8}, {TensorType::I32, "I32", 4},
    {TensorType::I16, "I16", 2}, {TensorType::I8, "I8", 1},
    {TensorType::U8, "U8", 1},   {TensorType::Bool, "BOOL", 1},
};

static const TypeEntry &getEntry(TensorType type) {
  return *find_if(
      typeTable, [type](const TypeEntry &entry) { return entry.type == type; });
}

StringRef getTensorTypeName(TensorType type) { return getEntry(type).name; }
size_t getTensorTypeSize(TensorType type) { return getEntry(type).size; }

/// "[256, 512]"; "?" for what may be anything.
static std::string describeShape(ArrayRef<int64_t> shape) {
  std::string text = "[";
  ListSeparator separator;
  for (int64_t extent : shape)
    text += (StringRef(separator) + (extent < 0 ? "?" : std::to_string(extent)))
                .str();
  return text + "]";
}

int64_t TensorView::getNumElements() const {
  if (is_contained(shape, 0)) // whatever the product of the others is
    return 0;
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

std::string TensorView::describe() const {
  return getTensorTypeName(type).str() + describeShape(shape);
}

/// The bytes of a tensor, or nothing where they are more than 64 bits count.
static std::optional<uint64_t> countBytes(TensorType type,
                                          ArrayRef<int64_t> shape) {
  auto bytes = static_cast<int64_t>(getTensorTypeSize(type));
  // An empty tensor has no bytes whatever the other extents are.
  if (is_contained(shape, 0))
    return 0;
  for (int64_t extent : shape) {
    std::optional<int64_t> product = checkedMul(bytes, extent);
    if (!product || extent < 0)
      return std::nullopt;
    bytes = *product;
  }
  return static_cast<uint64_t>(bytes);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// Reads the header of a file.
class HeaderReader {
public:
  explicit HeaderReader(StringRef contents) : contents(contents) {}

  Error read(std::map<std::string, TensorView, std::less<>> &tensors,
             std::map<std::string, std::string, std::less<>> &metadata);

private:
  struct Place {
    uint64_t begin, end;
    StringRef name;
    bool operator<(const Place &other) const {
      return std::tie(begin, end, name) <
             std::tie(other.begin, other.end, other.name);
    }
  };

  Error readMetadata(const json::Value &value,
                     std::map<std::string, std::string, std::less<>> &metadata);
  Error readTensor(StringRef name, const json::Value &value,
                   TensorView &tensor);
  Error checkPlaces();

  StringRef contents;
  /// The elements of all tensors.
  StringRef data;
  std::vector<Place> places;
};
} // namespace

static Error makeError(const Twine &what) { return createStringError(what); }

static Error makeTensorError(StringRef name, const Twine &what) {
  return createStringError("tensor '" + name + "' " + what);
}

/// Whether one object of `header` has a key twice. JSON leaves open what that
/// means and llvm::json keeps the last; two readers would see two models.
/// `header` is valid JSON whose objects lie at most two deep.
static std::optional<std::string> findDuplicateName(StringRef header) {
  StringSet<> names;
  unsigned depth = 0;
  for (size_t i = 0; i < header.size(); ++i) {
    char c = header[i];
    depth += c == '{' || c == '[';
    depth -= c == '}' || c == ']';
    if (c != '"')
      continue;
    size_t begin = i++;
    while (i < header.size() && header[i] != '"')
      i += header[i] == '\\' ? 2 : 1;
    StringRef text = header.slice(begin, i + 1);
    bool isKey = header.drop_front(std::min(i + 1, header.size()))
                     .ltrim(" \t\r\n")
                     .starts_with(":");
    if (depth != 1 || !isKey)
      continue;
    // Two spellings of one name are the same name.
    Expected<json::Value> name = json::parse(text);
    if (!name) {
      consumeError(name.takeError());
      continue;
    }
    if (auto string = name->getAsString();
        string && !names.insert(*string).second)
      return string->str();
  }
  return std::nullopt;
}

Error HeaderReader::readMetadata(
    const json::Value &value,
    std::map<std::string, std::string, std::less<>> &metadata) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return makeError("'__metadata__' is no object");
  for (const auto &[key, entry] : *object) {
    std::optional<StringRef> text = entry.getAsString();
    if (!text)
      return makeError("'__metadata__' has an entry that is no text: '" +
                       StringRef(key) + "'");
    metadata[key.str()] = text->str();
  }
  return Error::success();
}

Error HeaderReader::readTensor(StringRef name, const json::Value &value,
                               TensorView &tensor) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return makeTensorError(name, "is not described by an object");
  std::optional<StringRef> typeName = object->getString("dtype");
  const json::Array *shape = object->getArray("shape");
  const json::Array *offsets = object->getArray("data_offsets");
  if (!typeName || !shape || !offsets || offsets->size() != 2)
    return makeTensorError(name,
                           "lacks 'dtype', 'shape' or two 'data_offsets'");
  const auto *entry = find_if(typeTable, [&](const TypeEntry &entry) {
    return entry.name == *typeName;
  });
  if (entry == std::end(typeTable))
    return makeTensorError(name,
                           "has elements of unknown type '" + *typeName + "'");
  tensor.type = entry->type;
  for (const json::Value &extent : *shape) {
    std::optional<int64_t> number = extent.getAsInteger();
    if (!number || *number < 0)
      return makeTensorError(name, "has an extent that is no count");
    tensor.shape.push_back(*number);
  }
  std::optional<int64_t> begin = (*offsets)[0].getAsInteger(),
                         end = (*offsets)[1].getAsInteger();
  if (!begin || !end || *begin < 0 || *end < *begin)
    return makeTensorError(name, "has 'data_offsets' that are no range");
  Place place = {static_cast<uint64_t>(*begin), static_cast<uint64_t>(*end),
                 name};
  if (place.end > data.size())
    return makeTensorError(name, "ends at byte " + Twine(place.end) +
                                     " of the data, which has " +
                                     Twine(data.size()));
  std::optional<uint64_t> numBytes = countBytes(tensor.type, tensor.shape);
  if (!numBytes || *numBytes != place.end - place.begin)
    return makeTensorError(
        name, "is " + tensor.describe() + ", which is " +
                  (numBytes ? std::to_string(*numBytes) : "too many") +
                  " bytes, but has " + Twine(place.end - place.begin));
  StringRef bytes = data.slice(place.begin, place.end);
  tensor.data = ArrayRef<char>(bytes.data(), bytes.size());
  places.push_back(place);
  return Error::success();
}

/// The tensors cover the data without gap or overlap: nothing can hide in a
/// file, and nothing is read twice.
Error HeaderReader::checkPlaces() {
  llvm::sort(places);
  uint64_t end = 0;
  StringRef previous;
  for (const Place &place : places) {
    if (place.begin < end)
      return makeTensorError(place.name, "overlaps tensor '" + previous + "'");
    if (place.begin > end)
      return makeTensorError(place.name, "begins at byte " +
                                             Twine(place.begin) +
                                             " of the data, expected " +
                                             Twine(end) + ": there is a gap");
    end = place.end;
    previous = place.name;
  }
  if (end != data.size())
    return makeError("it has " + Twine(data.size()) +
                     " bytes of data, but its tensors end at " + Twine(end));
  return Error::success();
}

Error HeaderReader::read(
    std::map<std::string, TensorView, std::less<>> &tensors,
    std::map<std::string, std::string, std::less<>> &metadata) {
  constexpr size_t lengthBytes = sizeof(uint64_t);
  if (contents.size() < lengthBytes)
    return makeError("it has " + Twine(contents.size()) +
                     " bytes, too few for the length of a header");
  uint64_t length = support::endian::read64le(contents.data());
  if (length > SafeTensors::maxHeaderBytes)
    return makeError("its header would have " + Twine(length) +
                     " bytes, at most " + Twine(SafeTensors::maxHeaderBytes) +
                     " are allowed: it is no safetensors file");
  if (length > contents.size() - lengthBytes)
    return makeError("its header has " + Twine(length) +
                     " bytes, but the file ends after " +
                     Twine(contents.size() - lengthBytes) + " of them");
  StringRef text = contents.substr(lengthBytes, length);
  data = contents.drop_front(lengthBytes + length);
  Expected<json::Value> header = parseJSON(text);
  if (!header)
    return makeError("its header is no JSON: " + toString(header.takeError()));
  const json::Object *object = header->getAsObject();
  if (!object)
    return makeError("its header is no JSON object");
  if (std::optional<std::string> name = findDuplicateName(text))
    return makeError("its header has '" + *name + "' twice");
  for (const auto &[key, value] : *object) {
    StringRef name(key);
    if (name == "__metadata__") {
      if (Error error = readMetadata(value, metadata))
        return error;
      continue;
    }
    auto it = tensors.try_emplace(name.str()).first;
    if (Error error = readTensor(it->first, value, it->second))
      return error;
  }
  return checkPlaces();
}

Expected<SafeTensors>
SafeTensors::parse(std::unique_ptr<MemoryBuffer> contents) {
  SafeTensors file;
  file.contents = std::move(contents);
  if (Error error = HeaderReader(file.contents->getBuffer())
                        .read(file.tensors, file.metadata))
    return createStringError("cannot read '" + file.getPath() +
                             "': " + toString(std::move(error)));
  return std::move(file);
}

Expected<SafeTensors> SafeTensors::open(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> contents =
      readOwnFile(path, maxFileBytes);
  if (!contents)
    return contents.takeError();
  return parse(std::move(*contents));
}

const TensorView *SafeTensors::find(StringRef name) const {
  auto it = tensors.find(name);
  return it == tensors.end() ? nullptr : &it->second;
}

/// Element `index` of a tensor of floats.
static float getFloat(const TensorView &tensor, size_t index) {
  const char *element =
      tensor.data.data() + index * getTensorTypeSize(tensor.type);
  switch (tensor.type) {
  case TensorType::F64: {
    double value;
    std::memcpy(&value, element, sizeof(value));
    return static_cast<float>(value);
  }
  case TensorType::F32: {
    float value;
    std::memcpy(&value, element, sizeof(value));
    return value;
  }
  default: {
    const fltSemantics &semantics = tensor.type == TensorType::F16
                                        ? APFloat::IEEEhalf()
                                        : APFloat::BFloat();
    APFloat value(semantics, APInt(16, support::endian::read16le(element)));
    return value.convertToFloat();
  }
  }
}

Expected<std::vector<float>>
SafeTensors::getFloats(StringRef name, ArrayRef<int64_t> shape,
                       SmallVectorImpl<int64_t> *found) const {
  auto fail = [&](const Twine &what) {
    return createStringError("cannot use '" + getPath() + "': tensor '" + name +
                             "' " + what);
  };
  const TensorView *tensor = find(name);
  if (!tensor)
    return fail("is missing, expected shape " + describeShape(shape));
  bool fits = tensor->shape.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = shape[i] < 0 || shape[i] == tensor->shape[i];
  if (!fits)
    return fail("is " + tensor->describe() + ", expected shape " +
                describeShape(shape));
  switch (tensor->type) {
  case TensorType::F64:
  case TensorType::F32:
  case TensorType::F16:
  case TensorType::BF16:
    break;
  default:
    return fail("is " + tensor->describe() + ", expected floats");
  }
  std::vector<float> values(tensor->getNumElements());
  for (auto [index, value] : enumerate(values)) {
    value = getFloat(*tensor, index);
    if (!std::isfinite(value))
      return fail("has a value that is not finite, element " + Twine(index));
  }
  if (found)
    found->assign(tensor->shape.begin(), tensor->shape.end());
  return values;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Error writeSafeTensors(StringRef path, const TensorsToWrite &file) {
  using Entry = std::pair<const std::string, TensorView>;
  std::vector<const Entry *> entries;
  uint64_t end = 0;
  for (const Entry &entry : file.tensors) {
    const TensorView &tensor = entry.second;
    std::optional<uint64_t> numBytes = countBytes(tensor.type, tensor.shape);
    if (numBytes != tensor.data.size())
      return createStringError("cannot write '" + path + "': tensor '" +
                               entry.first + "' is " + tensor.describe() +
                               ", but has " + Twine(tensor.data.size()) +
                               " bytes");
    if (entry.first == "__metadata__" || !json::isUTF8(entry.first))
      return createStringError("cannot write '" + path +
                               "': no tensor may be called '" + entry.first +
                               "'");
    entries.push_back(&entry);
  }
  // The largest elements first: then all of them are aligned.
  llvm::sort(entries, [](const Entry *a, const Entry *b) {
    size_t aSize = getTensorTypeSize(a->second.type),
           bSize = getTensorTypeSize(b->second.type);
    return std::tie(bSize, a->first) < std::tie(aSize, b->first);
  });

  json::Object header;
  if (!file.metadata.empty()) {
    json::Object metadata;
    for (const auto &[key, value] : file.metadata)
      metadata[json::fixUTF8(key)] = json::fixUTF8(value);
    header["__metadata__"] = std::move(metadata);
  }
  for (const Entry *entry : entries) {
    const TensorView &tensor = entry->second;
    uint64_t begin = end;
    end += tensor.data.size();
    header[entry->first] =
        json::Object{{"dtype", getTensorTypeName(tensor.type)},
                     {"shape", json::Array(tensor.shape)},
                     {"data_offsets", json::Array{begin, end}}};
  }
  std::string text = formatv("{0}", json::Value(std::move(header))).str();
  constexpr size_t alignment = 8;
  text.append((alignment - text.size() % alignment) % alignment, ' ');

  std::string contents(sizeof(uint64_t), '\0');
  support::endian::write64le(contents.data(), text.size());
  contents.reserve(contents.size() + text.size() + end);
  contents += text;
  for (const Entry *entry : entries)
    contents.append(entry->second.data.begin(), entry->second.data.end());
  return writeFile(path, contents);
}

} // namespace cwm
