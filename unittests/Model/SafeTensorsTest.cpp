//===- SafeTensorsTest.cpp - Tests of files of tensors ----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exchange with the Python package is tested in python/tests/test_tensors.py.
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/SafeTensors.h"

#include "../Support/SupportTestUtils.h"

#include "llvm/Support/Endian.h"
#include "gmock/gmock.h"

#include <limits>
#include <random>

using namespace llvm;
using namespace cwm;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A file with this header and these bytes of data.
static std::string makeFile(StringRef header, StringRef data = "") {
  std::string contents(8, '\0');
  support::endian::write64le(contents.data(), header.size());
  return contents + header.str() + data.str();
}

static Expected<SafeTensors> parse(StringRef contents) {
  return SafeTensors::parse(
      MemoryBuffer::getMemBufferCopy(contents, "test.safetensors"));
}

static std::string getError(StringRef contents) {
  Expected<SafeTensors> file = parse(contents);
  if (file)
    return "";
  std::string message = toString(file.takeError());
  StringRef prefix = "cannot read 'test.safetensors': ";
  EXPECT_TRUE(StringRef(message).starts_with(prefix)) << message;
  return message.substr(prefix.size());
}

template <typename T> static ArrayRef<char> getBytes(const T &values) {
  return ArrayRef<char>(reinterpret_cast<const char *>(values.data()),
                        values.size() * sizeof(values[0]));
}

namespace {
class SafeTensorsTest : public cwm::test::FolderTest {
protected:
  std::vector<float> floats = {1, -2.5f, 3e-39f, 4, 5, 6};
  std::vector<double> doubles = {0.1};
  std::vector<int64_t> integers = {-7, 1};
  std::vector<uint16_t> halves = {0x3C00, 0xC100, 0x0001};
  std::vector<uint8_t> bytes = {1, 2, 255};

  TensorsToWrite make() const {
    TensorsToWrite file;
    file.tensors["a.weight"] = {TensorType::F32, {2, 3}, getBytes(floats)};
    file.tensors["b"] = {TensorType::U8, {3}, getBytes(bytes)};
    file.tensors["half"] = {TensorType::F16, {3, 1}, getBytes(halves)};
    file.tensors["brain"] = {TensorType::BF16, {3}, getBytes(halves)};
    file.tensors["scalar"] = {TensorType::F64, {}, getBytes(doubles)};
    file.tensors["whole"] = {TensorType::I64, {2}, getBytes(integers)};
    file.tensors["\"none\"\n"] = {TensorType::F32, {0, 5}, {}};
    file.metadata["format"] = "pt";
    return file;
  }
  std::string write(const TensorsToWrite &file) const {
    Error error = writeSafeTensors(at("file"), file);
    return error ? toString(std::move(error)) : get("file");
  }
};
} // namespace

TEST_F(SafeTensorsTest, WriteAndRead) {
  std::string contents = write(make());
  EXPECT_EQ(contents, write(make()));
  Expected<SafeTensors> file = SafeTensors::open(at("file"));
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  SafeTensors moved = std::move(*file);
  EXPECT_EQ(moved.getPath(), at("file"));
  EXPECT_EQ(moved.getTensors().size(), 7u);
  EXPECT_EQ(moved.getMetadata().at("format"), "pt");
  for (const auto &[name, expected] : make().tensors) {
    const TensorView *tensor = moved.find(name);
    ASSERT_TRUE(tensor) << name;
    EXPECT_EQ(tensor->describe(), expected.describe());
    EXPECT_EQ(tensor->data, expected.data);
    // Where it lies in the file, of which all begin alike in memory.
    size_t place = tensor->data.data() - moved.find("scalar")->data.data();
    EXPECT_EQ(place % getTensorTypeSize(tensor->type), 0u) << name;
  }
  EXPECT_EQ(support::endian::read64le(contents.data()) % 8, 0u);
  EXPECT_EQ(moved.find("a.weight")->describe(), "F32[2, 3]");
  EXPECT_EQ(moved.find("scalar")->getNumElements(), 1);
  EXPECT_EQ(moved.find("\"none\"\n")->getNumElements(), 0);
  EXPECT_FALSE(moved.contains("a"));
}

