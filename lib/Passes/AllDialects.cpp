//===- AllDialects.cpp - The registry of tools ------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/InitAll.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"

const mlir::DialectRegistry &cwm::getAllDialects() {
  static const mlir::DialectRegistry registry = [] {
    mlir::DialectRegistry all;
    mlir::registerAllDialects(all);
    mlir::registerAllExtensions(all);
    cwm::registerAllDialects(all);
    return all;
  }();
  return registry;
}
