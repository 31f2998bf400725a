//===- Payload.cpp - The IR being optimised, checked ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Payload/Payload.h"

#include "Contract.h"
#include "cwm/Support/ParseModule.h"
#include "cwm/Trajectory/StateText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CastInterfaces.h"

using namespace mlir;

int64_t cwm::TensorSpec::getNumElements() const {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  return elements;
}

int64_t cwm::TensorSpec::getElementBytes() const {
  unsigned bits = 0;
  [[maybe_unused]] bool failed =
      StringRef(elementType).ltrim("bfi").getAsInteger(10, bits);
  assert(!failed && "element types are spelled <letters><bits>");
  return std::max(1U, bits / 8);
}

double cwm::Payload::getBytes() const {
  double bytes = 0;
  for (const TensorSpec &spec : inputs)
    bytes += static_cast<double>(spec.getNumBytes());
  for (const TensorSpec &spec : results)
    bytes += static_cast<double>(spec.getNumBytes());
  return bytes;
}

/// Arithmetic that one operation of a linalg body stands for.
static int64_t countArithmetic(Operation &op) {
  if (!isa<arith::ArithDialect, math::MathDialect>(op.getDialect()) ||
      op.hasTrait<OpTrait::ConstantLike>() ||
      isa<CastOpInterface, arith::SelectOp>(op))
    return 0;
  // Address arithmetic is not the payload's work.
  if (isa<IndexType>(op.getOperand(0).getType()))
    return 0;
  return isa<math::FmaOp>(op) ? 2 : 1;
}

/// Operations of one run of `op`.
static double countFlops(linalg::LinalgOp op) {
  int64_t perIteration = 0;
  for (Operation &nested : *op.getBlock())
    perIteration += countArithmetic(nested);
  double iterations = 1;
  for (int64_t range : op.getStaticLoopRanges())
    iterations *= static_cast<double>(range);
  return iterations * static_cast<double>(perIteration);
}

/// What of the arguments is not constant and what is computed from it.
static llvm::DenseSet<Value> findVariables(func::FuncOp entry,
                                           ArrayRef<cwm::TensorSpec> inputs) {
  llvm::DenseSet<Value> variables;
  for (const auto &[argument, input] :
       llvm::zip_equal(entry.getArguments(), inputs))
    if (!input.isConstant)
      variables.insert(argument);
  for (Operation &op : entry.getBody().front()) {
    WalkResult found = op.walk([&](Operation *nested) {
      return llvm::any_of(
                 nested->getOperands(),
                 [&](Value operand) { return variables.contains(operand); })
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (found.wasInterrupted())
      variables.insert_range(op.getResults());
  }
  return variables;
}

FailureOr<cwm::Payload> cwm::Payload::create(OwningOpRef<ModuleOp> module,
                                             StringRef functionName) {
  FailureOr<func::FuncOp> entry = findEntry(*module, functionName);
  if (failed(entry))
    return failure();

  // Calls are refused, so the other functions cannot matter to the entry, but
  // a schedule that matches ops in the module must not see them.
  for (auto function :
       llvm::make_early_inc_range(module->getOps<func::FuncOp>()))
    if (function != *entry)
      function.erase();
  (*entry).setPublic();

  Payload payload;
  if (failed(checkSignature(*entry, payload.inputs, payload.results)) ||
      failed(checkOperations(*module, *entry)) ||
      failed(inlineResources(*module)) || failed(checkDefined(*entry)) ||
      failed(checkIndices(*entry, payload.inputs)))
    return failure();
  llvm::DenseSet<Value> variables = findVariables(*entry, payload.inputs);
  (*entry).walk([&](linalg::LinalgOp op) {
    double flops = countFlops(op);
    payload.flops += flops;
    if (llvm::any_of(op->getResults(),
                     [&](Value result) { return variables.contains(result); }))
      payload.variableFlops += flops;
  });
  payload.stateText = cwm::getStateText(*module);
  payload.workloadHash = hashText(payload.stateText);
  payload.entry = *entry;
  payload.module = std::move(module);
  return payload;
}

FailureOr<cwm::Payload> cwm::loadPayload(StringRef path, StringRef functionName,
                                         MLIRContext *context) {
  context->loadDialect<func::FuncDialect, linalg::LinalgDialect,
                       tensor::TensorDialect, arith::ArithDialect,
                       math::MathDialect>();
  OwningOpRef<ModuleOp> module = parseModuleFile(path, context);
  if (!module)
    return failure();
  return Payload::create(std::move(module), functionName);
}
