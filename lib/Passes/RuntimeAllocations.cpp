//===- RuntimeAllocations.cpp - Alignment is the allocator's ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace cwm {
#define GEN_PASS_DEF_RUNTIMEALLOCATIONS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

/// What cwm_alloc guarantees (runtime/cwm_runtime.h).
static constexpr uint64_t runtimeAlignment = 64;

namespace {
struct RuntimeAllocations
    : cwm::impl::RuntimeAllocationsBase<RuntimeAllocations> {
  void runOnOperation() override {
    getOperation()->walk([](memref::AllocOp op) {
      if (op.getAlignment().value_or(0) <= runtimeAlignment)
        op.removeAlignmentAttr();
    });
  }
};
} // namespace
