//===- Worker.cpp - The two kinds of worker ---------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Worker.h"

#include "cwm/Runner/CompileStage.h"
#include "cwm/Runner/FaultHandler.h"
#include "cwm/Runner/Limits.h"
#include "cwm/Runner/MeasureStage.h"
#include "cwm/Target/CPU/OpenMPRuntime.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace llvm;

namespace cwm {

/// A worker that has grown to this size is replaced: contexts keep everything
/// they ever uniqued.
static constexpr uint64_t retireBytes = uint64_t(2) << 30;

namespace {

/// What the first message says.
struct Setup {
  std::unique_ptr<mlir::MLIRContext> context;
  std::optional<Payload> payload;
  HardwareDescription hardware;
  CPULoweringOptions lowering;
  uint64_t seed = 0;
  std::string cacheFolder;
  double compileTimeout = 10;
};

} // namespace

/// Parses and checks the payload of the first message.
static Error readPayload(const json::Object &message, Setup &setup) {
  std::string diagnostics;
  mlir::ScopedDiagnosticHandler handler(setup.context.get(),
                                        [&](mlir::Diagnostic &diagnostic) {
                                          if (diagnostics.empty())
                                            diagnostics = diagnostic.str();
                                          return mlir::success();
                                        });
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(
          message.getString("payload").value_or(""), setup.context.get());
  if (!module)
    return createStringError("the payload does not parse: " + diagnostics);
  mlir::FailureOr<Payload> payload = Payload::create(
      std::move(module), message.getString("function").value_or(""));
  if (mlir::failed(payload))
    return createStringError("the payload is refused: " + diagnostics);
  setup.payload.emplace(std::move(*payload));
  return Error::success();
}

static Error readSetup(const json::Object &message,
                       const mlir::DialectRegistry &registry, Setup &setup) {
  if (message.getString("op") != "init")
    return createStringError("the first message must be 'init'");
  Expected<HardwareDescription> hardware =
      HardwareDescription::fromJSON(message.getString("hardware").value_or(""));
  if (!hardware)
    return hardware.takeError();
  setup.hardware = std::move(*hardware);
  setup.lowering.polynomialMath =
      message.getBoolean("polynomial_math").value_or(true);
  setup.lowering.contract = message.getBoolean("contract").value_or(true);
  setup.lowering.stockOnly = message.getBoolean("stock_only").value_or(false);
  setup.lowering.threads = message.getInteger("threads").value_or(1);
  // A string: JSON numbers hold 53 bits.
  if (message.getString("seed").value_or("0").getAsInteger(10, setup.seed))
    return createStringError("the seed is no number");
  setup.cacheFolder = message.getString("cache").value_or(".").str();
  setup.compileTimeout = message.getNumber("compile_timeout").value_or(10);
  // Without threads: a worker is one of several, and timing wants quiet.
  setup.context = std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
  return readPayload(message, setup);
}

namespace {

/// The worker's end of the stream. Exits when the driver is gone.
class Channel {
public:
  Channel(int input, int output) : input(input), output(output) {}

  std::optional<json::Object> receive() {
    Expected<std::optional<json::Object>> message = readFrame(input, reader);
    if (message)
      return std::move(*message);
    errs() << "cwm-runner: " << toString(message.takeError()) << "\n";
    return std::nullopt;
  }

  void send(json::Object message) {
    if (Error error = writeFrame(output, message)) {
      consumeError(std::move(error));
      _exit(1);
    }
  }

  /// Sends a result, with the wish to be replaced when this process has grown.
  void sendResult(const TrialResult &result, json::Object more = {}) {
    json::Value value = toJSON(result);
    for (auto &entry : more)
      (*value.getAsObject())[entry.first] = std::move(entry.second);
    sendReply(std::move(*value.getAsObject()));
  }

