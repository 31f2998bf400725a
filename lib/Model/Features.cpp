//===- Features.cpp - phi: a candidate's actions as numbers -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/Features.h"

#include "ActionParameters.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cmath>

using namespace llvm;

namespace cwm {

namespace {
/// Actions that are counted by name. The order is part of the layout.
constexpr StringLiteral knownActions[] = {
    "structured.tile_using_for",
    "structured.tile_using_forall",
    "structured.fuse",
    "structured.fuse_into_containing_op",
    "structured.tile_reduction_using_for",
    "structured.pack",
    "structured.pack_transpose",
    "structured.pad",
    "structured.vectorize",
    "structured.vectorize_children_and_apply_patterns",
    "structured.interchange",
    "structured.generalize",
    "structured.decompose",
    "structured.split",
    "structured.split_reduction",
    "structured.lower_pack",
    "structured.lower_unpack",
    "structured.convert_conv2d_to_img2col",
    "loop.unroll",
    "loop.peel",
    "loop.pipeline",
    "loop.hoist_loop_invariant_subsets",
    "apply_patterns",
    "apply_registered_pass",
    "apply_cse",
    "apply_licm",
    "bufferization.one_shot_bufferize",
    "structured.hoist_pad",
};

// The layout; docs/Features.md says what each field means.
constexpr size_t kindBegin = 0, otherKinds = 4;
constexpr size_t derivedBegin = 32;
constexpr size_t sizeListBegin = 48, numSizeLists = 8, sizeListWidth = 6;
constexpr size_t workloadBegin = 96;
constexpr size_t numberBegin = 112, numNumberBuckets = 112;
constexpr size_t categoryBegin = 224, numCategoryBuckets = 32;
static_assert(kindBegin + std::size(knownActions) + otherKinds == derivedBegin);
static_assert(sizeListBegin + numSizeLists * sizeListWidth == workloadBegin);
static_assert(workloadBegin + 16 == numberBegin);
static_assert(numberBegin + numNumberBuckets == categoryBegin);
static_assert(categoryBegin + numCategoryBuckets == numFeatures);
} // namespace

/// log2(1 + |value|) with the sign of `value`.
static float logScale(double value) {
  float magnitude = std::log2(1 + std::fabs(value));
  return value < 0 ? -magnitude : magnitude;
}

//===----------------------------------------------------------------------===//
// Workload
//===----------------------------------------------------------------------===//

WorkloadFeatures::WorkloadFeatures(StringRef stateText) {
  double totalElements = 0;
  unsigned numTypes = 0, numOps = 0;
  for (StringRef rest = stateText;;) {
    rest = rest.split("tensor<").second;
    if (rest.empty())
      break;
    double elements = 1;
    int64_t extent;
    while (!rest.consumeInteger(10, extent) && rest.consume_front("x")) {
      elements *= extent;
      if (extent > 1)
        extents.push_back(extent);
    }
    maxElements = std::max(maxElements, elements);
    totalElements += elements;
    ++numTypes;
  }
  for (StringRef rest = stateText;;) {
    rest = rest.split("linalg.").second;
    if (rest.empty())
      break;
    StringRef name =
        rest.take_while([](char c) { return isAlnum(c) || c == '_'; });
    if (name == "yield" || name == "index")
      continue;
    ++numOps;
    values[8 + xxh3_64bits(name) % 8] += 1;
  }
  llvm::sort(extents);
  extents.erase(llvm::unique(extents), extents.end());
  values[0] = logScale(maxElements);
  values[1] = logScale(totalElements);
  values[2] = numTypes;
  values[3] = numOps;
  if (extents.empty())
    return;
  values[4] = logScale(extents.front());
  values[5] = logScale(extents.back());
  values[6] = extents.size();
  values[7] = double(count_if(extents, [](int64_t e) { return e % 16 == 0; })) /
              extents.size();
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

namespace {
/// What a parameter means for the derived features.
enum class ParameterRole : uint8_t { Other, Sizes, Permutation, Factor };

struct ParsedParameter {
  uint64_t keyHash = 0, valueHash = 0;
  SmallVector<int64_t, 8> numbers;
  /// logScale of each.
  SmallVector<float, 8> logs;
  bool isCategory = false;
  ParameterRole role = ParameterRole::Other;
};
} // namespace

struct FeatureTable::Parsed {
  size_t kind = 0;
  /// Equal for equal names.
  unsigned nameNumber = 0;
  uint64_t nameHash = 0;
  std::vector<ParsedParameter> parameters;
};

static ParsedParameter parseParameter(const ActionParameter &parameter) {
  ParsedParameter parsed;
  StringRef key = parameter.key;
  parsed.keyHash = xxh3_64bits(key);
  parsed.valueHash = xxh3_64bits(parameter.value);
  parsed.numbers = parameter.numbers;
  for (int64_t number : parameter.numbers)
    parsed.logs.push_back(logScale(number));
  parsed.isCategory = parameter.isCategory;
  if (parameter.numbers.empty())
    return parsed;
  if (key.contains("size"))
    parsed.role = ParameterRole::Sizes;
  else if (key.contains("interchange") || key.contains("perm"))
    parsed.role = ParameterRole::Permutation;
  else if (key.contains("factor"))
    parsed.role = ParameterRole::Factor;
  return parsed;
}

FeatureTable::FeatureTable(WorkloadFeatures workload)
    : workload(std::move(workload)) {}
FeatureTable::~FeatureTable() = default;

const FeatureTable::Parsed &FeatureTable::parse(const Action &action) {
  std::unique_ptr<Parsed> &parsed = actions[action.text];
  if (parsed)
    return *parsed;
  parsed = std::make_unique<Parsed>();
  const StringLiteral *known = llvm::find(knownActions, action.name);
  parsed->nameHash = xxh3_64bits(action.name);
  parsed->kind = known - std::begin(knownActions);
  if (known == std::end(knownActions))
    parsed->kind += parsed->nameHash % otherKinds;
  parsed->nameNumber =
      names.try_emplace(action.name, names.size()).first->second;
  visitParameters(action.text, [&](const ActionParameter &parameter) {
    parsed->parameters.push_back(parseParameter(parameter));
  });
  return *parsed;
}

namespace {
/// Collects over the actions of one candidate.
class FeatureBuilder {
public:
  explicit FeatureBuilder(const WorkloadFeatures &workload)
      : workload(workload), features(numFeatures, 0.0f) {
    llvm::copy(workload.getValues(), features.begin() + workloadBegin);
  }

  void add(const FeatureTable::Parsed &action);
  std::vector<float> finish();

private:
  void addParameter(uint64_t place, const ParsedParameter &parameter);
  void addSizes(ArrayRef<int64_t> sizes);
  void addPermutation(ArrayRef<int64_t> order);
  void addSizeStatistics();

  const WorkloadFeatures &workload;
  std::vector<float> features;
  /// By number of the name: how many actions had it.
  SmallVector<unsigned, 32> occurrences;
  unsigned numActions = 0, numNumbers = 0, numLists = 0;
  unsigned numPermutations = 0, numDisplaced = 0;
  double unrollFactors = 1;
  /// All sizes above 1, and the products of lists that have one.
  SmallVector<int64_t, 32> sizes;
  SmallVector<double, 16> products;
};
} // namespace

void FeatureBuilder::add(const FeatureTable::Parsed &action) {
  ++numActions;
  features[kindBegin + action.kind] += 1;

  // The same parameter of the n-th action of a kind has one bucket for all
  // candidates and workloads.
  if (occurrences.size() <= action.nameNumber)
    occurrences.resize(action.nameNumber + 1);
  uint64_t place = action.nameHash + occurrences[action.nameNumber]++;
  for (const ParsedParameter &parameter : action.parameters)
    addParameter(place * 0x9e3779b97f4a7c15ull ^ parameter.keyHash, parameter);
}

void FeatureBuilder::addParameter(uint64_t place,
                                  const ParsedParameter &parameter) {
  for (const auto &[index, log] : enumerate(parameter.logs)) {
    uint64_t bucket = (place + index * 0xd6e8feb86659fd93ull) >> 32;
    features[numberBegin + bucket % numNumberBuckets] += log;
    ++numNumbers;
  }
  if (parameter.isCategory) {
    uint64_t bucket = (place ^ parameter.valueHash) >> 16;
    features[categoryBegin + bucket % numCategoryBuckets] += 1;
  }
  switch (parameter.role) {
  case ParameterRole::Other:
    break;
  case ParameterRole::Sizes:
    addSizes(parameter.numbers);
    break;
  case ParameterRole::Permutation:
    addPermutation(parameter.numbers);
    break;
  case ParameterRole::Factor:
    unrollFactors *= std::max<int64_t>(parameter.numbers.front(), 1);
    break;
  }
}

void FeatureBuilder::addSizes(ArrayRef<int64_t> list) {
  double product = 1;
  for (int64_t size : list) {
    if (size <= 1)
      continue;
    product *= size;
    sizes.push_back(size);
  }
  if (product > 1)
    products.push_back(product);
  if (numLists < numSizeLists) {
    float *slot = &features[sizeListBegin + numLists * sizeListWidth];
    for (const auto &[index, size] :
         enumerate(list.take_front(sizeListWidth - 1)))
      slot[index] = logScale(size);
    slot[sizeListWidth - 1] = logScale(product);
  }
  ++numLists;
}

void FeatureBuilder::addPermutation(ArrayRef<int64_t> order) {
  ++numPermutations;
  for (const auto &[index, from] : enumerate(order))
    numDisplaced += from != int64_t(index);
}

void FeatureBuilder::addSizeStatistics() {
  float *derived = &features[derivedBegin];
  if (sizes.empty())
    return;
  unsigned powers = 0, dividing = 0, aligned = 0;
  double waste = 0;
  for (int64_t size : sizes) {
    powers += isPowerOf2_64(size);
    aligned += size % 16 == 0;
    // Of the extents, the one that the size fits best: which dimension it
    // belongs to is not known from the text.
    double best = workload.getExtents().empty() ? 0 : 32;
    for (int64_t extent : workload.getExtents()) {
      int64_t padded = (extent + size - 1) / size * size;
      best = std::min(best, std::log2(double(padded) / extent));
    }
    dividing += best == 0;
    waste += best;
  }
  double count = sizes.size();
  derived[3] = logScale(*llvm::min_element(sizes));
  derived[4] = logScale(*llvm::max_element(sizes));
  derived[5] = powers / count;
  derived[6] = dividing / count;
  derived[7] = aligned / count;
  derived[8] = waste / count;
  derived[9] = logScale(*llvm::min_element(products));
  derived[10] = logScale(*llvm::max_element(products));
  derived[11] = logScale(workload.getMaxElements() / products.front());
}

std::vector<float> FeatureBuilder::finish() {
  float *derived = &features[derivedBegin];
  derived[0] = logScale(numActions);
  derived[1] = logScale(numNumbers);
  derived[2] = numLists;
  addSizeStatistics();
  derived[12] = logScale(unrollFactors);
  derived[13] = numPermutations;
  derived[14] = numDisplaced;
  return std::move(features);
}

std::vector<float> FeatureTable::compute(ArrayRef<const Action *> candidate) {
  FeatureBuilder builder(workload);
  for (const Action *action : candidate)
    builder.add(parse(*action));
  return builder.finish();
}

std::vector<float> computeFeatures(ArrayRef<Action> actions,
                                   const WorkloadFeatures &workload) {
  return FeatureTable(workload).compute(getPointers(actions));
}

} // namespace cwm
