//===- FaultTest.cpp - Tests with kernels and scripts that kill -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunnerTestUtils.h"
#include "cwm/Runner/Limits.h"
#include "cwm/Runner/WorkerProcess.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <csignal>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cwm;
using namespace cwm::test;

namespace {

std::string getRunnerPath() {
  std::string self = llvm::sys::fs::getMainExecutable(nullptr, nullptr);
  llvm::StringRef build =
      llvm::sys::path::parent_path(llvm::sys::path::parent_path(self));
  return build.str() + "/bin/cwm-runner";
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A measure worker for the payload `result = copy of input` of `numElements`
/// f32, driven by hand with objects made of LLVM dialect text.
class KernelFaultTest : public ::testing::Test {
protected:
  void start(int64_t numElements) {
    std::string type = "tensor<" + std::to_string(numElements) + "xf32>";
    std::string text =
        "#map = affine_map<(d0) -> (d0)>\n"
        "func.func @kernel(%x: " +
        type + ") -> " + type + " {\n  %empty = tensor.empty() : " + type +
        "\n  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types "
        "= [\"parallel\"]} ins(%x : " +
        type + ") outs(%empty : " + type +
        ") {\n  ^bb0(%in: f32, %out: f32):\n"
        "    %zero = arith.constant 0.0 : f32\n"
        "    %sum = arith.addf %in, %zero : f32\n"
        "    linalg.yield %sum : f32\n  } -> " +
        type + "\n  return %r : " + type + "\n}\n";
    auto spawned = WorkerProcess::spawn({getRunnerPath(), "--role=measure"},
                                        ProcessLimits());
    ASSERT_TRUE(bool(spawned));
    worker = std::move(*spawned);
    worker->send(llvm::json::Object{{"op", "init"},
                                    {"payload", text},
                                    {"function", ""},
                                    {"hardware", getHardware().toJSON()},
                                    {"seed", "0"},
                                    {"cache", folder.get()}});
    std::optional<llvm::json::Object> reply = receive();
    ASSERT_TRUE(reply && reply->getBoolean("ready")) << describe(reply);
  }

  static std::string describe(const std::optional<llvm::json::Object> &reply) {
    if (!reply)
      return "no reply";
    return llvm::formatv("{0}", llvm::json::Value(llvm::json::Object(*reply)));
  }

  /// The next message that is not a stage; nullopt when the worker dies or
  /// says nothing for `seconds`.
  std::optional<llvm::json::Object> receive(double seconds = 120) {
    auto until = std::chrono::steady_clock::now() +
                 std::chrono::milliseconds(int64_t(seconds * 1000));
    while (std::chrono::steady_clock::now() < until) {
      bool alive = worker->pump();
      auto message = worker->receive();
      if (!message) {
        ADD_FAILURE() << llvm::toString(message.takeError());
        return std::nullopt;
      }
      if (*message && !(*message)->get("stage"))
        return std::move(**message);
      if (*message)
        continue;
      if (!alive)
        return std::nullopt;
      pollfd descriptor{worker->getStream(), POLLIN, 0};
      poll(&descriptor, 1, 100);
    }
    return std::nullopt;
  }

  /// Compiles a kernel whose body is `body`, with %x and %r its buffers, and
  /// measures it.
  TrialResult measureKernel(llvm::StringRef body,
                            llvm::StringRef declarations = "") {
    std::string text = declarations.str() +
                       "\nllvm.func @kernel(%x: !llvm.ptr, %r: !llvm.ptr) {\n" +
                       body.str() + "\n  llvm.return\n}\n";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &getContext());
    EXPECT_TRUE(bool(module)) << text;
    auto object = compileToObject(*module, "kernel", getHardware());
    EXPECT_TRUE(bool(object));
    std::string path = folder.get("kernel.o");
    std::error_code error;
    llvm::raw_fd_ostream(path, error).write(object->data(), object->size());
    return measureObject(path);
  }

  TrialResult measureObject(const std::string &path) {
    worker->send(llvm::json::Object{
        {"op", "measure"}, {"object", path}, {"run_timeout", 10}});
    std::optional<llvm::json::Object> reply = receive();
    TrialResult result;
    llvm::json::Path::Root root;
    if (!reply || !fromJSON(llvm::json::Value(std::move(*reply)), result, root))
      ADD_FAILURE() << describe(reply);
    return result;
  }

  /// Text that copies the whole input to the result.
  static std::string copyAll(int64_t numBytes) {
    return "  %n = llvm.mlir.constant(" + std::to_string(numBytes) +
           " : i64) : i64\n  \"llvm.intr.memcpy\"(%r, %x, %n) <{isVolatile = "
           "false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()\n";
  }
  /// Text that stores 4 bytes at byte `offset` of `buffer`.
  static std::string storeAt(llvm::StringRef buffer, int64_t offset) {
    return "  %v = llvm.mlir.constant(1.0 : f32) : f32\n  %p = "
           "llvm.getelementptr " +
           buffer.str() + "[" + std::to_string(offset) +
           "] : (!llvm.ptr) -> !llvm.ptr, i8\n"
           "  llvm.store volatile %v, %p {alignment = 1 : i64} : f32, "
           "!llvm.ptr\n";
  }

  TemporaryFolder folder;
  std::unique_ptr<WorkerProcess> worker;
};

TEST_F(KernelFaultTest, GoodKernelPasses) {
  start(256);
  TrialResult result = measureKernel(copyAll(1024));
  EXPECT_EQ(result.status, TrialStatus::Ok) << result.reason;
  EXPECT_EQ(result.maxError, 0);
  EXPECT_GT(result.timeNs, 0);
}

TEST_F(KernelFaultTest, WriteBehindTheEndHitsTheGuardPage) {
  start(256);
  TrialResult result = measureKernel(copyAll(1024) + storeAt("%r", 1024));
  EXPECT_EQ(result.status, TrialStatus::WrongResult);
  EXPECT_EQ(result.reason,
            "wrote outside of result 0 (0 bytes behind its end)");
}

TEST_F(KernelFaultTest, WriteInFrontHitsTheGuardPage) {
  start(256);
  TrialResult result = measureKernel(copyAll(1024) + storeAt("%r", -8192));
  EXPECT_EQ(result.status, TrialStatus::WrongResult);
  EXPECT_EQ(result.reason,
            "wrote outside of result 0 (8192 bytes in front of it)");
}

TEST_F(KernelFaultTest, WriteIntoTheLastLineHitsACanary) {
  start(3);
  TrialResult result = measureKernel(copyAll(12) + storeAt("%r", 12));
  EXPECT_EQ(result.status, TrialStatus::WrongResult);
  EXPECT_EQ(result.reason, "wrote behind the end of result 0");
}

TEST_F(KernelFaultTest, InputsAreReadOnly) {
  start(256);
  TrialResult result = measureKernel(storeAt("%x", 8) + copyAll(1024));
  EXPECT_EQ(result.status, TrialStatus::WrongResult);
  EXPECT_EQ(result.reason, "wrote to input 0");
}

TEST_F(KernelFaultTest, ReadOutsideIsCaughtToo) {
  start(256);
  TrialResult result = measureKernel(
      copyAll(1024) +
      "  %p = llvm.getelementptr %x[5000] : (!llvm.ptr) -> !llvm.ptr, i8\n"
      "  %v = llvm.load volatile %p : !llvm.ptr -> f32\n");
  EXPECT_EQ(result.status, TrialStatus::WrongResult);
  EXPECT_EQ(result.reason,
            "read outside of input 0 (3976 bytes behind its end)");
}

TEST_F(KernelFaultTest, UnwrittenResultsAreNaN) {
  start(256);
  TrialResult result = measureKernel(copyAll(1000));
  EXPECT_EQ(result.status, TrialStatus::WrongResult);
  EXPECT_NE(result.reason.find("result 0 differs at 6 of 256 elements, first "
                               "at [250]: got"),
            std::string::npos)
      << result.reason;
  EXPECT_NE(result.reason.find("nan"), std::string::npos) << result.reason;
}

TEST_F(KernelFaultTest, SecondCallMustAgree) {
  start(256);
  TrialResult result = measureKernel(
      copyAll(1024) + "  %g = llvm.mlir.addressof @state : !llvm.ptr\n"
                      "  %old = llvm.load %g : !llvm.ptr -> f32\n"
                      "  %one = llvm.mlir.constant(1.0 : f32) : f32\n"
                      "  %new = llvm.fadd %old, %one : f32\n"
                      "  llvm.store %new, %g : f32, !llvm.ptr\n"
                      "  %first = llvm.load %r : !llvm.ptr -> f32\n"
                      "  %sum = llvm.fadd %first, %old : f32\n"
                      "  llvm.store %sum, %r : f32, !llvm.ptr\n",
      "llvm.mlir.global internal @state(0.0 : f32) : f32");
  EXPECT_EQ(result.status, TrialStatus::WrongResult);
  EXPECT_EQ(result.reason.find("a second call differs: result 0 differs at 1 "
                               "of 256 elements, first at [0]"),
            0u)
      << result.reason;
}

TEST_F(KernelFaultTest, TemporariesAreGuarded) {
  std::string declare = "llvm.func @cwm_alloc(i64) -> !llvm.ptr\n"
                        "llvm.func @cwm_free(!llvm.ptr)\n";
  auto allocate = [](int64_t size) {
    return "  %s = llvm.mlir.constant(" + std::to_string(size) +
           " : i64) : i64\n  %t = llvm.call @cwm_alloc(%s) : (i64) -> "
           "!llvm.ptr\n";
  };
  std::string release = "  llvm.call @cwm_free(%t) : (!llvm.ptr) -> ()\n";

  start(256);
  TrialResult result = measureKernel(
      copyAll(1024) + allocate(128) + storeAt("%t", 64) + release, declare);
  EXPECT_EQ(result.status, TrialStatus::Ok) << result.reason;
  result = measureKernel(
      copyAll(1024) + allocate(12) + storeAt("%t", 12) + release, declare);
  EXPECT_EQ(result.status, TrialStatus::WrongResult);
  EXPECT_EQ(result.reason, "wrote outside of 1 temporary buffer");
  result =
      measureKernel(copyAll(1024) + allocate(12) + storeAt("%t", 0), declare);
  EXPECT_EQ(result.status, TrialStatus::WrongResult);
  EXPECT_EQ(result.reason, "does not free 1 temporary buffer");
  result = measureKernel(
      copyAll(1024) + allocate(128) + storeAt("%t", 128) + release, declare);
  EXPECT_EQ(result.status, TrialStatus::WrongResult);
  EXPECT_EQ(result.reason, "wrote outside of a temporary buffer");
}

TEST_F(KernelFaultTest, TooLittleMemoryIsNamed) {
#if LLVM_ADDRESS_SANITIZER_BUILD
  GTEST_SKIP() << "memory cannot be limited under AddressSanitizer";
#endif
  // More than any machine has, and what overcommitting systems hand out.
  std::string declare = "llvm.func @cwm_alloc(i64) -> !llvm.ptr\n"
                        "llvm.func @cwm_free(!llvm.ptr)\n";
  auto available = int64_t(getAvailableBytes());
  for (int64_t size :
       {int64_t(1) << 60, int64_t(1) << 46, available + available / 8}) {
    start(256);
    TrialResult result = measureKernel(
        copyAll(1024) + "  %s = llvm.mlir.constant(" + std::to_string(size) +
            " : i64) : i64\n  %t = llvm.call @cwm_alloc(%s) : (i64) -> "
            "!llvm.ptr\n  llvm.call @cwm_free(%t) : (!llvm.ptr) -> ()\n",
        declare);
    EXPECT_EQ(result.status, TrialStatus::Crash);
    EXPECT_EQ(result.reason, "not enough memory: a temporary buffer of " +
                                 std::to_string(size) + " bytes");
  }
}

TEST_F(KernelFaultTest, StackOverflowIsACrash) {
  start(256);
  TrialResult result = measureKernel(
      copyAll(1024) +
          // Unknown to LLVM, which would shrink a buffer it can see through.
          "  %g = llvm.mlir.addressof @size : !llvm.ptr\n"
          "  %size = llvm.load volatile %g : !llvm.ptr -> i64\n"
          "  %big = llvm.alloca %size x i8 : (i64) -> !llvm.ptr\n" +
          storeAt("%big", 0),
      "llvm.mlir.global internal @size(16777216 : i64) : i64");
  EXPECT_EQ(result.status, TrialStatus::Crash);
  EXPECT_EQ(result.reason, "stack overflow in generated code");
}

TEST_F(KernelFaultTest, WildPointerIsACrash) {
  start(256);
  TrialResult result =
      measureKernel("  %a = llvm.mlir.constant(64 : i64) : i64\n"
                    "  %w = llvm.inttoptr %a : i64 to !llvm.ptr\n" +
                    storeAt("%w", 0));
  EXPECT_EQ(result.status, TrialStatus::Crash);
  EXPECT_EQ(result.reason, "signal 11 (segmentation fault) at address 0x40");
}

TEST_F(KernelFaultTest, TrapIsACrash) {
  start(256);
  TrialResult result = measureKernel("  \"llvm.intr.trap\"() : () -> ()\n");
  EXPECT_EQ(result.status, TrialStatus::Crash);
  EXPECT_EQ(result.reason.find("signal 4 (illegal instruction)"), 0u)
      << result.reason;
}

TEST_F(KernelFaultTest, MissingAndBrokenObjects) {
  start(256);
  TrialResult result = measureObject(folder.get("nothing.o"));
  EXPECT_EQ(result.status, TrialStatus::Crash);
  EXPECT_NE(result.reason.find("nothing.o"), std::string::npos);
  std::error_code error;
  llvm::raw_fd_ostream(folder.get("broken.o"), error) << "not an object";
  result = measureObject(folder.get("broken.o"));
  EXPECT_EQ(result.status, TrialStatus::Crash);
  EXPECT_NE(result.reason, "");
  // It is still there for the next one.
  EXPECT_EQ(measureKernel(copyAll(1024)).status, TrialStatus::Ok);
}

TEST_F(KernelFaultTest, WorkerEndsWithItsStream) {
  start(3);
  int pid = worker->getPid();
  worker.reset();
  EXPECT_NE(kill(pid, 0), 0);
}

//===----------------------------------------------------------------------===//
// Scripts
//===----------------------------------------------------------------------===//

class ScriptFaultTest : public ::testing::Test {
protected:
  ScriptFaultTest() {
    options.workDir = folder.get();
    options.numCompileWorkers = 1;
  }
  std::vector<TrialResult> run(const Payload &payload,
                               std::vector<std::string> scripts) {
    auto pool = WorkerPool::create(payload, getHardware(), options);
    if (!pool) {
      ADD_FAILURE() << llvm::toString(pool.takeError());
      return std::vector<TrialResult>(scripts.size());
    }
    return measure(**pool, std::move(scripts));
  }
  TemporaryFolder folder;
  WorkerPoolOptions options;
};

/// Kills the interpreter of MLIR 22.1.
const char *killer =
    "%1, %l = transform.structured.tile_using_forall %0 tile_sizes [0, 0] : "
    "(!transform.any_op) -> (!transform.any_op, !transform.any_op)";

TEST_F(ScriptFaultTest, CrashOfTheInterpreterIsARecord) {
  options.runnerArguments = {"--no-static-rules"};
  std::vector<TrialResult> results =
      run(makeMatmul(16, 16, 16),
          {makeScript(killer), makeScript(""), makeScript(killer)});
  for (int bad : {0, 2}) {
    EXPECT_EQ(results[bad].status, TrialStatus::Crash);
    EXPECT_NE(results[bad].reason.find("the compile worker died of signal 11"),
              std::string::npos)
        << results[bad].reason;
    EXPECT_NE(results[bad].reason.find("during transforming"),
              std::string::npos)
        << results[bad].reason;
  }
  EXPECT_EQ(results[1].status, TrialStatus::Ok) << results[1].reason;

  // The command of the record does it again.
  ASSERT_NE(results[0].reproducer, "");
  int status = std::system(
      (results[0].reproducer + " --no-static-rules > /dev/null 2>&1").c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_TRUE(WEXITSTATUS(status) == 3 || WEXITSTATUS(status) == 139)
      << results[0].reproducer << " exits with " << WEXITSTATUS(status);
  // And with the rules on, it is refused.
  status = std::system((results[0].reproducer + " > /dev/null 2>&1").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST_F(ScriptFaultTest, StaticRulesComeFirst) {
  std::vector<TrialResult> results =
      run(makeMatmul(16, 16, 16), {makeScript(killer)});
  EXPECT_EQ(results[0].status, TrialStatus::Invalid);
  EXPECT_EQ(results[0].reproducer, "");
}

/// A loop of a million iterations, fully unrolled.
const char *unroller =
    "%1, %l = transform.structured.tile_using_for %0 tile_sizes [1, 0, 0] : "
    "(!transform.any_op) -> (!transform.any_op, !transform.any_op)\n"
    "transform.loop.unroll %l {factor = 1000000} : !transform.any_op";

TEST_F(ScriptFaultTest, EndlessCompilationIsATimeout) {
  options.runnerArguments = {"--no-static-rules"};
  options.compileTimeoutSeconds = 1;
  std::vector<TrialResult> results =
      run(makeMatmul(1000000, 1, 1), {makeScript(unroller), makeScript("")});
  EXPECT_EQ(results[0].status, TrialStatus::CompileTimeout)
      << results[0].reason;
  EXPECT_NE(results[0].reason.find("took longer than 1.0 s"), std::string::npos)
      << results[0].reason;
  EXPECT_NE(results[0].reproducer, "");
  EXPECT_EQ(results[1].status, TrialStatus::Ok) << results[1].reason;
}

TEST_F(ScriptFaultTest, CodeExplosionIsATimeout) {
  options.compileTimeoutSeconds = 1;
  // Every multiplication of the matmul becomes an instruction.
  std::vector<TrialResult> results = run(
      makeMatmul(160, 160, 160),
      {makeScript("transform.structured.vectorize %0 : !transform.any_op")});
  EXPECT_EQ(results[0].status, TrialStatus::CompileTimeout)
      << results[0].reason;
}

TEST_F(ScriptFaultTest, MemoryIsLimited) {
#if LLVM_ADDRESS_SANITIZER_BUILD
  GTEST_SKIP() << "address space cannot be limited under AddressSanitizer";
#endif
  options.runnerArguments = {"--no-static-rules"};
  options.compileTimeoutSeconds = 60;
  options.compileMemoryBytes = uint64_t(1) << 30;
  std::vector<TrialResult> results =
      run(makeMatmul(1000000, 1, 1), {makeScript(unroller), makeScript("")});
  EXPECT_EQ(results[0].status, TrialStatus::Crash) << results[0].reason;
  // Where MLIR looks at what malloc returns it says so; elsewhere it faults.
  EXPECT_TRUE(results[0].reason.find("not enough memory: the compile") == 0 ||
              results[0].reason.find("signal 11") != std::string::npos)
      << results[0].reason;
  EXPECT_EQ(results[1].status, TrialStatus::Ok) << results[1].reason;
}

TEST_F(ScriptFaultTest, SilentMiscompilationIsFound) {
  options.runnerArguments = {"--no-static-rules"};
  // MLIR accepts negative steps where the size does not divide, without a word.
  std::vector<TrialResult> results =
      run(makeMatmul(60, 60, 60), {makeTiling({-8, 0, 0}), makeScript("")});
  EXPECT_EQ(results[0].status, TrialStatus::WrongResult) << results[0].reason;
  EXPECT_EQ(results[0].reason.find("result 0 differs at 3600 of 3600 elements"),
            0u)
      << results[0].reason;
  EXPECT_NE(results[0].reproducer, "");
  EXPECT_EQ(results[0].score, 0);
  EXPECT_EQ(results[1].status, TrialStatus::Ok) << results[1].reason;
}

TEST_F(ScriptFaultTest, SlowKernelIsATimeout) {
  // Two billion operations take ten milliseconds at least.
  options.runTimeoutSeconds = 0.002;
  std::vector<TrialResult> results =
      run(makeMatmul(1024, 1024, 1024), {makeScript("")});
  EXPECT_EQ(results[0].status, TrialStatus::RunTimeout) << results[0].reason;
  EXPECT_EQ(results[0].reason.find("checking took longer than"), 0u)
      << results[0].reason;
  EXPECT_NE(results[0].reproducer, "");
}

TEST_F(ScriptFaultTest, FasterThanTheMachineIsWrong) {
  // The matmul is dead: a schedule may drop it, but then the operations that
  // the payload counts were not done.
  Payload payload = makePayload(
      "func.func @kernel(%a: tensor<256x256xf32>, %b: tensor<8xf32>) -> "
      "tensor<8xf32> {\n"
      "  %dead = linalg.matmul ins(%a, %a : tensor<256x256xf32>, "
      "tensor<256x256xf32>) outs(%a : tensor<256x256xf32>) -> "
      "tensor<256x256xf32>\n"
      "  %empty = tensor.empty() : tensor<8xf32>\n"
      "  %r = linalg.exp ins(%b : tensor<8xf32>) outs(%empty : tensor<8xf32>) "
      "-> tensor<8xf32>\n"
      "  return %r : tensor<8xf32>\n}\n");
  std::vector<TrialResult> results =
      run(payload,
          {makeScript("%f = transform.structured.match ops{[\"func.func\"]} in "
                      "%root : (!transform.any_op) -> !transform.any_op\n"
                      "transform.apply_patterns to %f {\n"
                      "  transform.apply_patterns.canonicalization\n"
                      "} : !transform.any_op")});
  EXPECT_EQ(results[0].status, TrialStatus::WrongResult);
  EXPECT_EQ(results[0].reason.find("faster than the machine"), 0u)
      << results[0].reason;
  EXPECT_EQ(results[0].score, 0);
}

//===----------------------------------------------------------------------===//
// The driver's own death
//===----------------------------------------------------------------------===//

/// State letter of a process, 0 when it is gone.
char getProcessState(int pid) {
  auto buffer = llvm::MemoryBuffer::getFileAsStream(
      "/proc/" + std::to_string(pid) + "/stat");
  if (!buffer)
    return 0;
  llvm::StringRef text = (*buffer)->getBuffer();
  size_t end = text.rfind(')');
  return end + 2 < text.size() ? text[end + 2] : 0;
}

TEST_F(ScriptFaultTest, WorkersDieWithTheDriver) {
  Payload payload = makeMatmul(64, 64, 64);
  getHardware();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t driver = fork();
  if (driver == 0) {
    auto pool = WorkerPool::create(payload, getHardware(), options);
    if (!pool)
      _exit(1);
    std::vector<int> pids = (*pool)->getWorkerPids();
    if (write(ends[1], pids.data(), pids.size() * sizeof(int)) < 0)
      _exit(1);
    while (true)
      pause();
  }
  close(ends[1]);
  int pids[2] = {};
  ASSERT_EQ(read(ends[0], pids, sizeof(pids)), ssize_t(sizeof(pids)));
  close(ends[0]);
  for (int pid : pids)
    EXPECT_NE(getProcessState(pid), 0);
  ASSERT_EQ(kill(driver, SIGKILL), 0);
  ASSERT_EQ(waitpid(driver, nullptr, 0), driver);
  // The kernel signals them while the driver is torn down; they may take a
  // moment to go, and stay as zombies where nobody reaps orphans.
  for (int pid : pids) {
    char state = getProcessState(pid);
    for (int attempt = 0; attempt < 5000 && state && state != 'Z'; ++attempt) {
      poll(nullptr, 0, 2);
      state = getProcessState(pid);
    }
    EXPECT_TRUE(state == 0 || state == 'Z') << state;
  }
}

} // namespace
