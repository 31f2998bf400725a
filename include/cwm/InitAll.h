//===- InitAll.h - Registration of everything cwm adds to MLIR --*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_INITALL_H
#define CWM_INITALL_H

#include "cwm/Dialect/Cwm/CwmDialect.h"
#include "cwm/Passes/Passes.h"
#include "cwm/Target/CPU/Lowering.h"
#include "cwm/TransformExt/PatternOps.h"

namespace cwm {

/// Adds cwm's dialect and transform extension to `registry`.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<CwmDialect>();
  registerTransformExtension(registry);
}

/// Everything that tools which load payloads and schedules register: all of
/// upstream's dialects and extensions, and cwm's. Filled on the first call.
const mlir::DialectRegistry &getAllDialects();

/// Registers cwm's passes and pass pipelines, once per process.
inline void registerAllPasses() {
  registerPasses();
  registerCPULoweringPipeline();
}

} // namespace cwm

#endif // CWM_INITALL_H
