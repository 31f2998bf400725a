//===- CwmDialect.cpp - The cwm dialect -------------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Dialect/Cwm/CwmDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "cwm/Dialect/Cwm/CwmDialect.cpp.inc"
#include "cwm/Dialect/Cwm/CwmEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "cwm/Dialect/Cwm/CwmAttrs.cpp.inc"

using namespace mlir;

void cwm::CwmDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "cwm/Dialect/Cwm/CwmAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "cwm/Dialect/Cwm/CwmOps.cpp.inc"
      >();
}

LogicalResult
cwm::CandidateAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                           StringRef space, DictionaryAttr assignment) {
  if (space.empty())
    return emitError() << "expected a candidate to name its space";
  return success();
}