  void sendReply(json::Object reply) {
    if (getResidentBytes() > retireBytes)
      reply["retire"] = true;
    send(std::move(reply));
  }

private:
  int input, output;
  FrameReader reader;
};

} // namespace

static Error writeObject(StringRef path, ArrayRef<char> bytes) {
  std::error_code code;
  raw_fd_ostream out(path, code);
  if (!code) {
    out.write(bytes.data(), bytes.size());
    out.close();
    code = out.error();
    out.clear_error();
  }
  if (code)
    return createStringError(code, "cannot write object '" + path +
                                       "': " + code.message());
  return Error::success();
}

int runCompileWorker(int input, int output,
                     const mlir::DialectRegistry &registry,
                     const WorkerOptions &workerOptions) {
  Channel channel(input, output);
  Setup setup;
  std::optional<json::Object> message = channel.receive();
  if (!message)
    return 1;
  if (Error error = readSetup(*message, registry, setup)) {
    channel.send(json::Object{{"error", toString(std::move(error))}});
    return 1;
  }
  channel.send(json::Object{{"ready", true}});

  CompileOptions options;
  options.staticRules = workerOptions.staticRules;
  options.lowering = setup.lowering;
  while ((message = channel.receive())) {
    // The driver's clock comes first; this is for a driver that is stopped.
    allowCPUSeconds(setup.compileTimeout + 2);
    StringRef script = message->getString("script").value_or("");
    auto announce = [&](StringRef stage) {
      channel.send(json::Object{{"stage", stage}});
    };
    if (message->getString("op") == "record") {
      History history;
      TrialResult result =
          recordCandidate(*setup.payload, script, options, announce, history);
      channel.sendResult(result, json::Object{{"history", toJSON(history)}});
      continue;
    }
    SmallVector<char, 0> object;
    TrialResult result = compileCandidate(
        *setup.payload, script, setup.hardware, options, announce, object);
    Error error = Error::success();
    if (result.isOk())
      error = writeObject(message->getString("object").value_or(""), object);
    if (error) {
      channel.sendReply(json::Object{{"fatal", toString(std::move(error))}});
      continue;
    }
    channel.sendResult(result);
  }
  return 0;
}

/// Where the fault handler writes its last words. -1 when the driver cannot
/// use them: it then learns of the death alone.
static int faultOutput = -1;

/// Answers the request in flight from inside the signal handler: no allocation,
/// one write, exit.
static void reportFault(const char *what, bool outsideOfBuffer) {
  if (faultOutput >= 0) {
    char frame[600];
    int length =
        std::snprintf(frame + 8, sizeof(frame) - 8,
                      "{\"status\":\"%s\",\"reason\":\"%s\",\"retire\":true}",
                      outsideOfBuffer ? "wrong_result" : "crash", what);
    llvm::copy(frameMagic, frame);
    for (int byte = 0; byte < 4; ++byte)
      frame[4 + byte] = char(unsigned(length) >> (8 * byte));
    [[maybe_unused]] ssize_t written = ::write(faultOutput, frame, length + 8);
    _exit(0);
  }
  [[maybe_unused]] ssize_t written = ::write(2, what, strlen(what));
  _exit(3);
}

static json::Object toJSON(ArrayRef<TrialResult> results, double noise) {
  json::Array array;
  for (const TrialResult &result : results)
    array.push_back(cwm::toJSON(result));
  return json::Object{{"results", std::move(array)}, {"noise", noise}};
}

/// Answers one request.
static void serveMeasurement(Channel &channel, MeasureStage &stage,
                             const json::Object &message, int output) {
  MeasureStage::Options options;
  options.bestScore = message.getNumber("best_score").value_or(0);
  options.runTimeoutSeconds = message.getNumber("run_timeout").value_or(10);
  options.estimateNoise = message.getBoolean("estimate_noise").value_or(false);
  auto announce = [&](StringRef name, double timeout) {
    channel.send(json::Object{{"stage", name}, {"timeout", timeout}});
  };
  if (const json::Array *objects = message.getArray("objects")) {
    std::vector<std::string> paths;
    for (const json::Value &path : *objects)
      paths.push_back(path.getAsString().value_or("").str());
    channel.sendReply(toJSON(stage.measureTogether(paths, options, announce),
                             stage.getNoise()));
    return;
  }
  faultOutput = output;
  TrialResult result = stage.measure(message.getString("object").value_or(""),
                                     options, announce);
  faultOutput = -1;
  json::Object more;
  if (options.estimateNoise && stage.getNoise() > 0)
    more["noise"] = stage.getNoise();
  channel.sendResult(result, std::move(more));
}

static int serveMeasurements(int input, int output,
                             const mlir::DialectRegistry &registry) {
  Channel channel(input, output);
  Setup setup;
  std::optional<json::Object> message = channel.receive();
  if (!message)
    return 1;
  auto giveUp = [&](Error error) {
    channel.send(json::Object{{"error", toString(std::move(error))}});
    return 1;
  };
  if (Error error = readSetup(*message, registry, setup))
    return giveUp(std::move(error));
  if (Error error = loadOpenMPRuntime(setup.lowering.threads))
    return giveUp(std::move(error));
  channel.send(json::Object{{"stage", referenceStage}});
  Expected<std::unique_ptr<MeasureStage>> stage = MeasureStage::create(
      *setup.payload, setup.hardware, setup.seed, setup.cacheFolder,
      setup.lowering.threads,
      [&] { channel.send(json::Object{{"stage", evaluationStage}}); });
  if (!stage)
    return giveUp(stage.takeError());
  // A candidate that wants too much gets a null pointer, not the system's
  // attention; a twentieth is for everybody else.
  uint64_t available = getAvailableBytes();
  if (available != 0)
    limitMoreMemory(available - available / 20);
  channel.send(
      json::Object{{"ready", true}, {"tolerance", (*stage)->getTolerance()}});
  while ((message = channel.receive()))
    serveMeasurement(channel, **stage, *message, output);
  return 0;
}

/// What a thread gets by default, and so what a user of the kernel has.
static constexpr size_t kernelStackBytes = size_t(8) << 20;

int runMeasureWorker(int input, int output,
                     const mlir::DialectRegistry &registry,
                     const WorkerOptions &options) {
  installFaultHandlers(reportFault);
  int code = 1;
  Error error = runOnGuardedStack(kernelStackBytes, [&] {
    code = serveMeasurements(input, output, registry);
  });
  if (error) {
    errs() << "cwm-runner: " << toString(std::move(error)) << "\n";
    return 1;
  }
  return code;
}

} // namespace cwm
