//===- TestUtils.cpp - Synthetic spaces and measurements --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtils.h"

#include "cwm/Model/RankerScorer.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <numeric>

using namespace llvm;
using namespace cwm;
using namespace cwm::test;

TrialResult cwm::test::makeResult(double score) {
  TrialResult result;
  result.status = TrialStatus::Ok;
  result.score = score;
  result.timeNs = 1000 / score;
  return result;
}

TrialResult cwm::test::makeFailure(TrialStatus status, StringRef reason) {
  TrialResult result;
  result.status = status;
  result.reason = reason.str();
  return result;
}

/// "name{a=1,b=2}#hash" -> {a: 1, b: 2}
static Knobs parseKnobs(StringRef id) {
  Knobs knobs;
  StringRef text = id.split('{').second.split('}').first;
  SmallVector<StringRef> pairs;
  text.split(pairs, ',', -1, /*KeepEmpty=*/false);
  for (StringRef pair : pairs) {
    int64_t value = 0;
    EXPECT_FALSE(pair.split('=').second.getAsInteger(10, value)) << id.str();
    knobs[pair.split('=').first.str()] = value;
  }
  return knobs;
}

Error SyntheticMeasurer::measure(ArrayRef<MeasureRequest> requests,
                                 ResultFn onResult) {
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  if (shuffle)
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[uniformBelow(engine, i)]);
  for (size_t index : order) {
    if (stopped)
      return Error::success();
    if (numResults >= dieAfter)
      return createStringError("killed");
    ++counts[requests[index].key];
    ++numResults;
    onResult(index, formula(parseKnobs(requests[index].key)));
    if (numResults >= stopAfter)
      requestStop();
  }
  return Error::success();
}

Error SyntheticMeasurer::measureTogether(ArrayRef<MeasureRequest> requests,
                                         ResultFn onResult) {
  for (const auto &[index, request] : enumerate(requests)) {
    if (stopped)
      return Error::success();
    onResult(index,
             (finalFormula ? finalFormula : formula)(parseKnobs(request.key)));
  }
  return Error::success();
}

SearchTest::SearchTest() : mlirContext(mlir::MLIRContext::Threading::DISABLED) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlirContext.appendDialectRegistry(registry);
  context.workload = "workload";
  context.stateText = "tensor<512x512xf32> linalg.matmul";
  context.hardware = {9, 5, 20};
  options.numTrials = 32;
  options.populationSize = 24;
  options.numGenerations = 2;
  options.onWarning = [this](StringRef message) {
    warnings.push_back(message.str());
  };
}

void SearchTest::SetUp() {
  ASSERT_FALSE(sys::fs::createUniqueDirectory("cwm-search", folder));
}

void SearchTest::TearDown() { sys::fs::remove_directories(folder); }

std::unique_ptr<Space> SearchTest::makeSpace(StringRef source, StringRef name) {
  std::string text =
      ("module attributes {transform.with_named_sequence} {\n"
       "transform.named_sequence @__transform_main(%root: !transform.any_op) "
       "{\n" +
       source + "\ntransform.yield\n}\n}")
          .str();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &mlirContext);
  if (!module) {
    ADD_FAILURE() << "the schedule does not parse";
    return nullptr;
  }
  mlir::FailureOr<std::unique_ptr<Space>> space =
      Space::create(std::move(module), name);
  EXPECT_TRUE(succeeded(space));
  return succeeded(space) ? std::move(*space) : nullptr;
}

std::unique_ptr<Space> SearchTest::makeTileSpace(StringRef name) {
  return makeSpace(R"mlir(
    %mc = transform.tune.knob<"mc"> options = [16, 32, 64, 128, 256] -> !transform.param<i64>
    %nc = transform.tune.knob<"nc"> options = [16, 32, 64, 128, 256] -> !transform.param<i64>
    %kc = transform.tune.knob<"kc"> options = [16, 32, 64, 128, 256] -> !transform.param<i64>
    %mr = transform.tune.knob<"mr"> options = [1, 2, 4, 6, 8, 12, 14, 16] -> !transform.param<i64>
    %nr = transform.tune.knob<"nr"> options = [16, 32, 48, 64] -> !transform.param<i64>
    %kr = transform.tune.knob<"kr"> options = [1, 2, 4, 8] -> !transform.param<i64>
    %op = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %outer, %l:3 = transform.structured.tile_using_for %op tile_sizes [%mc, %nc, %kc]
      : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>)
      -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    %inner, %k:3 = transform.structured.tile_using_for %outer tile_sizes [%mr, %nr, %kr]
      : (!transform.any_op, !transform.param<i64>, !transform.param<i64>, !transform.param<i64>)
      -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.loop.unroll %k#2 {factor = 1, cwm.bind = {factor = {knob = "UNROLL", options = [1, 2, 4]}}} : !transform.any_op
  )mlir",
                   name);
}

// Shaped like measured matrix products: register tiles want 16 to 28
// accumulators, an odd vector width is a cliff, cache tiles matter less, and
// one setting of kr does not compile. The optimum is 100.
TrialResult SearchTest::getTileResult(const Knobs &knobs) {
  double accumulators = double(knobs.at("mr") * knobs.at("nr")) / 16;
  double speed = 100;
  if (accumulators < 16)
    speed *= 0.2 + 0.8 * accumulators / 16;
  if (accumulators > 28)
    speed *= 0.5;
  if (knobs.at("nr") == 48)
    speed *= 0.15;
  speed /= 1 + 0.15 * std::fabs(std::log2(knobs.at("mc") / 64.0));
  speed /= 1 + 0.1 * std::fabs(std::log2(knobs.at("nc") / 128.0));
  speed /= 1 + 0.1 * std::fabs(std::log2(knobs.at("kc") / 128.0));
  speed /= 1 + 0.1 * std::fabs(std::log2(knobs.at("kr") / 4.0));
  speed *= knobs.at("UNROLL") == 2 ? 1 : 0.9;
  if (knobs.at("kr") == 1 && knobs.at("mr") > 4)
    return makeFailure(TrialStatus::CompileTimeout, "took too long");
  return makeResult(speed);
}

std::unique_ptr<Space> SearchTest::makeLine(int64_t numOptions,
                                            StringRef name) {
  std::string list;
  for (int64_t i = 1; i <= numOptions; ++i)
    list += (i > 1 ? ", \"" : "\"") + std::to_string(i) + "\"";
  return makeSpace(
      "transform.annotate %root \"x\" {cwm.bind = {name = {knob = \"x\", "
      "options = [" +
          list + "]}}} : !transform.any_op",
      name);
}

std::unique_ptr<Database> SearchTest::openDatabase(StringRef name) {
  SmallString<128> path = folder;
  sys::path::append(path, name);
  return cantFail(Database::open(path));
}

Expected<SearchSummary> SearchTest::run(Database &database, Measurer &measurer,
                                        Scorer &scorer) {
  Search search(context, "cpu:test", spaces, measurer, scorer, database,
                options);
  return search.run(
      [&](const SearchProgress &now) { progress.push_back(now); });
}

Expected<SearchSummary> SearchTest::run(StringRef name, Measurer &measurer) {
  std::unique_ptr<Database> database = openDatabase(name);
  RankerScorer ranker;
  return run(*database, measurer, ranker);
}

std::map<std::string, double> SearchTest::getRecords(StringRef name) {
  std::map<std::string, double> scores;
  for (const Record &record :
       cantFail(openDatabase(name)->getRecords(context.workload, "cpu:test")))
    scores[record.candidate] = record.result.score;
  return scores;
}