TEST_F(SafeTensorsTest, Floats) {
  write(make());
  Expected<SafeTensors> file = SafeTensors::open(at("file"));
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  auto get = [&](StringRef name, ArrayRef<int64_t> shape) {
    Expected<std::vector<float>> values = file->getFloats(name, shape);
    if (values)
      return *values;
    ADD_FAILURE() << toString(values.takeError());
    return std::vector<float>();
  };
  EXPECT_EQ(get("a.weight", {2, 3}), floats);
  EXPECT_EQ(get("a.weight", {-1, 3}), floats);
  EXPECT_THAT(get("half", {3, 1}), ElementsAre(1.f, -2.5f, 0x1p-24f));
  EXPECT_THAT(get("brain", {3}), ElementsAre(0x1p-7f, -8.f, 0x1p-133f));
  EXPECT_THAT(get("scalar", {}), ElementsAre(0.1f));
  SmallVector<int64_t> found;
  Expected<std::vector<float>> any =
      file->getFloats("a.weight", {-1, -1}, &found);
  ASSERT_TRUE(bool(any)) << toString(any.takeError());
  EXPECT_THAT(found, ElementsAre(2, 3));

  auto getMessage = [&](StringRef name, ArrayRef<int64_t> shape) {
    Expected<std::vector<float>> values = file->getFloats(name, shape);
    return values ? "" : toString(values.takeError());
  };
  std::string prefix = "cannot use '" + at("file") + "': tensor ";
  EXPECT_EQ(getMessage("a", {-1, 3}),
            prefix + "'a' is missing, expected shape [?, 3]");
  EXPECT_EQ(getMessage("a.weight", {3, 2}),
            prefix + "'a.weight' is F32[2, 3], expected shape [3, 2]");
  EXPECT_EQ(getMessage("a.weight", {6}),
            prefix + "'a.weight' is F32[2, 3], expected shape [6]");
  EXPECT_EQ(getMessage("whole", {2}),
            prefix + "'whole' is I64[2], expected floats");
  floats[4] = std::numeric_limits<float>::quiet_NaN();
  write(make());
  file = SafeTensors::open(at("file"));
  ASSERT_TRUE(bool(file)) << toString(file.takeError());
  EXPECT_EQ(getMessage("a.weight", {2, 3}),
            prefix + "'a.weight' has a value that is not finite, element 4");
}

TEST_F(SafeTensorsTest, WhatCannotBeWritten) {
  TensorsToWrite file = make();
  file.tensors["b"].shape = {4};
  EXPECT_EQ(write(file), "cannot write '" + at("file") +
                             "': tensor 'b' is U8[4], but has 3 bytes");
  file.tensors["b"].shape = {int64_t(1) << 40, int64_t(1) << 40};
  EXPECT_THAT(write(file), HasSubstr("tensor 'b' is U8["));
  file.tensors.erase("b");
  file.tensors["__metadata__"] = {TensorType::U8, {3}, getBytes(bytes)};
  EXPECT_THAT(write(file), HasSubstr("no tensor may be called '__metadata__'"));
  file.tensors.erase("__metadata__");
  file.tensors["\xff"] = {TensorType::U8, {3}, getBytes(bytes)};
  EXPECT_THAT(write(file), HasSubstr("no tensor may be called"));
  Error error = writeSafeTensors(at("none/file"), make());
  EXPECT_THAT(toString(std::move(error)), HasSubstr("cannot write '"));
  // Nothing of it was left behind.
  EXPECT_EQ(get("file"), "<missing>");
}

TEST_F(SafeTensorsTest, DamagedHeaders) {
  EXPECT_EQ(getError(makeFile("{}")), "");
  EXPECT_EQ(getError("1234567"),
            "it has 7 bytes, too few for the length of a header");
  EXPECT_EQ(getError(std::string(8, '\xff')),
            "its header would have 18446744073709551615 bytes, at most "
            "100000000 are allowed: it is no safetensors file");
  std::string longer = makeFile("{}");
  longer[0] = 3;
  EXPECT_EQ(getError(longer),
            "its header has 3 bytes, but the file ends after 2 of them");
  EXPECT_THAT(getError(makeFile("{")), HasSubstr("its header is no JSON: ["));
  EXPECT_THAT(getError(makeFile(std::string(1000, '['))),
              HasSubstr("nested deeper than"));
  EXPECT_EQ(getError(makeFile("[]")), "its header is no JSON object");
  EXPECT_EQ(getError(makeFile("{\"__metadata__\":1}")),
            "'__metadata__' is no object");
  EXPECT_EQ(getError(makeFile("{\"__metadata__\":{\"a\":1}}")),
            "'__metadata__' has an entry that is no text: 'a'");
}

static std::string describe(StringRef type, StringRef shape,
                            StringRef offsets) {
  return ("{\"dtype\":\"" + type + "\",\"shape\":" + shape +
          ",\"data_offsets\":" + offsets + "}")
      .str();
}

