//===- WorkerPoolTest.cpp - Tests of measuring in workers -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunnerTestUtils.h"

#include "../../lib/Runner/CrashFolder.h"

#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace cwm;
using namespace cwm::test;

namespace {

class WorkerPoolTest : public ::testing::Test {
protected:
  WorkerPoolTest() { options.workDir = folder.get(); }

  std::unique_ptr<WorkerPool> makePool(const Payload &payload) {
    llvm::Expected<std::unique_ptr<WorkerPool>> pool =
        WorkerPool::create(payload, getHardware(), options);
    EXPECT_TRUE(bool(pool));
    if (pool)
      return std::move(*pool);
    ADD_FAILURE() << llvm::toString(pool.takeError());
    return nullptr;
  }

  std::string getCreateError(const Payload &payload) {
    llvm::Expected<std::unique_ptr<WorkerPool>> pool =
        WorkerPool::create(payload, getHardware(), options);
    EXPECT_FALSE(bool(pool));
    return pool ? "" : llvm::toString(pool.takeError());
  }

  /// An executable file of the work folder.
  std::string writeProgram(llvm::StringRef text) {
    std::string path = folder.get("program");
    std::error_code error;
    llvm::raw_fd_ostream out(path, error);
    out << text;
    out.close();
    chmod(path.c_str(), 0700);
    return path;
  }

  TemporaryFolder folder;
  WorkerPoolOptions options;
};

TEST_F(WorkerPoolTest, MeasuresGoodAndBadCandidates) {
  Payload payload = makeMatmul(48, 40, 56);
  std::unique_ptr<WorkerPool> pool = makePool(payload);
  ASSERT_TRUE(pool);
  std::vector<TrialResult> results = measure(
      *pool,
      {makeScript(""), makeTiling({8, 8, 8}), makeTiling({-8, 8, 8}),
       "module { this is no script }",
       makeScript("%1 = transform.structured.interchange %0 "
                  "iterator_interchange = [0, 1] : (!transform.any_op) -> "
                  "!transform.any_op")});
  for (int good : {0, 1}) {
    const TrialResult &result = results[good];
    EXPECT_EQ(result.status, TrialStatus::Ok) << result.reason;
    EXPECT_EQ(result.reason, "");
    EXPECT_GT(result.timeNs, 0);
    EXPECT_GT(result.score, 0);
    EXPECT_GT(result.numRounds, 1);
    EXPECT_GT(result.codeBytes, 0);
    EXPECT_GT(result.transformMs, 0);
    EXPECT_GT(result.lowerMs, 0);
    EXPECT_GT(result.compileMs, 0);
    EXPECT_GT(result.checkMs, 0);
    EXPECT_GT(result.timeMs, 0);
  }
  EXPECT_EQ(results[2].status, TrialStatus::Invalid);
  EXPECT_NE(results[2].reason.find("tile sizes must be at least 0, got -8"),
            std::string::npos);
  EXPECT_EQ(results[3].status, TrialStatus::TransformError);
  EXPECT_NE(results[3].reason.find("the script does not parse"),
            std::string::npos);
  EXPECT_EQ(results[4].status, TrialStatus::TransformError);
  EXPECT_EQ(results[4].reason,
            "script:4:6: transform applied to the wrong op kind; "
            "note: when applied to this op");
}

TEST_F(WorkerPoolTest, InputsOfOneCallAreThoseOfTheNext) {
  // Bufferised by the schedule, this would add up in its argument.
  Payload payload = makePayload(R"mlir(
    func.func @kernel(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %0 = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    })mlir");
  std::unique_ptr<WorkerPool> pool = makePool(payload);
  ASSERT_TRUE(pool);
  std::vector<TrialResult> results = measure(*pool, {makeScript(""), R"mlir(
    module attributes {transform.with_named_sequence} {
      transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
        %0 = transform.bufferization.one_shot_bufferize layout{IdentityLayoutMap} %root
            {bufferize_function_boundaries = true} : (!transform.any_op) -> !transform.any_op
        transform.yield
      }
    })mlir"});
  EXPECT_EQ(results[0].status, TrialStatus::Ok) << results[0].reason;
  EXPECT_EQ(results[1].status, TrialStatus::Ok) << results[1].reason;
}

TEST_F(WorkerPoolTest, MeasuresTogether) {
  Payload payload = makeMatmul(32, 32, 32);
  std::unique_ptr<WorkerPool> pool = makePool(payload);
  ASSERT_TRUE(pool);
  std::vector<TrialResult> results = measure(
      *pool, {makeTiling({4, 4, 4}), makeTiling({0, -1}), makeScript("")},
      /*together=*/true);
  EXPECT_EQ(results[0].status, TrialStatus::Ok) << results[0].reason;
  EXPECT_EQ(results[1].status, TrialStatus::Invalid);
  EXPECT_EQ(results[2].status, TrialStatus::Ok) << results[2].reason;
  EXPECT_EQ(results[0].numRounds, 25);
  EXPECT_EQ(results[2].numRounds, 25);
  EXPECT_GE(pool->getNoiseFloor(), 0.01);
  EXPECT_GT(pool->getBusySeconds(), 0);
}

TEST_F(WorkerPoolTest, LeavesNothingBehindButTheCache) {
  Payload payload = makeMatmul(8, 8, 8);
  std::string stale = folder.get("objects-999999999-0");
  ASSERT_FALSE(llvm::sys::fs::create_directory(stale));
  {
    std::unique_ptr<WorkerPool> pool = makePool(payload);
    ASSERT_TRUE(pool);
    measure(*pool, {makeScript("")});
  }
  std::error_code error;
  std::vector<std::string> names;
  for (llvm::sys::fs::directory_iterator it(folder.get(), error), end;
       it != end; it.increment(error))
    names.push_back(llvm::sys::path::filename(it->path()).str());
  EXPECT_EQ(names, std::vector<std::string>{"cache"});
}

TEST_F(WorkerPoolTest, UnwritableObjectsAreNobodysFault) {
  Payload payload = makeMatmul(8, 8, 8);
  std::unique_ptr<WorkerPool> pool = makePool(payload);
  ASSERT_TRUE(pool);
  // Made with the first object.
  measure(*pool, {makeScript("")});
  // As good as a full disk: the folder of the objects is gone.
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(folder.get(), code), end; it != end;
       it.increment(code))
    if (llvm::sys::path::filename(it->path()).starts_with("objects-"))
      llvm::sys::fs::remove_directories(it->path());
  std::string message = llvm::toString(
      pool->measure({{"k", makeScript("")}}, [](size_t, TrialResult) {
        ADD_FAILURE() << "no candidate has a result";
      }));
  EXPECT_NE(message.find("cannot write object"), std::string::npos) << message;
}

