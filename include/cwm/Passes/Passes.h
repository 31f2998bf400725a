//===- Passes.h - Passes of cwm ---------------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_PASSES_PASSES_H
#define CWM_PASSES_PASSES_H

#include "cwm/TransformExt/Recorder.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace cwm {

/// How `cwm-record` writes a trajectory; `Auto` goes by the file's name.
enum class TrajectoryFormat { Auto, JSONLines, MLIR };

#define GEN_PASS_DECL
#include "cwm/Passes/Passes.h.inc"

/// Forbids bufferization to compute in the inputs of every function of
/// `module` (pass cwm-read-only-inputs). cwm-lower-to-cpu does so itself; call
/// it before a schedule that bufferises is interpreted.
void markInputsReadOnly(mlir::ModuleOp module);

/// Registers all passes and pipelines of cwm; call it once per process.
void registerPasses();

} // namespace cwm

#endif // CWM_PASSES_PASSES_H
