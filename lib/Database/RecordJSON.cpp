//===- RecordJSON.cpp - Records as JSON objects -----------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Database/RecordJSON.h"

#include <cmath>
#include <limits>

using namespace llvm;

namespace cwm {

static json::Array floatsToJSON(ArrayRef<float> values) {
  json::Array array;
  array.reserve(values.size());
  for (float value : values)
    array.push_back(static_cast<double>(value));
  return array;
}

/// Absent means empty.
static bool floatsFromJSON(const json::Object &object, StringRef key,
                           std::vector<float> &values, json::Path path) {
  values.clear();
  const json::Value *value = object.get(key);
  if (!value)
    return true;
  const json::Array *array = value->getAsArray();
  if (!array) {
    path.field(key).report("expected an array of numbers");
    return false;
  }
  values.reserve(array->size());
  for (const auto &[index, element] : enumerate(*array)) {
    std::optional<double> number = element.getAsNumber();
    float narrow = number ? static_cast<float>(*number) : 0;
    if (!number || !std::isfinite(narrow)) {
      path.field(key).index(index).report("expected a finite number");
      return false;
    }
    values.push_back(narrow);
  }
  return true;
}

json::Value toJSON(const Record &record) {
  return json::Object{
      {"workload", record.workload},
      {"target", record.target},
      {"toolchain", record.toolchain},
      {"candidate", record.candidate},
      {"provenance", record.provenance},
      {"round", record.round},
      {"predicted", record.predicted},
      {"created_at", record.createdAt},
      {"actions", json::Array(record.actions)},
      {"features", floatsToJSON(record.features)},
      {"hardware", floatsToJSON(record.hardware)},
      {"result", toJSON(record.result)},
  };
}

bool fromJSON(const json::Value &value, Record &record, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("workload", record.workload) ||
      !map.map("target", record.target) ||
      !map.map("toolchain", record.toolchain) ||
      !map.map("candidate", record.candidate) ||
      !map.mapOptional("provenance", record.provenance) ||
      !map.mapOptional("round", record.round) ||
      !map.mapOptional("predicted", record.predicted) ||
      !map.mapOptional("created_at", record.createdAt) ||
      !map.mapOptional("actions", record.actions) ||
      !map.map("result", record.result))
    return false;
  const std::pair<StringRef, const std::string *> required[] = {
      {"workload", &record.workload},
      {"target", &record.target},
      {"toolchain", &record.toolchain},
      {"candidate", &record.candidate}};
  for (const auto &[key, text] : required) {
    if (!text->empty())
      continue;
    path.field(key).report("expected a text that is not empty");
    return false;
  }
  const json::Object &object = *value.getAsObject();
  return floatsFromJSON(object, "features", record.features, path) &&
         floatsFromJSON(object, "hardware", record.hardware, path);
}

/// Finite, and without the sign of zero; NaN and infinities become `otherwise`.
template <typename T> static void normalizeNumber(T &number, T otherwise) {
  number = std::isfinite(number) ? number + T(0) : otherwise;
}

void normalize(Record &record) {
  for (std::string *text :
       {&record.workload, &record.target, &record.toolchain, &record.candidate,
        &record.provenance, &record.createdAt, &record.result.reason,
        &record.result.reproducer})
    if (!json::isUTF8(*text))
      *text = json::fixUTF8(*text);
  for (std::string &text : record.actions)
    if (!json::isUTF8(text))
      text = json::fixUTF8(text);
  TrialResult &result = record.result;
  for (double *number :
       {&record.predicted, &result.timeNs, &result.score, &result.scoreSpread,
        &result.transformMs, &result.lowerMs, &result.compileMs,
        &result.checkMs, &result.timeMs})
    normalizeNumber(*number, 0.0);
  normalizeNumber(result.maxError, std::numeric_limits<double>::max());
  for (std::vector<float> *numbers : {&record.features, &record.hardware})
    for (float &number : *numbers)
      normalizeNumber(number, 0.0f);
}

} // namespace cwm
