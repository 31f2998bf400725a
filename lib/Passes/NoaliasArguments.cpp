//===- NoaliasArguments.cpp - Arguments do not alias ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace cwm {
#define GEN_PASS_DEF_NOALIASARGUMENTS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

namespace {
struct NoaliasArguments : cwm::impl::NoaliasArgumentsBase<NoaliasArguments> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || !function.isPublic())
        continue;
      for (BlockArgument argument : function.getArguments()) {
        if (!isa<MemRefType>(argument.getType()))
          continue;
        function.setArgAttr(argument.getArgNumber(),
                            LLVM::LLVMDialect::getNoAliasAttrName(),
                            UnitAttr::get(&getContext()));
      }
    }
  }
};
} // namespace
