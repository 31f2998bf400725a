//===- CompileStage.cpp - From a bound script to an object ------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/CompileStage.h"

#include "StageTimer.h"
#include "cwm/Passes/Passes.h"
#include "cwm/Runner/StaticRules.h"
#include "cwm/Support/Nesting.h"
#include "cwm/TransformExt/ParallelLoops.h"
#include "cwm/TransformExt/Recorder.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/TransformOps/BufferizationTransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/IR/Utils.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace llvm;

namespace cwm {

namespace {

/// Places in the bound script are told from those in the payload.
constexpr StringLiteral scriptName = "script";

/// Keeps the first error that is emitted while it lives, as one line.
class FirstError {
public:
  explicit FirstError(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (message.empty() &&
              diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
            keep(diagnostic);
          return mlir::success();
        }) {}

  std::string take(StringRef fallback) {
    return message.empty() ? fallback.str() : message;
  }

private:
  /// First line, cut: types of large IR make endless ones.
  static std::string getLine(const mlir::Diagnostic &diagnostic,
                             size_t maxLength) {
    std::string text = diagnostic.str();
    return StringRef(text)
        .take_until([](char c) { return c == '\n'; })
        .take_front(maxLength)
        .str();
  }

  void keep(mlir::Diagnostic &diagnostic) {
    raw_string_ostream out(message);
    if (auto place =
            diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>())
      out << (place.getFilename() == scriptName ? scriptName + ":" : "")
          << place.getLine() << ":" << place.getColumn() << ": ";
    out << getLine(diagnostic, 300);
    if (!diagnostic.getNotes().empty())
      out << "; note: " << getLine(*diagnostic.getNotes().begin(), 160);
  }

