//===- Registration.cpp - Registers the passes of cwm -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

namespace cwm {
#define GEN_PASS_REGISTRATION
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

void cwm::registerPasses() { registerCwmGeneratedPasses(); }
