//===- ResultFile.h - best.mlir: a stock transform library ---- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TUNE_RESULTFILE_H
#define CWM_TUNE_RESULTFILE_H

#include "cwm/Payload/Payload.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>

namespace cwm {

/// What the header comment of a result says beside the schedule.
struct ResultInfo {
  std::string payloadFile, outputFile; ///< as the user gave them
  std::string appliedFile; ///< the payload alone in a file, for the command
  std::string toolchain, target, candidate;
  double timeNs = 0, baselineTimeNs = 0, speedup = 1;
  std::string loweringPipeline;
  /// Of the kernel.
  int64_t threads = 1; ///< upstream passes only
  /// What the times were measured with: that pipeline, or cwm-lower-to-cpu.
  bool measuredWithStock = false;
  /// What is to be said of that pipeline where the times are not its own.
  std::string stockOutcome;
  std::string plugin; ///< file, for the command; where it is needed
};

/// Text of a transform library that holds `boundScript` behind guards: steps
/// made of upstream ops that fail, saying what the schedule was made for, when
/// the module it is applied to does not have the structure of `payload`. The
/// text starts with a header comment and parses with upstream dialects only,
/// unless the script itself uses ops of cwm. Fails with a diagnostic when the
/// script has no entry sequence.
mlir::FailureOr<std::string> renderResult(mlir::ModuleOp boundScript,
                                          const Payload &payload,
                                          const ResultInfo &info);

/// The guards alone: lines of transform IR on the handle `root` of type
/// `rootType`, without a trailing newline each.
std::vector<std::string> renderGuards(const Payload &payload,
                                      llvm::StringRef root,
                                      llvm::StringRef rootType);

/// First op of `script` that stock mlir-opt does not know; null when it applies
/// without cwm's plugin.
mlir::Operation *findNonStockOp(mlir::ModuleOp script);

/// What `op`, found by findNonStockOp, uses: "the op ..." or "the pass ...".
std::string describeNonStockOp(mlir::Operation *op);

/// True where `script` vectorises and `payload` has tensors of i1: upstream's
/// lowering stores a vector of i1 as bits, which are bytes everywhere else, so
/// without cwm's passes such a result is wrong or right by chance.
bool hasBooleanVectors(mlir::ModuleOp script, const Payload &payload);

/// Whose result a file is, as its header says.
struct ResultOwner {
  std::string workload; ///< its hash
  std::string payload;  ///< "in.mlir, @matmul"
};

/// The owner in the header of a result of cwm; nullopt when `text` is no such
/// file.
std::optional<ResultOwner> getResultOwner(llvm::StringRef text);

} // namespace cwm

#endif // CWM_TUNE_RESULTFILE_H
