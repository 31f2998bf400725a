//===- Pool.cpp - Measured random candidates of one workload ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Dataset/Pool.h"

#include "cwm/Support/Nesting.h"
#include "cwm/Support/WriteFile.h"
#include "cwm/Support/Zstd.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace cwm {

static constexpr int64_t poolVersion = 1;
/// Pools are written once and kept: seconds of compression are well spent.
static constexpr int poolCompression = 19;

//===----------------------------------------------------------------------===//
// Making
//===----------------------------------------------------------------------===//

namespace {
/// Numbers texts in the order in which they come.
class Numbering {
public:
  explicit Numbering(std::vector<std::string> &texts) : texts(texts) {}
  uint32_t get(StringRef text) {
    auto [it, isNew] = numbers.try_emplace(text, texts.size());
    if (isNew)
      texts.push_back(text.str());
    return it->second;
  }

private:
  std::vector<std::string> &texts;
  StringMap<uint32_t> numbers;
};
} // namespace

Expected<Pool> makePool(Database &database, PoolHeader header,
                        ArrayRef<std::string> candidates) {
  TrajectoryStore store(database);
  StringRef workload = header.workload.hash;
  Expected<std::vector<Record>> records =
      database.getRecords(workload, header.target);
  if (!records)
    return records.takeError();
  StringMap<Record *> recordOf;
  for (Record &record : *records)
    recordOf[record.candidate] = &record;
  StringMap<TrajectoryRow> rows;
  if (Error error = store.visitTrajectories(workload, [&](TrajectoryRow row) {
        if (row.toolchain == header.toolchain)
          rows[row.candidate] = std::move(row);
        return Error::success();
      }))
    return std::move(error);
  Expected<std::vector<std::string>> texts = store.getActions();
  if (!texts)
    return texts.takeError();

  Pool pool;
  Numbering actions(pool.actions);
  DenseMap<int64_t, uint32_t> states;
  for (const std::string &candidate : candidates) {
    Record *record = recordOf.lookup(candidate);
    if (!record)
      return createStringError("candidate '" + candidate + "' of workload " +
                               workload + " has no record in '" +
                               database.getPath() + "'");
    PoolCandidate &one = pool.candidates.emplace_back();
    one.candidate = candidate;
    one.result = std::move(record->result);
    auto row = rows.find(candidate);
    if (row == rows.end() || row->second.entries.empty()) {
      for (const std::string &action : record->actions)
        one.actions.push_back(actions.get(action));
      continue;
    }
    for (const auto &[place, entry] : enumerate(row->second.entries)) {
      if (entry.action < 0 ||
          entry.action >= static_cast<int64_t>(texts->size()))
        return createStringError("'" + database.getPath() +
                                 "' is corrupt: action " + Twine(entry.action) +
                                 " is missing");
      if (place > 0)
        one.actions.push_back(actions.get((*texts)[entry.action]));
      one.states.push_back(
          entry.state == 0
              ? Dataset::noState
              : states.try_emplace(entry.state, states.size()).first->second);
    }
  }
  pool.header = std::move(header);
  pool.states.resize(states.size());
  Expected<std::vector<TrajectoryStore::StateInfo>> infos = store.getStates();
  if (!infos)
    return infos.takeError();
  for (TrajectoryStore::StateInfo &info : *infos) {
    auto number = states.find(info.id);
    if (number != states.end())
      pool.states[number->second].hash = std::move(info.hash);
  }
  if (Error error = store.visitStateTexts([&](int64_t id, StringRef text) {
        auto number = states.find(id);
        if (number != states.end())
          pool.states[number->second].text = text.str();
        return Error::success();
      }))
    return std::move(error);
  return pool;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static json::Array toNumbers(ArrayRef<uint32_t> values) {
  json::Array array;
  for (uint32_t value : values)
    array.push_back(value == Dataset::noState ? json::Value(nullptr)
                                              : json::Value(value));
  return array;
}

std::string printPool(const Pool &pool) {
  std::string text;
  raw_string_ostream os(text);
  auto write = [&](json::Object line) {
    os << json::Value(std::move(line)) << "\n";
  };
  const PoolHeader &header = pool.header;
  json::Object networks;
  for (const auto &[name, weight] : header.networks)
    networks[name] = weight;
  write(json::Object{{"kind", "pool"},
                     {"version", poolVersion},
                     {"workload", header.workload.hash},
                     {"file", json::fixUTF8(header.workload.file)},
                     {"function", json::fixUTF8(header.workload.function)},
                     {"family", header.workload.family},
                     {"shape", header.workload.shape},
                     {"flops", header.workload.flops},
                     {"bytes", header.workload.bytes},
                     {"networks", std::move(networks)},
                     {"target", header.target},
                     {"hardware", header.hardware},
                     {"toolchain", header.toolchain},
                     {"seed", std::to_string(header.seed)},
                     {"noise_floor", header.noiseFloor},
                     {"candidates", pool.candidates.size()}});
  for (const std::string &action : pool.actions)
    write(json::Object{{"kind", "action"}, {"text", json::fixUTF8(action)}});
  for (const History::State &state : pool.states)
    write(json::Object{{"kind", "state"},
                       {"hash", state.hash},
                       {"text", json::fixUTF8(state.text)}});
  for (const PoolCandidate &one : pool.candidates)
    write(json::Object{{"kind", "candidate"},
                       {"candidate", json::fixUTF8(one.candidate)},
                       {"actions", toNumbers(one.actions)},
                       {"states", toNumbers(one.states)},
                       {"result", toJSON(one.result)}});
  return text;
}

/// Reads a list of numbers below `limit`; null is noState.
static bool fromNumbers(const json::Object &object, StringRef key, size_t limit,
                        bool allowNone, std::vector<uint32_t> &values) {
  const json::Array *array = object.getArray(key);
  if (!array)
    return false;
  for (const json::Value &value : *array) {
    std::optional<int64_t> number = value.getAsInteger();
    if (allowNone && value.getAsNull())
      values.push_back(Dataset::noState);
    else if (number && *number >= 0 && *number < static_cast<int64_t>(limit))
      values.push_back(static_cast<uint32_t>(*number));
    else
      return false;
  }
  return true;
}

static bool readHeader(const json::Value &value, PoolHeader &header,
                       json::Path path) {
  std::string seed;
  json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("workload", header.workload.hash) &&
         mapper.map("file", header.workload.file) &&
         mapper.map("function", header.workload.function) &&
         mapper.map("family", header.workload.family) &&
         mapper.map("shape", header.workload.shape) &&
         mapper.map("flops", header.workload.flops) &&
         mapper.map("bytes", header.workload.bytes) &&
         mapper.map("networks", header.networks) &&
         mapper.map("target", header.target) &&
         mapper.map("hardware", header.hardware) &&
         mapper.map("toolchain", header.toolchain) &&
         mapper.map("seed", seed) &&
         mapper.map("noise_floor", header.noiseFloor) &&
         !StringRef(seed).getAsInteger(10, header.seed);
}

/// One line behind the header; false where it is malformed.
static bool readLine(const json::Object &object, Pool &pool) {
  StringRef kind = object.getString("kind").value_or("");
  if (kind == "action") {
    std::optional<StringRef> text = object.getString("text");
    if (text)
      pool.actions.push_back(text->str());
    return text.has_value();
  }
  if (kind == "state") {
    std::optional<StringRef> hash = object.getString("hash"),
                             text = object.getString("text");
    if (hash && text)
      pool.states.push_back({hash->str(), text->str()});
    return hash && text;
  }
  if (kind != "candidate")
    return false;
  PoolCandidate &one = pool.candidates.emplace_back();
  std::optional<StringRef> candidate = object.getString("candidate");
  const json::Value *result = object.get("result");
  json::Path::Root root;
  if (!candidate || !result || !fromJSON(*result, one.result, root) ||
      !fromNumbers(object, "actions", pool.actions.size(), false,
                   one.actions) ||
      !fromNumbers(object, "states", pool.states.size(), true, one.states))
    return false;
  one.candidate = candidate->str();
  return one.states.empty() || one.states.size() == one.actions.size() + 1;
}

Expected<Pool> parsePool(StringRef text) {
  Pool pool;
  std::optional<int64_t> expected;
  std::unique_ptr<MemoryBuffer> buffer = MemoryBuffer::getMemBufferCopy(text);
  for (line_iterator line(*buffer); !line.is_at_eof(); ++line) {
    auto fail = [&](const Twine &message) {
      return createStringError("line " + Twine(line.line_number()) + ": " +
                               message);
    };
    Expected<json::Value> value = parseJSON(*line);
    if (!value)
      return fail(toString(value.takeError()));
    const json::Object *object = value->getAsObject();
    if (!object)
      return fail("expected an object");
    if (expected) {
      if (!readLine(*object, pool))
        return fail("malformed");
      continue;
    }
    if (object->getString("kind") != "pool")
      return fail("expected the header of a pool");
    if (object->getInteger("version") != poolVersion)
      return fail("expected version " + Twine(poolVersion));
    json::Path::Root root("pool");
    if (!readHeader(*value, pool.header, root))
      return fail("malformed header: " + toString(root.getError()));
    expected = object->getInteger("candidates").value_or(-1);
  }
  if (!expected)
    return createStringError("it is empty");
  if (*expected != static_cast<int64_t>(pool.candidates.size()))
    return createStringError("it has " + Twine(pool.candidates.size()) +
                             " candidates, not " + Twine(*expected));
  return pool;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

std::string getPoolFile(StringRef folder, const WorkloadInfo &workload) {
  SmallString<256> path(folder);
  sys::path::append(path, workload.hash + ".pool.zst");
  return std::string(path);
}

Error writePoolFile(const Pool &pool, StringRef folder) {
  if (std::error_code code = sys::fs::create_directories(folder))
    return createStringError(code, "cannot create '" + folder +
                                       "': " + describeWriteError(code));
  return writeFile(getPoolFile(folder, pool.header.workload),
                   compressZstd(printPool(pool), poolCompression));
}

Expected<Pool> readPoolFile(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readMaybeCompressed(path);
  if (!buffer)
    return buffer.takeError();
  Expected<Pool> pool = parsePool((*buffer)->getBuffer());
  if (!pool)
    return createStringError("pool '" + path +
                             "': " + toString(pool.takeError()));
  return pool;
}

} // namespace cwm
