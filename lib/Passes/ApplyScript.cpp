//===- ApplyScript.cpp - A bound script on a payload ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ApplyScript.h"

#include "cwm/Passes/Passes.h"

#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"

using namespace mlir;

LogicalResult cwm::applyScript(ModuleOp payload, ModuleOp script) {
  markInputsReadOnly(payload);
  auto entry = transform::detail::findTransformEntryPoint(script, ModuleOp());
  if (!entry)
    return failure();
  return transform::applyTransformNamedSequence(
      payload, entry, ModuleOp(),
      transform::TransformOptions().enableExpensiveChecks(false));
}

void cwm::replaceByScript(ModuleOp payload, ModuleOp script) {
  payload->setAttrs(script->getAttrDictionary());
  payload.getBodyRegion().takeBody(script.getBodyRegion());
}
