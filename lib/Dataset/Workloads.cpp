//===- Workloads.cpp - Which workloads training may see ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Dataset/Workloads.h"

#include "cwm/Dataset/Family.h"
#include "cwm/Support/InstalledData.h"
#include "cwm/Support/Nesting.h"
#include "cwm/Support/ReadFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

#include <set>

using namespace llvm;

namespace cwm {

static constexpr int64_t tableVersion = 1;

/// Hex digits of a 128-bit hash.
static bool isHash(StringRef text) {
  return text.size() == 32 && all_of(text, [](char c) {
           return isDigit(c) || (c >= 'a' && c <= 'f');
         });
}

static bool readWorkload(const json::Value &value, KnownWorkload &workload,
                         json::Path path) {
  json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("hash", workload.hash) &&
         mapper.map("family", workload.family) &&
         mapper.map("shape", workload.shape) &&
         mapper.map("networks", workload.networks) &&
         mapper.map("files", workload.files);
}

Expected<WorkloadTable> WorkloadTable::parse(StringRef text, StringRef path) {
  auto fail = [&](const Twine &message) {
    return createStringError("workload table '" + path + "': " + message);
  };
  Expected<json::Value> value = parseJSON(text);
  if (!value)
    return fail(toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  std::optional<int64_t> version =
      object ? object->getInteger("version") : std::nullopt;
  if (version != tableVersion)
    return fail("expected version " + Twine(tableVersion));
  WorkloadTable table;
  json::Path::Root root("table");
  const json::Value *held = object->get("held_out");
  if (!held ||
      !json::fromJSON(*held, table.heldOut, json::Path(root).field("held_out")))
    return fail("expected the names of the networks that are 'held_out'");
  // A table without any would let everything into training.
  if (table.heldOut.empty())
    return fail("no network is held out");
  const json::Array *list = object->getArray("workloads");
  if (!list)
    return fail("expected a list of 'workloads'");
  for (const auto &[index, entry] : enumerate(*list)) {
    KnownWorkload &workload = table.workloads.emplace_back();
    if (!readWorkload(entry, workload,
                      json::Path(root).field("workloads").index(index)))
      return fail(toString(root.getError()));
    if (!isHash(workload.hash))
      return fail("'" + workload.hash + "' is not the hash of a workload");
    if (!table.byHash.try_emplace(workload.hash, index).second)
      return fail("workload " + workload.hash + " is listed twice");
  }
  std::vector<std::string> networks = table.getNetworks();
  for (const std::string &network : table.heldOut)
    if (!is_contained(networks, network))
      return fail("network '" + network + "' is held out and has no workload");
  return table;
}

Expected<WorkloadTable> WorkloadTable::load(StringRef path) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readOwnFile(path);
  if (!buffer)
    return buffer.takeError();
  return parse((*buffer)->getBuffer(), path);
}

std::string WorkloadTable::getDefaultPath() {
  if (const char *path = std::getenv("CWM_WORKLOADS"))
    return path;
  std::string path =
      findInstalledData("workloads.json", "benchmarks/workloads.json");
  return path.empty() ? "benchmarks/workloads.json" : path;
}

const KnownWorkload *WorkloadTable::find(StringRef hash) const {
  auto it = byHash.find(hash);
  return it == byHash.end() ? nullptr : &workloads[it->second];
}

std::vector<std::string> WorkloadTable::getNetworks() const {
  std::set<std::string> names;
  for (const KnownWorkload &workload : workloads)
    for (const auto &network : workload.networks)
      names.insert(network.first);
  return {names.begin(), names.end()};
}

Expected<Split> Split::create(const WorkloadTable &table,
                              const SplitOptions &options) {
  std::vector<std::string> networks = table.getNetworks();
  for (const std::string &name : options.networks)
    if (!is_contained(networks, name))
      return createStringError("no network '" + name +
                               "'; known are: " + join(networks, ", "));
  for (const std::string &name : options.families)
    if (!is_contained(getOperatorFamilies(), name))
      return createStringError(
          "no operator family '" + name +
          "'; known are: " + join(getOperatorFamilies(), ", "));
  return Split(table, options);
}

bool Split::isInHeldOutNetwork(StringRef hash) const {
  const KnownWorkload *known = table.find(hash);
  return known && any_of(known->networks, [&](const auto &network) {
           return is_contained(table.getHeldOutNetworks(), network.first);
         });
}

bool Split::isHeldOut(const WorkloadInfo &workload) const {
  if (isInHeldOutNetwork(workload.hash))
    return true;
  const KnownWorkload *known = table.find(workload.hash);
  if (known && any_of(known->networks, [&](const auto &network) {
        return is_contained(options.networks, network.first);
      }))
    return true;
  if (is_contained(options.families, workload.family))
    return true;
  return options.shapesOneIn > 0 &&
         xxh3_64bits(workload.shape) % options.shapesOneIn == 0;
}

} // namespace cwm