  std::string message;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace

static void fail(TrialResult &result, TrialStatus status, std::string reason) {
  result.status = status;
  result.reason = std::move(reason);
}

/// Bufferisation turns what iterations of a parallel loop insert into memory
/// that all threads write: the check comes before each op that may do it.
static void insertParallelChecks(mlir::ModuleOp library) {
  SmallVector<mlir::Operation *> bufferising;
  library->walk([&](mlir::Operation *op) {
    if (isa<mlir::transform::OneShotBufferizeOp,
            mlir::transform::ApplyRegisteredPassOp>(op))
      bufferising.push_back(op);
  });
  for (mlir::Operation *op : bufferising) {
    mlir::OpBuilder builder(op);
    CheckParallelLoopsOp::create(builder, op->getLoc());
  }
}

/// Interprets `entry`, and records that where `trajectory` is not null.
static mlir::LogicalResult
applyEntry(mlir::ModuleOp module, mlir::transform::TransformOpInterface entry,
           mlir::ModuleOp library, Trajectory *trajectory) {
  if (trajectory) {
    RecorderOptions recording;
    recording.endsStates = isLoweringAction;
    return recordNamedSequence(module, entry, library, recording, *trajectory);
  }
  // Expensive checks cost nothing measurable and turn the use of dangling
  // handles into errors.
  mlir::transform::TransformOptions options;
  options.enableExpensiveChecks(true);
  return mlir::transform::applyTransformNamedSequence(module, entry, library,
                                                      options);
}

/// Parses, checks and interprets the script. Sets the result on failure.
static mlir::LogicalResult transform(mlir::ModuleOp module, StringRef entryName,
                                     StringRef script,
                                     const CompileOptions &options,
                                     TrialResult &result,
                                     Trajectory *trajectory = nullptr) {
  mlir::MLIRContext *context = module.getContext();
  FirstError error(context);
  auto failWith = [&](TrialStatus status, const std::string &reason) {
    fail(result, status, reason);
    return mlir::failure();
  };
  if (std::optional<TextPlace> place = findDeepNesting(script))
    return failWith(
        TrialStatus::TransformError,
        "the script does not parse: " + std::to_string(place->line) + ":" +
            std::to_string(place->column) + ": " + describeNestingRule());
  mlir::OwningOpRef<mlir::ModuleOp> library =
      mlir::parseSourceString<mlir::ModuleOp>(
          script, mlir::ParserConfig(context), scriptName);
  if (!library)
    return failWith(TrialStatus::TransformError,
                    "the script does not parse: " + error.take("no reason"));
  if (options.staticRules)
    if (std::optional<std::string> violation = findRuleViolation(*library))
      return failWith(TrialStatus::Invalid, *violation);
  if (options.lowering.threads > 1)
    insertParallelChecks(*library);
  mlir::transform::TransformOpInterface entry =
      mlir::transform::detail::findTransformEntryPoint(module, *library);
  if (!entry)
    return failWith(TrialStatus::TransformError,
                    error.take("the script has no entry point"));
  if (mlir::failed(applyEntry(module, entry, *library, trajectory))) {
    std::string reason = error.take("the script failed without an error");
    return failWith(StringRef(reason).contains(sharedElementsRule)
                        ? TrialStatus::Invalid
                        : TrialStatus::TransformError,
                    reason);
  }
  // The interpreter verifies nothing by itself.
  if (mlir::failed(mlir::verify(module)))
    return failWith(TrialStatus::TransformError,
                    "the script made invalid IR: " + error.take("no reason"));
  if (options.lowering.threads > 1)
    if (auto found = findSharedElementsWithin(module))
      return failWith(TrialStatus::Invalid, found->second);
  // Who compiles the result calls it by its name.
  auto kernel = module.lookupSymbol<mlir::func::FuncOp>(entryName);
  StringRef problem = !kernel               ? "is gone"
                      : kernel.isExternal() ? "has no body"
                      : !kernel.isPublic()  ? "is private"
                                            : "";
  if (!problem.empty())
    return failWith(TrialStatus::TransformError,
                    ("after the script @" + entryName + " " + problem +
                     ": it must stay a public function with a body")
                        .str());
  return mlir::success();
}

static mlir::LogicalResult lower(mlir::ModuleOp module,
                                 const CompileOptions &options,
                                 TrialResult &result) {
  FirstError error(module.getContext());
  mlir::PassManager manager(module.getContext());
  // The input was verified and the output is: verifying after each pass would
  // take 30 % of lowering.
  manager.enableVerifier(false);
  buildCPULowering(manager, options.lowering);
  if (mlir::succeeded(manager.run(module)) &&
      mlir::succeeded(mlir::verify(module)))
    return mlir::success();
  fail(result, TrialStatus::LowerError,
       error.take("lowering failed without an error"));
  return mlir::failure();
}

/// Runs the stages until one fails and has set the result.
static void compile(const Payload &payload, StringRef script,
                    const HardwareDescription &hardware,
                    const CompileOptions &options, StageFn onStage,
                    SmallVectorImpl<char> &object, TrialResult &result) {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  {
    onStage("transforming");
    StageTimer timer(result.transformMs);
    module = payload.getModule().clone();
    // A result does this itself: it must be right without our help.
    StringRef mark =
        mlir::bufferization::BufferizationDialect::kWritableAttrName;
    if (!script.contains(mark))
      markInputsReadOnly(*module);
    if (mlir::failed(transform(*module, payload.getEntry().getName(), script,
                               options, result)))
      return;
  }
  {
    onStage("lowering");
    StageTimer timer(result.lowerMs);
    if (mlir::failed(lower(*module, options, result)))
      return;
  }
  {
    onStage("compiling");
    StageTimer timer(result.compileMs);
    FirstError error(module->getContext());
    mlir::func::FuncOp entry = payload.getEntry();
    Expected<SmallVector<char, 0>> code =
        compileToObject(*module, entry.getName(), hardware);
    if (!code) {
      std::string message = toString(code.takeError());
      fail(result, TrialStatus::LowerError, error.take(message));
      return;
    }
    object.assign(code->begin(), code->end());
  }
  if (Expected<int64_t> bytes = getCodeBytes({object.data(), object.size()}))
    result.codeBytes = *bytes;
  else
    consumeError(bytes.takeError());
  result.status = TrialStatus::Ok;
}

TrialResult compileCandidate(const Payload &payload, StringRef script,
                             const HardwareDescription &hardware,
                             const CompileOptions &options, StageFn onStage,
                             SmallVectorImpl<char> &object) {
  TrialResult result;
  compile(payload, script, hardware, options, onStage, object, result);
  return result;
}

TrialResult recordCandidate(const Payload &payload, StringRef script,
                            const CompileOptions &options, StageFn onStage,
                            History &history) {
  TrialResult result;
  onStage("recording");
  // As the payload is: what it hashes to is its workload.
  mlir::OwningOpRef<mlir::ModuleOp> module = payload.getModule().clone();
  Trajectory trajectory;
  StageTimer timer(result.transformMs);
  if (mlir::failed(transform(*module, payload.getEntry().getName(), script,
                             options, result, &trajectory)))
    return result;
  history = makeHistory(std::move(trajectory));
  result.status = TrialStatus::Ok;
  return result;
}

} // namespace cwm
