//===- ReadOnlyInputs.cpp - Inputs stay as they are -------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace cwm {
#define GEN_PASS_DEF_READONLYINPUTS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

void cwm::markInputsReadOnly(ModuleOp module) {
  StringRef name = bufferization::BufferizationDialect::kWritableAttrName;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    for (BlockArgument argument : function.getArguments()) {
      unsigned index = argument.getArgNumber();
      if (isa<TensorType>(argument.getType()) &&
          !function.getArgAttr(index, name))
        function.setArgAttr(index, name,
                            BoolAttr::get(module.getContext(), false));
    }
  }
}

namespace {
struct ReadOnlyInputs : cwm::impl::ReadOnlyInputsBase<ReadOnlyInputs> {
  void runOnOperation() override { cwm::markInputsReadOnly(getOperation()); }
};
} // namespace
