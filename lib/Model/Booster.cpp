//===- Booster.cpp - Gradient-boosted trees ---------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/Booster.h"

#include "cwm/Model/XGBoostAPI.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;

namespace cwm {

/// A JSON description of an array in memory, as XGBoost takes it.
static std::string describeArray(const void *data, StringRef shape,
                                 StringRef type) {
  return formatv("{{\"data\": [{0}, true], \"shape\": [{1}], "
                 "\"typestr\": \"{2}\", \"version\": 3}",
                 reinterpret_cast<uintptr_t>(data), shape, type);
}

//===----------------------------------------------------------------------===//
// BoosterMatrix
//===----------------------------------------------------------------------===//

BoosterMatrix::BoosterMatrix(BoosterMatrix &&other)
    : api(other.api), handle(std::exchange(other.handle, nullptr)),
      numColumns(other.numColumns) {}

BoosterMatrix &BoosterMatrix::operator=(BoosterMatrix &&other) {
  std::swap(api, other.api);
  std::swap(handle, other.handle);
  std::swap(numColumns, other.numColumns);
  return *this;
}

BoosterMatrix::~BoosterMatrix() {
  if (handle)
    api->matrixFree(handle);
}

Expected<BoosterMatrix> BoosterMatrix::create(const BoosterRows &rows) {
  constexpr char what[] = "cannot train the ranker";
  Expected<const XGBoostAPI *> api = XGBoostAPI::get();
  if (!api)
    return api.takeError();
  BoosterMatrix matrix;
  matrix.api = *api;
  matrix.numColumns = rows.numColumns;
  if (Error error = (*api)->check(
          (*api)->matrixCreate(
              rows.values.data(), rows.labels.size(), rows.numColumns,
              std::numeric_limits<float>::quiet_NaN(), &matrix.handle),
          what))
    return std::move(error);
  if (Error error = (*api)->check(
          (*api)->matrixSetFloats(matrix.handle, "label", rows.labels.data(),
                                  rows.labels.size()),
          what))
    return std::move(error);
  if (rows.groups.empty())
    return std::move(matrix);
  std::string array = describeArray(rows.groups.data(),
                                    std::to_string(rows.groups.size()), "<u4");
  if (Error error = (*api)->check(
          (*api)->matrixSetArray(matrix.handle, "qid", array.c_str()), what))
    return std::move(error);
  return std::move(matrix);
}

//===----------------------------------------------------------------------===//
// Booster
//===----------------------------------------------------------------------===//

Booster::Booster(Booster &&other)
    : api(other.api), handle(std::exchange(other.handle, nullptr)),
      numColumns(other.numColumns), numRounds(other.numRounds) {}

Booster &Booster::operator=(Booster &&other) {
  std::swap(api, other.api);
  std::swap(handle, other.handle);
  std::swap(numColumns, other.numColumns);
  std::swap(numRounds, other.numRounds);
  return *this;
}

Booster::~Booster() {
  if (handle)
    api->boosterFree(handle);
}

Error Booster::setParameters(const Parameters &parameters) {
  for (const auto &[name, value] : parameters)
    if (Error error = api->check(
            api->boosterSetParameter(handle, name.c_str(), value.c_str()),
            "cannot set up the ranker"))
      return error;
  return Error::success();
}

Error Booster::readSizes() {
  uint64_t columns = 0;
  if (Error error = api->check(api->boosterGetNumColumns(handle, &columns),
                               "cannot load the ranker"))
    return error;
  numColumns = columns;
  return api->check(api->boosterGetNumRounds(handle, &numRounds),
                    "cannot load the ranker");
}

Expected<Booster> Booster::create(const BoosterMatrix &matrix,
                                  const Parameters &parameters) {
  Booster booster;
  booster.api = matrix.api;
  booster.numColumns = matrix.numColumns;
  if (Error error = matrix.api->check(
          matrix.api->boosterCreate(&matrix.handle, 1, &booster.handle),
          "cannot train the ranker"))
    return std::move(error);
  if (Error error = booster.setParameters(parameters))
    return std::move(error);
  return std::move(booster);
}

Expected<Booster> Booster::load(StringRef data, const Parameters &parameters) {
  Expected<const XGBoostAPI *> api = XGBoostAPI::get();
  if (!api)
    return api.takeError();
  Booster booster;
  booster.api = *api;
  constexpr char what[] = "cannot load the ranker";
  if (Error error = (*api)->check(
          (*api)->boosterCreate(nullptr, 0, &booster.handle), what))
    return std::move(error);
  if (Error error = (*api)->check(
          (*api)->boosterLoad(booster.handle, data.data(), data.size()), what))
    return std::move(error);
  if (Error error = booster.readSizes())
    return std::move(error);
  // Files lack the number of threads, and all cores are the default: kernels
  // are measured on one of them.
  if (Error error = booster.setParameters({{"nthread", "1"}}))
    return std::move(error);
  if (Error error = booster.setParameters(parameters))
    return std::move(error);
  return std::move(booster);
}

Error Booster::update(int round, const BoosterMatrix &matrix) {
  if (Error error = api->check(api->boosterUpdate(handle, round, matrix.handle),
                               "cannot train the ranker"))
    return error;
  numRounds = round + 1;
  return Error::success();
}

Expected<std::vector<float>> Booster::predict(ArrayRef<float> rows,
                                              size_t columns) const {
  if (columns != numColumns)
    return createStringError(
        formatv("the ranker was trained on {0} features, got {1}", numColumns,
                columns)
            .str());
  if (rows.empty())
    return std::vector<float>();
  const size_t numRows = rows.size() / columns;
  std::string array = describeArray(
      rows.data(), std::to_string(numRows) + ", " + std::to_string(columns),
      "<f4");
  const uint64_t *shape = nullptr;
  uint64_t dimensions = 0;
  const float *result = nullptr;
  if (Error error = api->check(
          api->boosterPredict(
              handle, array.c_str(),
              "{\"type\": 1, \"iteration_begin\": 0, \"iteration_end\": 0, "
              "\"strict_shape\": false, \"cache_id\": 0, \"missing\": NaN, "
              "\"training\": false}",
              nullptr, &shape, &dimensions, &result),
          "the ranker cannot predict"))
    return std::move(error);
  uint64_t length = dimensions ? 1 : 0;
  for (uint64_t i = 0; i < dimensions; ++i)
    length *= shape[i];
  if (length != numRows)
    return createStringError("the ranker's prediction has the wrong length");
  return std::vector<float>(result, result + numRows);
}

Expected<std::string> Booster::serialize() const {
  uint64_t length = 0;
  const char *data = nullptr;
  if (Error error = api->check(
          api->boosterSave(handle, "{\"format\": \"ubj\"}", &length, &data),
          "cannot save the ranker"))
    return std::move(error);
  return std::string(data, length);
}

Expected<Booster> Booster::slice(int rounds) const {
  Booster part;
  part.api = api;
  if (Error error =
          api->check(api->boosterSlice(handle, 0, rounds, 1, &part.handle),
                     "cannot cut the ranker"))
    return std::move(error);
  if (Error error = part.readSizes())
    return std::move(error);
  return std::move(part);
}

Booster::Parameters getOnlineParameters(int maxDepth, double learningRate,
                                        uint64_t seed) {
  // One thread: the result is then the same each time, and so few rows gain
  // nothing from more. min_child_weight is a sum of second derivatives, which
  // are far below 1 in a ranking of a few dozen candidates. All pairs of a run
  // of 128 trials count: on synthetic spaces 64 trials then order 83 % of pairs
  // right, against 66 % with the best 16 only.
  return {
      {"validate_parameters", "true"},
      {"objective", "rank:ndcg"},
      {"ndcg_exp_gain", "false"},
      {"lambdarank_pair_method", "topk"},
      {"lambdarank_num_pair_per_sample", "128"},
      {"tree_method", "hist"},
      {"nthread", "1"},
      {"seed", std::to_string(seed % (1U << 31))},
      {"max_depth", std::to_string(maxDepth)},
      {"eta", formatv("{0:f6}", learningRate).str()},
      {"min_child_weight", "0.01"},
      {"lambda", "0.3"},
  };
}

float computeRelevance(bool isOk, double score, double best) {
  double relative = isOk && best > 0 ? score / best : 0;
  return static_cast<float>(31 * std::sqrt(std::max(relative, 0.0)));
}

} // namespace cwm
