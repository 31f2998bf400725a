//===- ResultsToOutParams.cpp - Plain buffers at the boundary ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace cwm {
#define GEN_PASS_DEF_RESULTSTOOUTPARAMS
#include "cwm/Passes/Passes.h.inc"
} // namespace cwm

using namespace mlir;

static MemRefType getPlainType(MemRefType type) {
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// Strided arguments become plain; the body sees a cast.
static LogicalResult plainArguments(func::FuncOp function) {
  OpBuilder builder(function.getBody());
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || type.getLayout().isIdentity())
      continue;
    if (!type.hasStaticShape() ||
        !memref::CastOp::areCastCompatible(getPlainType(type), type)) {
      return emitError(argument.getLoc())
             << "argument #" << argument.getArgNumber() << " of @"
             << function.getName() << " has type " << type
             << ": callers pass plain buffers";
    }
    argument.setType(getPlainType(type));
    auto cast =
        memref::CastOp::create(builder, argument.getLoc(), type, argument);
    argument.replaceAllUsesExcept(cast, cast);
  }
  return success();
}

/// The allocation behind `value` when it holds the same elements in the same
/// order and lives as long as the function.
static memref::AllocOp getWholeAllocation(Value value, Block *entry) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      MemRefType type = alloc.getType();
      bool isWhole = type.hasStaticShape() && type.getLayout().isIdentity() &&
                     !type.getMemorySpace() && op->getBlock() == entry;
      return isWhole ? alloc : memref::AllocOp();
    }
    if (!isa<memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(
            op))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

/// Computes `result` in `parameter`.
static void writeResult(func::ReturnOp op, Value result,
                        BlockArgument parameter, Block *entry) {
  memref::AllocOp alloc = getWholeAllocation(result, entry);
  if (!alloc) {
    OpBuilder builder(op);
    memref::CopyOp::create(builder, op.getLoc(), result, parameter);
    return;
  }
  Value target = parameter;
  MemRefType type = alloc.getType();
  if (target.getType() != type) {
    OpBuilder builder(alloc);
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    [[maybe_unused]] LogicalResult isStrided =
        type.getStridesAndOffset(strides, offset);
    assert(succeeded(isStrided) && "identity layouts are strided");
    target =
        memref::ReinterpretCastOp::create(builder, alloc.getLoc(), type, target,
                                          offset, type.getShape(), strides);
  }
  alloc.replaceAllUsesWith(target);
  alloc.erase();
}

static LogicalResult moveResults(func::FuncOp function) {
  SmallVector<MemRefType> types;
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref || !memref.hasStaticShape()) {
      return function.emitOpError()
             << "@" << function.getName() << ": result #" << index
             << " of type " << type
             << " cannot become an out-parameter: it is not a buffer of static "
                "shape";
    }
    types.push_back(getPlainType(memref));
  }

  Block *entry = &function.getBody().front();
  unsigned first = function.getNumArguments();
  for (MemRefType type : types) {
    unsigned index = function.getNumArguments();
    if (failed(function.insertArgument(index, type, DictionaryAttr(),
                                       function.getLoc())))
      return failure();
  }
  // A second return could still read what the first one's buffers hold, but
  // returns end the function: each may compute in the parameters.
  function.walk([&](func::ReturnOp op) {
    for (unsigned i = 0; i < types.size(); ++i)
      writeResult(op, op.getOperand(i), function.getArgument(first + i), entry);
    op.getOperandsMutable().clear();
  });
  return function.eraseResults(llvm::BitVector(function.getNumResults(), true));
}

static bool changes(func::FuncOp function) {
  return !function.isExternal() &&
         (function.getNumResults() > 0 ||
          llvm::any_of(function.getArgumentTypes(), [](Type type) {
            auto memref = dyn_cast<MemRefType>(type);
            return memref && !memref.getLayout().isIdentity();
          }));
}

/// Callers would have to change with what they call.
static LogicalResult checkCalls(ModuleOp module) {
  SymbolTable symbols(module);
  WalkResult result = module.walk([&](Operation *op) {
    if (!isa<func::CallOp, func::ConstantOp>(op))
      return WalkResult::advance();
    auto callee = op->getAttrOfType<FlatSymbolRefAttr>(
        isa<func::CallOp>(op) ? "callee" : "value");
    auto function =
        symbols.lookup<func::FuncOp>(callee ? callee.getValue() : StringRef());
    if (!function || !changes(function))
      return WalkResult::advance();
    op->emitError() << "calls are not supported: @" << function.getName()
                    << " gets another signature; inline it first";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct ResultsToOutParams
    : cwm::impl::ResultsToOutParamsBase<ResultsToOutParams> {
  void runOnOperation() override {
    if (failed(checkCalls(getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      if (failed(plainArguments(function)) || failed(moveResults(function)))
        return signalPassFailure();
      // Arguments may have changed their type.
      function.setType(FunctionType::get(
          &getContext(), function.getBody().front().getArgumentTypes(),
          function.getResultTypes()));
    }
  }
};
} // namespace
