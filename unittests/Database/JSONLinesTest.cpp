//===- JSONLinesTest.cpp - Tests of export and import -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include "llvm/Support/MemoryBuffer.h"

#include <cfloat>
#include <cstring>
#include <random>

using namespace llvm;
using namespace cwm;
using namespace cwm::test;

namespace {
using DatabaseTest = cwm::test::DatabaseTest;

std::string readFile(StringRef path) {
  return (*MemoryBuffer::getFile(path))->getBuffer().str();
}

TEST_F(DatabaseTest, RoundTripIsLossless) {
  std::mt19937_64 engine(7);
  std::string exported = at("a.jsonl"), again = at("b.jsonl");
  std::vector<Record> written;
  {
    std::unique_ptr<Database> database = openOrDie(at("a.db"));
    for (int i = 0; i < 200; ++i) {
      Record record = makeRecord("w" + std::to_string(i % 3),
                                 "c\"{}\\ \t" + std::to_string(i));
      record.result.reason = i % 2 ? "line\nbreak \xc3\xa9" : "";
      record.features.clear();
      for (int j = 0; j < 20; ++j) {
        // Any bit pattern, so also subnormals; insert makes them finite.
        uint32_t bits = engine();
        float value;
        std::memcpy(&value, &bits, sizeof(value));
        record.features.push_back(value);
      }
      uint64_t bits = engine();
      std::memcpy(&record.result.score, &bits, sizeof(bits));
      record.result.timeNs = i ? DBL_MIN / i : DBL_TRUE_MIN;
      record.result.codeBytes = int64_t(engine() >> 1);
      ASSERT_FALSE(database->insert(record));
      written.push_back(record);
    }
    ASSERT_FALSE(database->exportJSONL(exported));
  }
  std::unique_ptr<Database> database = openOrDie(at("b.db"));
  EXPECT_EQ(cantFail(database->importJSONL(exported)), 200);
  ASSERT_FALSE(database->exportJSONL(again));
  EXPECT_EQ(readFile(exported), readFile(again));

  std::vector<Record> read = cantFail(database->getAllRecords());
  ASSERT_EQ(read.size(), written.size());
  for (size_t i = 0; i < read.size(); ++i) {
    ASSERT_EQ(read[i].features.size(), written[i].features.size());
    EXPECT_EQ(std::memcmp(read[i].features.data(), written[i].features.data(),
                          4 * read[i].features.size()),
              0);
    EXPECT_EQ(std::memcmp(&read[i].result.score, &written[i].result.score, 8),
              0);
    EXPECT_EQ(read[i].result.timeNs, written[i].result.timeNs);
    EXPECT_EQ(read[i].result.codeBytes, written[i].result.codeBytes);
    EXPECT_EQ(read[i].result.reason, written[i].result.reason);
    EXPECT_EQ(read[i].candidate, written[i].candidate);
    EXPECT_EQ(read[i].createdAt, written[i].createdAt);
  }
  // What is there already is skipped.
  EXPECT_EQ(cantFail(database->importJSONL(exported)), 0);
}

TEST_F(DatabaseTest, MalformedLineImportsNothing) {
  std::string path = at("records.jsonl");
  std::unique_ptr<Database> source = openOrDie(at("a.db"));
  for (const char *name : {"a", "b"}) {
    Record record = makeRecord("w", name);
    ASSERT_FALSE(source->insert(record));
  }
  ASSERT_FALSE(source->exportJSONL(path));
  std::string good = readFile(path);
  std::unique_ptr<Database> database = openOrDie(at("b.db"));
  auto importText = [&](std::string text) {
    write(path, text);
    Expected<int64_t> added = database->importJSONL(path);
    return added ? std::to_string(*added) : toString(added.takeError());
  };
  auto expectError = [&](std::string line, StringRef what) {
    std::string message = importText(good + line + "\n");
    EXPECT_TRUE(StringRef(message).starts_with(path + ":3: ")) << message;
    EXPECT_TRUE(StringRef(message).contains(what)) << message;
    EXPECT_TRUE(StringRef(message).contains("nothing was imported")) << message;
    EXPECT_EQ(StringRef(message).count('\n'), 0u) << message;
    EXPECT_EQ(cantFail(database->getMaxId()), 0);
  };
  expectError("{", "Expected");
  expectError("[]", "expected object");
  // What would take the parser's stack.
  expectError(std::string(1000000, '['), "nested deeper than");
  expectError(R"({"workload": "w"})", "target");
  std::string prefix =
      R"({"workload":"w","target":"t","toolchain":"v","candidate":"c",)";
  expectError(prefix + R"("result":{"status":"splendid"}})", "unknown status");
  expectError(prefix + R"("result":{"status":"ok"},"features":[1,"x"]})",
              "features[1]");
  expectError(prefix + R"("result":{"status":"ok"},"features":[1e300]})",
              "expected a finite number");
  expectError(
      R"({"workload":"w","target":"t","toolchain":"","candidate":"c","result":{"status":"ok"}})",
      "toolchain");
  EXPECT_EQ(importText(good), "2");
}

TEST_F(DatabaseTest, UnreadableAndUnwritablePaths) {
  std::unique_ptr<Database> database = openOrDie(at("a.db"));
  std::string missing = at("missing/records.jsonl");
  EXPECT_EQ(toString(database->importJSONL(missing).takeError()),
            "cannot read '" + missing + "': No such file or directory");
  std::string message = toString(database->exportJSONL(missing));
  EXPECT_TRUE(StringRef(message).starts_with("cannot write '" + missing + "'"))
      << message;
}

} // namespace
