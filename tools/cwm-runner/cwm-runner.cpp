//===- cwm-runner.cpp - Worker of cwm-tune ----------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/InitAll.h"
#include "cwm/Runner/RunnerMain.h"
#include "cwm/Target/CPU/Lowering.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

int main(int argc, char **argv) {
  // Schedules may apply any registered pass.
  mlir::registerAllPasses();
  cwm::registerAllPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  cwm::registerAllDialects(registry);
  cwm::registerCPUTranslations(registry);
  return cwm::runnerMain(argc, argv, registry);
}
