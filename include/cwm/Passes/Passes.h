//===- Passes.h - Passes of cwm ---------------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_PASSES_PASSES_H
#define CWM_PASSES_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace cwm {

#define GEN_PASS_DECL
#include "cwm/Passes/Passes.h.inc"

/// Registers all passes and pipelines of cwm; call it once per process.
void registerPasses();

} // namespace cwm

#endif // CWM_PASSES_PASSES_H
