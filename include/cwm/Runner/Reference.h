//===- Reference.h - What a payload should compute --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_REFERENCE_H
#define CWM_RUNNER_REFERENCE_H

#include "cwm/Payload/Payload.h"
#include "cwm/Runner/NumericCheck.h"
#include "cwm/Target/CPU/Hardware.h"

namespace cwm {

/// Expected results of a payload for the inputs of one seed.
struct Reference {
  /// Of the inputs.
  InputStyle style = InputStyle::Uniform;
  std::vector<ReferenceTensor> results;
};

/// The payload in double precision (all narrower floats become f64), made for
/// speed of execution without any schedule: each linalg op becomes one loop
/// nest whose innermost loop runs along contiguous memory. Upstream passes
/// only, and none of those that lower candidates where that can be helped: a
/// bug shared by both would go unnoticed. A payload that cannot be converted
/// (it reinterprets bits of floats) keeps its types.
/// With `widen` off all payloads keep their types, and sums their order.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
buildReferenceModule(const Payload &payload, bool &inDoublePrecision,
                     bool widen = true);

/// Bufferises a module of buildReferenceModule.
mlir::LogicalResult bufferizeReference(mlir::ModuleOp module);

/// Lowers a module of bufferizeReference to the LLVM dialect.
mlir::LogicalResult lowerReference(mlir::ModuleOp module);

/// Called when the payload, compiled, is about to run.
using EvaluationFn = llvm::function_ref<void()>;

/// Compiles and runs the reference in this process (which it may crash): call
/// it in a worker. When a result holds NaN, tries again with nonnegative
/// inputs; an error when that does not help, or when the payload does not fit
/// into memory. When a result of i1 has the same value everywhere, takes uneven
/// inputs if these give both: a check of it should be able to fail.
llvm::Expected<Reference> computeReference(const Payload &payload,
                                           const HardwareDescription &hardware,
                                           uint64_t seed,
                                           EvaluationFn onRun = nullptr);

/// The same through a file in `cacheFolder`, keyed by workload and seed. A file
/// that is damaged or does not fit is computed again; an empty folder name
/// means no cache.
llvm::Expected<Reference> getReference(const Payload &payload,
                                       const HardwareDescription &hardware,
                                       uint64_t seed,
                                       llvm::StringRef cacheFolder,
                                       EvaluationFn onRun = nullptr);

/// How far each result is off when the payload is evaluated
/// as it is written: in its own precision, by plain loops and libm.
llvm::Expected<std::vector<Deviation>>
computeOwnErrors(const Payload &payload, const HardwareDescription &hardware,
                 uint64_t seed, const Reference &reference);

/// The same through a file in `cacheFolder`, as getReference.
llvm::Expected<std::vector<Deviation>>
getOwnErrors(const Payload &payload, const HardwareDescription &hardware,
             uint64_t seed, const Reference &reference,
             llvm::StringRef cacheFolder);

} // namespace cwm

#endif // CWM_RUNNER_REFERENCE_H