TEST_F(WorkerPoolTest, LostReproducersAreToldOf) {
  Payload payload = makeMatmul(60, 60, 60);
  options.runnerArguments = {"--no-static-rules"};
  std::unique_ptr<WorkerPool> pool = makePool(payload);
  ASSERT_TRUE(pool);
  // As good as a full disk: a file where the folder should be.
  std::error_code code;
  llvm::raw_fd_ostream(folder.get("crashes"), code) << "in the way";
  std::vector<TrialResult> results = measure(*pool, {makeTiling({-8, 0, 0})});
  EXPECT_EQ(results[0].status, TrialStatus::WrongResult);
  EXPECT_EQ(results[0].reproducer, "");
  EXPECT_NE(results[0].reason.find("; no command repeats it: cannot "),
            std::string::npos)
      << results[0].reason;
  EXPECT_NE(results[0].reason.find("/crashes"), std::string::npos);
}

TEST(CrashFolderTest, AFullDiskLeavesNoHalfFile) {
  TemporaryFolder folder;
  std::string script(100000, ' ');
  CrashFolder crashes(folder.get(), "module {}", "0123", "cwm-runner", "");
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 50000;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  llvm::Expected<std::string> command = crashes.add(script);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_DFL);
  ASSERT_FALSE(bool(command)) << *command;
  std::string message = llvm::toString(command.takeError());
  EXPECT_NE(message.find("/script-"), std::string::npos) << message;
  EXPECT_NE(message.find("': the disk is full"), std::string::npos) << message;
  // With space it is written whole, not believed to be there.
  command = crashes.add(script);
  ASSERT_TRUE(bool(command)) << llvm::toString(command.takeError());
  llvm::StringRef path = llvm::StringRef(*command).split("--script=").second;
  auto buffer = llvm::MemoryBuffer::getFile(
      path.take_until([](char c) { return c == ' '; }));
  ASSERT_TRUE(bool(buffer)) << *command;
  EXPECT_EQ((*buffer)->getBuffer(), script);
}

