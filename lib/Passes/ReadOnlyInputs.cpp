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

namespace cwm {
#define GEN_PASS_DEF_READONLYINPUTS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

namespace {
struct ReadOnlyInputs : cwm::impl::ReadOnlyInputsBase<ReadOnlyInputs> {
  void runOnOperation() override {
    StringRef name = bufferization::BufferizationDialect::kWritableAttrName;
    Attribute no = BoolAttr::get(&getContext(), false);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      for (BlockArgument argument : function.getArguments()) {
        unsigned index = argument.getArgNumber();
        if (isa<TensorType>(argument.getType()) &&
            !function.getArgAttr(index, name))
          function.setArgAttr(index, name, no);
      }
    }
  }
};
} // namespace