TEST_F(SafeTensorsTest, DamagedTensors) {
  auto one = [](StringRef entry) {
    return getError(makeFile(("{\"a\":" + entry + "}").str(), "12345678"));
  };
  EXPECT_EQ(one(describe("F32", "[2]", "[0,8]")), "");
  EXPECT_EQ(one("1"), "tensor 'a' is not described by an object");
  StringRef lacks = "tensor 'a' lacks 'dtype', 'shape' or two 'data_offsets'";
  EXPECT_EQ(one("{}"), lacks);
  EXPECT_EQ(one(describe("F32", "2", "[0,8]")), lacks);
  EXPECT_EQ(one(describe("F32", "[2]", "[0,4,8]")), lacks);
  EXPECT_EQ(one(describe("F8_E5M2", "[8]", "[0,8]")),
            "tensor 'a' has elements of unknown type 'F8_E5M2'");
  for (StringRef extent : {"-2", "2.5", "\"2\"", "1e30", "null"})
    EXPECT_EQ(one(describe("F32", "[" + extent.str() + "]", "[0,8]")),
              "tensor 'a' has an extent that is no count")
        << extent.str();
  for (StringRef range : {"[-1,8]", "[8,0]", "[0.5,8]", "[0,1e30]", "[0,null]"})
    EXPECT_EQ(one(describe("F32", "[2]", range)),
              "tensor 'a' has 'data_offsets' that are no range")
        << range.str();
  EXPECT_EQ(one(describe("F32", "[3]", "[0,12]")),
            "tensor 'a' ends at byte 12 of the data, which has 8");
  EXPECT_EQ(one(describe("F32", "[2]", "[0,9223372036854775807]")),
            "tensor 'a' ends at byte 9223372036854775807 of the data, which "
            "has 8");
  EXPECT_EQ(one(describe("F64", "[2]", "[0,8]")),
            "tensor 'a' is F64[2], which is 16 bytes, but has 8");
  // Products that come back to 8 when they overflow.
  EXPECT_EQ(one(describe("F32", "[4611686018427387906]", "[0,8]")),
            "tensor 'a' is F32[4611686018427387906], which is too many bytes, "
            "but has 8");
  EXPECT_THAT(one(describe("F32", "[4294967296,4294967296,2]", "[0,0]")),
              HasSubstr("which is too many bytes, but has 0"));
  EXPECT_EQ(one(describe("F32", "[1]", "[0,4]")),
            "it has 8 bytes of data, but its tensors end at 4");
}

TEST_F(SafeTensorsTest, TensorsCoverTheData) {
  auto two = [](StringRef a, StringRef b, StringRef key = "b") {
    return getError(makeFile(
        ("{\"a\":" + a + ",\"" + key + "\":" + b + "}").str(), "12345678"));
  };
  EXPECT_EQ(two(describe("U8", "[4]", "[0,4]"), describe("I8", "[4]", "[4,8]")),
            "");
  EXPECT_EQ(two(describe("U8", "[6]", "[0,6]"), describe("I8", "[4]", "[4,8]")),
            "tensor 'b' overlaps tensor 'a'");
  EXPECT_EQ(two(describe("U8", "[8]", "[0,8]"), describe("I8", "[8]", "[0,8]")),
            "tensor 'b' overlaps tensor 'a'");
  EXPECT_EQ(two(describe("U8", "[3]", "[0,3]"), describe("I8", "[4]", "[4,8]")),
            "tensor 'b' begins at byte 4 of the data, expected 3: there is a "
            "gap");
  // The same name twice, however it is spelled; in different objects it is not.
  EXPECT_EQ(
      two(describe("U8", "[4]", "[0,4]"), describe("I8", "[4]", "[4,8]"), "a"),
      "its header has 'a' twice");
  EXPECT_EQ(two(describe("U8", "[4]", "[0,4]"), describe("I8", "[4]", "[4,8]"),
                "\\u0061"),
            "its header has 'a' twice");
  EXPECT_EQ(two(describe("U8", "[4]", "[0,4]"), describe("I8", "[4]", "[4,8]"),
                "dtype"),
            "");
  EXPECT_EQ(getError(makeFile(("{\"__metadata__\":{\"a\":\"a\",\"b\":\"{\"},"
                               "\"a\":" +
                               describe("U8", "[1]", "[0,1]") + "}"),
                              "1")),
            "");
}

TEST_F(SafeTensorsTest, EveryTruncationIsNoticed) {
  std::string contents = write(make());
  EXPECT_EQ(getError(contents), "");
  for (size_t length = 0; length < contents.size(); ++length)
    EXPECT_NE(getError(StringRef(contents).take_front(length)), "") << length;
  EXPECT_NE(getError(contents + "x"), "");
}

/// Whatever is in a file, reading it ends, and no view leaves the file (which
/// the sanitizers would notice here).
TEST_F(SafeTensorsTest, RandomDamage) {
  std::string contents = write(make());
  size_t headerEnd = 8 + support::endian::read64le(contents.data());
  std::mt19937 random(1);
  size_t accepted = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = contents;
    for (unsigned changes = 1 + random() % 3; changes; --changes) {
      size_t place = random() % headerEnd;
      switch (random() % 3) {
      case 0:
        damaged[place] = static_cast<char>(random());
        break;
      case 1:
        damaged[place] = "0123456789[]{},:\""[random() % 17];
        break;
      default:
        damaged.erase(place, 1 + random() % 4);
        // As if it had been written so: the length fits.
        support::endian::write64le(
            damaged.data(), headerEnd - 8 - (contents.size() - damaged.size()));
      }
    }
    Expected<SafeTensors> file = parse(damaged);
    if (!file) {
      consumeError(file.takeError());
      ++refused;
      continue;
    }
    ++accepted;
    unsigned sum = 0;
    for (const auto &[name, tensor] : file->getTensors())
      for (char c : tensor.data)
        sum += static_cast<unsigned char>(c);
    EXPECT_NE(sum, ~0u);
  }
  // Most damage is to names and spaces or to structure; both must occur.
  EXPECT_GT(accepted, 100u);
  EXPECT_GT(refused, 1000u);
}