/// Tiles nothing and bufferises nothing: the payload as it is.
const char *identity = R"mlir(
  module attributes {transform.with_named_sequence} {
    transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
      transform.yield
    }
  })mlir";

/// The same, bufferised by the script.
const char *bufferizer = R"mlir(
  module attributes {transform.with_named_sequence} {
    transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
      %0 = transform.bufferization.one_shot_bufferize layout{IdentityLayoutMap} %root
          {bufferize_function_boundaries = true} : (!transform.any_op) -> !transform.any_op
      transform.yield
    }
  })mlir";

/// %c is computed; the return is what is tested.
Payload makeReturning(const std::string &values, const std::string &types) {
  return makePayload(
      "func.func @kernel(%a: tensor<4x6xf32>, %i: tensor<5xi32>) -> (" + types +
      R"mlir() {
      %w = arith.constant dense<[1.5, -2.0, 0.25]> : tensor<3xf32>
      %s = arith.constant dense<7> : tensor<2x2xi32>
      %e = tensor.empty() : tensor<4x6xf32>
      %c = linalg.exp ins(%a : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
      %d = linalg.abs ins(%c : tensor<4x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
      %flat = tensor.collapse_shape %c [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
      %af = tensor.collapse_shape %a [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
      %row = tensor.extract_slice %c[1, 0] [2, 6] [1, 1] : tensor<4x6xf32> to tensor<2x6xf32>
      return )mlir" +
      values + " : " + types + "\n}");
}

TEST_F(WorkerPoolTest, ReturnedValuesMayAlias) {
  std::string c = "tensor<4x6xf32>", i = "tensor<5xi32>",
              flat = "tensor<24xf32>", w = "tensor<3xf32>",
              s = "tensor<2x2xi32>", row = "tensor<2x6xf32>";
  const std::pair<std::string, std::string> cases[] = {
      {"%c, %c", c + ", " + c},
      {"%c, %d", c + ", " + c},
      {"%c, %a", c + ", " + c},
      {"%a, %a, %c, %a", c + ", " + c + ", " + c + ", " + c},
      {"%i, %c, %i", i + ", " + c + ", " + i},
      {"%w, %c, %w", w + ", " + c + ", " + w},
      {"%s, %c, %s", s + ", " + c + ", " + s},
      {"%c, %flat, %row", c + ", " + flat + ", " + row},
      {"%flat, %flat, %af, %row, %row",
       flat + ", " + flat + ", " + flat + ", " + row + ", " + row},
      {"%a", c},
      {"%w", w},
  };
  for (const auto &[values, types] : cases) {
    SCOPED_TRACE(values);
    Payload payload = makeReturning(values, types);
    for (bool stockOnly : {false, true}) {
      options.lowering.stockOnly = stockOnly;
      if (stockOnly && values == "%c, %c") {
        std::string message = getCreateError(payload);
        EXPECT_NE(message.find("results #0 and #1 of @kernel are one value"),
                  std::string::npos)
            << message;
        continue;
      }
      std::unique_ptr<WorkerPool> pool = makePool(payload);
      ASSERT_TRUE(pool);
      for (const TrialResult &result : measure(*pool, {identity, bufferizer}))
        EXPECT_EQ(result.status, TrialStatus::Ok)
            << stockOnly << " " << result.reason;
    }
  }
}

TEST_F(WorkerPoolTest, GathersAndConstantsApart) {
  Payload payload = makePayload(R"mlir(
    func.func @kernel(%i: tensor<6xi32> {cwm.domain = "index", cwm.upper_bound = 3}) -> tensor<6x2xf32> {
      %table = arith.constant dense_resource<w> : tensor<3x2xf32>
      %e = tensor.empty() : tensor<6x2xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}
          ins(%i : tensor<6xi32>) outs(%e : tensor<6x2xf32>) {
      ^bb0(%row: i32, %out: f32):
        %k = arith.index_cast %row : i32 to index
        %column = linalg.index 1 : index
        %x = tensor.extract %table[%k, %column] : tensor<3x2xf32>
        linalg.yield %x : f32
      } -> tensor<6x2xf32>
      return %r : tensor<6x2xf32>
    }
    {-# dialect_resources: { builtin: {
      w: "0x040000000000803F0000004000004040000080400000A0400000C040"
    } } #-})mlir");
  std::unique_ptr<WorkerPool> pool = makePool(payload);
  ASSERT_TRUE(pool);
  std::vector<TrialResult> results = measure(*pool, {identity, bufferizer});
  EXPECT_EQ(results[0].status, TrialStatus::Ok) << results[0].reason;
  EXPECT_EQ(results[1].status, TrialStatus::Ok) << results[1].reason;
}

TEST_F(WorkerPoolTest, RequestStopReturnsEarly) {
  Payload payload = makeMatmul(16, 16, 16);
  std::unique_ptr<WorkerPool> pool = makePool(payload);
  ASSERT_TRUE(pool);
  std::vector<MeasureRequest> requests(20, {"k", makeScript("")});
  unsigned answers = 0;
  ASSERT_FALSE(bool(pool->measure(requests, [&](size_t, TrialResult) {
    ++answers;
    pool->requestStop();
  })));
  EXPECT_GE(answers, 1u);
  EXPECT_LT(answers, 20u);
}

TEST_F(WorkerPoolTest, RetriesWhenAWorkerIsKilledFromOutside) {
  Payload payload = makeMatmul(16, 16, 16);
  std::unique_ptr<WorkerPool> pool = makePool(payload);
  ASSERT_TRUE(pool);
  unsigned before = pool->getNumSpawned();
  bool killed = false;
  std::vector<MeasureRequest> requests(6, {"k", makeScript("")});
  std::vector<TrialResult> results(requests.size());
  ASSERT_FALSE(bool(pool->measure(requests, [&](size_t index, TrialResult r) {
    results[index] = std::move(r);
    if (!killed)
      for (int pid : pool->getWorkerPids())
        kill(pid, SIGKILL);
    killed = true;
  })));
  for (const TrialResult &result : results)
    EXPECT_EQ(result.status, TrialStatus::Ok) << result.reason;
  EXPECT_GT(pool->getNumSpawned(), before);
}

TEST_F(WorkerPoolTest, ReplacesOldWorkers) {
  options.maxCandidatesPerWorker = 1;
  options.numCompileWorkers = 1;
  Payload payload = makeMatmul(8, 8, 8);
  std::unique_ptr<WorkerPool> pool = makePool(payload);
  ASSERT_TRUE(pool);
  std::vector<std::string> scripts(3, makeScript(""));
  for (const TrialResult &result : measure(*pool, scripts))
    EXPECT_EQ(result.status, TrialStatus::Ok) << result.reason;
  EXPECT_GE(pool->getNumSpawned(), 6u);
}

TEST_F(WorkerPoolTest, ReportsWorkersThatCannotStart) {
  Payload payload = makeMatmul(8, 8, 8);
  options.runnerPath = folder.get("nothing-here");
  EXPECT_NE(getCreateError(payload).find("nothing-here"), std::string::npos);
  options.runnerPath = writeProgram("#!/bin/sh\necho no licence >&2\nexit 3\n");
  std::string message = getCreateError(payload);
  EXPECT_NE(message.find("exit code 3: no licence"), std::string::npos)
      << message;
}

TEST_F(WorkerPoolTest, SurvivesGarbageOnTheStream) {
  Payload payload = makeMatmul(8, 8, 8);
  // A worker that starts well and then talks nonsense instead of answering:
  // the first 9000 bytes take it into the request.
  options.runnerPath =
      writeProgram("#!/bin/sh\n"
                   "printf 'CWMF\\016\\0\\0\\0{\"ready\":true}'\n"
                   "case \"$1\" in *compile) head -c 9000 > /dev/null\n"
                   "  printf 'Segmentation fault, core dumped';; esac\n"
                   "exec sleep 100\n");
  std::unique_ptr<WorkerPool> pool = makePool(payload);
  ASSERT_TRUE(pool);
  std::vector<TrialResult> results =
      measure(*pool, {makeScript("") + std::string(20000, ' ')});
  EXPECT_EQ(results[0].status, TrialStatus::Crash);
  EXPECT_NE(results[0].reason.find("garbage"), std::string::npos)
      << results[0].reason;
}

} // namespace
