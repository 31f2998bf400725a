//===- PickStore.cpp - Picks of simulated searches, kept --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PickStore.h"

#include "cwm/Support/Nesting.h"
#include "cwm/Support/WriteFile.h"
#include "cwm/Trajectory/StateText.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace cwm {

PickStore::PickStore(std::string file) : path(std::move(file)) {
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return;
  for (StringRef rest = (*buffer)->getBuffer(); rest.contains('\n');) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    Expected<json::Value> value = parseJSON(line);
    if (!value) {
      // Cut off by a kill: the search is done again.
      consumeError(value.takeError());
      continue;
    }
    const json::Object *object = value->getAsObject();
    const json::Array *list = object ? object->getArray("picks") : nullptr;
    if (!list || !object->getString("key"))
      continue;
    std::vector<uint32_t> &entry = picks[*object->getString("key")];
    entry.clear();
    for (const json::Value &pick : *list)
      entry.push_back(static_cast<uint32_t>(pick.getAsInteger().value_or(0)));
  }
}

const std::vector<uint32_t> *PickStore::find(StringRef key) const {
  auto it = picks.find(key);
  return it == picks.end() ? nullptr : &it->second;
}

Error PickStore::add(StringRef key, ArrayRef<uint32_t> entry) {
  picks[key] = entry.vec();
  std::error_code code;
  raw_fd_ostream os(path, code, sys::fs::OF_Append);
  if (!code) {
    // A line that was cut off does not take this one with it.
    os << "\n"
       << json::Value(json::Object{{"key", key}, {"picks", json::Array(entry)}})
       << "\n";
    os.flush();
    code = os.error();
    os.clear_error();
  }
  if (!code)
    return Error::success();
  return createStringError("cannot write '" + path +
                           "': " + describeWriteError(code));
}

std::string getSearchKey(const RankingTask &task, const RankingInputs &inputs,
                         int64_t trials, uint64_t seed) {
  std::string text = formatv("{0} {1} {2}\n", task.workload.hash, trials, seed);
  for (const RankingTask::Candidate &candidate : task.candidates)
    text += formatv("{0} {1} {2:e17}\n", candidate.name, candidate.isOk,
                    candidate.score);
  text.append(reinterpret_cast<const char *>(inputs.features.data()),
              inputs.features.size() * sizeof(float));
  return hashText(text);
}

} // namespace cwm
