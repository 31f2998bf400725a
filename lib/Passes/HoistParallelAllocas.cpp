//===- HoistParallelAllocas.cpp - Stack memory of each thread ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"

namespace cwm {
#define GEN_PASS_DEF_HOISTPARALLELALLOCAS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

/// What was allocated in an iteration ends with it, so that the next one may
/// have the same memory.
static void hoistAllocas(omp::ParallelOp parallel) {
  Block &entry = parallel.getRegion().front();
  SmallVector<memref::AllocaOp> allocas;
  parallel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    // Threads of its own.
    if (op != parallel && isa<omp::ParallelOp>(op))
      return WalkResult::skip();
    if (auto alloca = dyn_cast<memref::AllocaOp>(op);
        alloca && alloca->getNumOperands() == 0)
      allocas.push_back(alloca);
    return WalkResult::advance();
  });
  for (memref::AllocaOp alloca : llvm::reverse(allocas))
    alloca->moveBefore(&entry, entry.begin());
}

/// The same for heap memory of static size that the loop's body allocates and
/// frees: taking it from the pool costs as much as a row of a small matrix.
static void hoistAllocs(omp::ParallelOp parallel) {
  Block &entry = parallel.getRegion().front();
  SmallVector<std::pair<memref::AllocOp, memref::DeallocOp>> pairs;
  parallel.walk([&](omp::LoopNestOp loop) {
    if (loop->getParentOfType<omp::ParallelOp>() != parallel)
      return;
    loop.walk([&](memref::AllocOp alloc) {
      bool inBody = alloc->getParentOp() == loop ||
                    isa<memref::AllocaScopeOp>(alloc->getParentOp());
      if (!inBody || alloc->getNumOperands() != 0)
        return;
      SmallVector<memref::DeallocOp> frees;
      for (Operation *user : alloc->getUsers())
        if (auto free = dyn_cast<memref::DeallocOp>(user))
          frees.push_back(free);
      if (frees.size() == 1 && frees.front()->getBlock() == alloc->getBlock())
        pairs.emplace_back(alloc, frees.front());
    });
  });
  for (auto [alloc, free] : pairs) {
    alloc->moveBefore(&entry, entry.begin());
    free->moveBefore(entry.getTerminator());
  }
}

static bool needsScope(memref::AllocaScopeOp scope) {
  if (scope->getNumResults() != 0)
    return true;
  WalkResult walk = scope.getBodyRegion().walk(
      [](memref::AllocaOp) { return WalkResult::interrupt(); });
  return walk.wasInterrupted();
}

static void inlineScope(memref::AllocaScopeOp scope) {
  Block &body = scope.getBodyRegion().front();
  body.getTerminator()->erase();
  scope->getBlock()->getOperations().splice(scope->getIterator(),
                                            body.getOperations());
  scope->erase();
}

namespace {
struct HoistParallelAllocas
    : cwm::impl::HoistParallelAllocasBase<HoistParallelAllocas> {
  void runOnOperation() override {
    getOperation()->walk([](omp::ParallelOp parallel) {
      hoistAllocas(parallel);
      hoistAllocs(parallel);
      SmallVector<memref::AllocaScopeOp> scopes;
      parallel.walk([&](memref::AllocaScopeOp scope) {
        if (!needsScope(scope))
          scopes.push_back(scope);
      });
      for (memref::AllocaScopeOp scope : scopes)
        inlineScope(scope);
    });
  }
};
} // namespace
